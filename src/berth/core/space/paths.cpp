// What paths take (paper 002, card 1.6): L = N + T of the links + P of the operators.
//
// Delays come gathered: a network may be too large for a matrix. One that is NaN (no link) counts as endless.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>

#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

// The nodes of a network, as far as paths need them.
class PathHosts {
  public:
    PathHosts(const Vector<double>& speed, const Vector<double>& card) : speed_(copied(speed)), card_(copied(card)) {}

    // N + T of a link: the delay and, with loads, what its sender's card takes; nothing within a host.
    double hop_ms(double delay, double unit_bytes, Number sender, Number receiver, bool loaded) const {
        if (sender == receiver) return 0.0;
        if (loaded && std::isfinite(card_[sender])) delay += 1000.0 * unit_bytes / card_[sender];
        return std::isnan(delay) ? std::numeric_limits<double>::infinity() : delay;
    }

    // P of an operator: its work at the host's speed and, with loads, as often as others are in the queue.
    double stay_ms(double work, Number host, double queue, bool loaded) const {
        return loaded ? work / speed_[host] * std::max(1.0, queue) : work / speed_[host];
    }

  private:
    std::vector<double> speed_;
    std::vector<double> card_;
};

// One application's instances, numbered from its first: instance i sends pairs offsets[i] to offsets[i + 1], in the
// order of their receivers.
class ApplicationPaths {
  public:
    ApplicationPaths(const Vector<Number>& offsets, const Vector<Number>& receivers, const Vector<Number>& order,
                     const Vector<Number>& sources, const Vector<double>& unit_bytes)
        : offsets_(copied(offsets)),
          receivers_(copied(receivers)),
          order_(copied(order)),
          sources_(copied(sources)),
          unit_bytes_(copied(unit_bytes)) {}

    // The path that takes longest: its latency, its instances, its pairs; ties: the first in order.
    auto longest(const PathHosts& hosts, const Vector<Number>& nodes, const Vector<double>& delays,
                 const Vector<double>& work, const Vector<double>& queue, bool loaded) const {
        const auto host = view(nodes);
        std::vector<double> tail(order_.size());
        std::vector<Number> following(order_.size(), -1);
        for (const Number here : order_) {
            double most = 0.0;
            for (Number pair = offsets_[here]; pair < offsets_[here + 1]; ++pair) {
                const Number there = receivers_[pair];
                const double hop =
                    hosts.hop_ms(delays.data()[pair], unit_bytes_[pair], host[here], host[there], loaded);
                if (following[here] < 0 || hop + tail[there] > most) {
                    following[here] = pair;
                    most = hop + tail[there];
                }
            }
            tail[here] = most + hosts.stay_ms(work.data()[here], host[here], queue.data()[host[here]], loaded);
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
    std::vector<double> unit_bytes_;
};

// A path with its instances on hosts; `moved` tells which of these may go elsewhere, together.
class HostedPath {
  public:
    HostedPath(const PathHosts& hosts, const Vector<Number>& nodes, const Vector<bool>& moved,
               const Vector<double>& work, const Vector<double>& unit_bytes, const Vector<double>& delays, bool loaded)
        : hosts_(hosts),
          nodes_(copied(nodes)),
          moved_(moved.data(), moved.data() + moved.size()),
          work_(copied(work)),
          unit_bytes_(copied(unit_bytes)),
          delays_(copied(delays)),
          loaded_(loaded) {}

    // N + T of the links between two of its positions, and P of those between that may move.
    double costs_ms(std::size_t first, std::size_t last, const Vector<double>& queue) const {
        double total = 0.0;
        for (std::size_t i = first; i <= last; ++i) {
            if (moved_[i]) total += hosts_.stay_ms(work_[i], nodes_[i], queue.data()[nodes_[i]], loaded_);
            if (i < last) total += hosts_.hop_ms(delays_[i], unit_bytes_[i], nodes_[i], nodes_[i + 1], loaded_);
        }
        return total;
    }

    // What it would take with the moved instances on each of some hosts instead of `here`. They are `size` in all, on
    // this path or not; both queues change by that. delays_elsewhere[i, j] is of link i with one end on hosts[j].
    NumpyVector<double> elsewhere(const Vector<Number>& hosts, Number here, double size,
                                  const Matrix<double>& delays_elsewhere, const Vector<double>& queue) const {
        const Rows<const double> elsewhere(delays_elsewhere);
        std::vector<double> found;
        for (std::size_t j = 0; j < hosts.size(); ++j) {
            const Number host = hosts.data()[j];
            double total = 0.0;
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                const Number place = moved_[i] ? host : nodes_[i];
                double waiting = queue.data()[place];
                if (host != here && place == host) {
                    waiting += size;
                } else if (host != here && place == here) {
                    waiting -= size;
                }
                total += hosts_.stay_ms(work_[i], place, waiting, loaded_);
                if (i + 1 == nodes_.size()) break;
                const Number following = moved_[i + 1] ? host : nodes_[i + 1];
                const double delay = moved_[i] != moved_[i + 1] ? elsewhere[i][j] : delays_[i];
                total += hosts_.hop_ms(delay, unit_bytes_[i], place, following, loaded_);
            }
            found.push_back(total);
        }
        return to_numpy(std::move(found));
    }

  private:
    const PathHosts& hosts_;
    std::vector<Number> nodes_;
    std::vector<char> moved_;
    std::vector<double> work_, unit_bytes_, delays_;
    bool loaded_;
};

void bind_paths(nb::module_& module) {
    nb::class_<PathHosts>(module, "PathHosts")
        .def(nb::init<const Vector<double>&, const Vector<double>&>(), "speed"_a, "card"_a);
    nb::class_<ApplicationPaths>(module, "ApplicationPaths")
        .def(nb::init<const Vector<Number>&, const Vector<Number>&, const Vector<Number>&, const Vector<Number>&,
                      const Vector<double>&>(),
             "offsets"_a, "receivers"_a, "order"_a, "sources"_a, "unit_bytes"_a)
        .def("longest", &ApplicationPaths::longest, "hosts"_a, nb::kw_only(), "nodes"_a, "delays"_a, "work"_a,
             "queue"_a, "loaded"_a);
    nb::class_<HostedPath>(module, "HostedPath")
        .def(nb::init<const PathHosts&, const Vector<Number>&, const Vector<bool>&, const Vector<double>&,
                      const Vector<double>&, const Vector<double>&, bool>(),
             nb::keep_alive<1, 2>(), "hosts"_a, nb::kw_only(), "nodes"_a, "moved"_a, "work"_a, "unit_bytes"_a,
             "delays"_a, "loaded"_a)
        .def("costs_ms", &HostedPath::costs_ms, "first"_a, "last"_a, "queue"_a)
        .def("elsewhere", &HostedPath::elsewhere, "hosts"_a, "here"_a, "size"_a, "delays_elsewhere"_a, "queue"_a);
}

}  // namespace berth::space
