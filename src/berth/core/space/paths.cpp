// The path of an application that takes longest (paper 002, card 1.6).
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

// One application's instances, numbered from its first: instance i sends pairs offsets[i] to offsets[i + 1], in the
// order of their receivers.
class ApplicationPaths {
  public:
    ApplicationPaths(const Vector<Number>& offsets, const Vector<Number>& receivers, const Vector<Number>& order,
                     const Vector<Number>& sources)
        : offsets_(copied(offsets)), receivers_(copied(receivers)), order_(copied(order)), sources_(copied(sources)) {}

    // The path that takes longest, if every pair and every instance takes so long: its latency, its instances, its
    // pairs; ties: the first in order.
    auto longest(const Vector<double>& hops_ms, const Vector<double>& stays_ms) const {
        std::vector<double> tail(order_.size());
        std::vector<Number> following(order_.size(), -1);
        for (const Number here : order_) {
            double most = 0.0;
            for (Number pair = offsets_[here]; pair < offsets_[here + 1]; ++pair) {
                const double onward = hops_ms.data()[pair] + tail[receivers_[pair]];
                if (following[here] < 0 || onward > most) {
                    following[here] = pair;
                    most = onward;
                }
            }
            tail[here] = most + stays_ms.data()[here];
        }
        const Number first = *std::ranges::max_element(sources_, {}, [&](Number source) { return tail[source]; });
        std::vector<Number> instances{first}, pairs;
        while (following[instances.back()] >= 0) {
            pairs.push_back(following[instances.back()]);
            instances.push_back(receivers_[pairs.back()]);
        }
        return std::tuple(tail[first], to_numpy(std::move(instances)), to_numpy(std::move(pairs)));
    }

  private:
    std::vector<Number> offsets_, receivers_;
    std::vector<Number> order_;  // receivers before senders
    std::vector<Number> sources_;
};

void bind_paths(nb::module_& module) {
    nb::class_<ApplicationPaths>(module, "ApplicationPaths")
        .def(nb::init<const Vector<Number>&, const Vector<Number>&, const Vector<Number>&, const Vector<Number>&>(),
             "offsets"_a, "receivers"_a, "order"_a, "sources"_a)
        .def("longest", &ApplicationPaths::longest, "hops_ms"_a, "stays_ms"_a);
}

}  // namespace berth::space
