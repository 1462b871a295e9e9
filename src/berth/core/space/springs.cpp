// Springs between units (SBON, card 1.5): every stream pulls with its rate x the distance.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "streams.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

// Brings units with a choice that pull at each other to the middle of the held ones that pull at them. Returns the
// group of each such unit, named by its smallest one; -1 for others, and where nothing held pulls.
NumpyVector<Number> to_the_middle(const Streams& streams, const Vector<double>& weights, const Vector<bool>& held,
                                  const Vector<bool>& choosing, const MutableMatrix<double>& places) {
    const MutablePlaces positions(places);
    std::vector<Number> group(streams.size(), -1), seen_by(streams.size(), -1);
    std::vector<Number> members;
    std::vector<double> middle(positions.width());
    for (Number first = 0; first < static_cast<Number>(streams.size()); ++first) {
        if (!choosing.data()[first] || seen_by[first] >= 0) continue;
        std::ranges::fill(middle, 0.0);
        double pulling = 0.0;
        members.assign(1, first);
        seen_by[first] = first;
        for (std::size_t k = 0; k < members.size(); ++k) {
            for (const Number entry : streams.entries(members[k])) {
                const Number other = streams.neighbours[entry];
                if (weights.data()[entry] <= 0.0 || seen_by[other] == first) continue;
                seen_by[other] = first;
                if (choosing.data()[other]) {
                    members.push_back(other);
                } else if (held.data()[other]) {
                    pulling += 1.0;
                    for (std::size_t axis = 0; axis < middle.size(); ++axis) middle[axis] += positions[other][axis];
                }
            }
        }
        if (pulling == 0.0) continue;
        for (const Number unit : members) {
            group[unit] = first;
            for (std::size_t axis = 0; axis < middle.size(); ++axis) positions[unit][axis] = middle[axis] / pulling;
        }
    }
    return to_numpy(std::move(group));
}

// Brings units to where their springs are at rest, one after another, until none moves farther than the tolerance.
// Every moving unit has a stream that carries something. Returns the rounds.
std::size_t at_rest(const Streams& streams, const Vector<double>& weights, const Vector<Number>& moving,
                    const MutableMatrix<double>& places, double tolerance, std::size_t most_rounds) {
    const MutablePlaces positions(places);
    std::vector<double> rest(positions.width());
    for (std::size_t round = 1; round <= most_rounds; ++round) {
        double farthest = 0.0;
        for (const Number unit : view(moving)) {
            std::ranges::fill(rest, 0.0);
            double total = 0.0;
            for (const Number entry : streams.entries(unit)) {
                const double weight = weights.data()[entry];
                total += weight;
                const Place there = positions[streams.neighbours[entry]];
                for (std::size_t axis = 0; axis < rest.size(); ++axis) rest[axis] += weight * there[axis];
            }
            for (double& coordinate : rest) coordinate /= total;
            farthest = std::max(farthest, distance(rest, positions[unit]));
            std::ranges::copy(rest, positions[unit].begin());
        }
        if (farthest <= tolerance) return round;
    }
    return most_rounds;
}

// Springs pull all moving units at once until no force is above the threshold; forces are divided by the highest sum
// of rates of a moving unit, so they are in ms. All units go along their forces, and every one tells its free
// neighbours. Returns rounds (-1: the springs did not come to rest), messages, and the log.
auto relax(const Streams& streams, const Vector<double>& weights, const Vector<Number>& moving,
           const MutableMatrix<double>& places, const Vector<bool>& free, double pace, double threshold,
           Number most_rounds, std::size_t log_rows) {
    const MutablePlaces positions(places);
    std::vector<double> values(moving.size() * positions.width());
    const MutablePlaces forces(values.data(), moving.size(), positions.width());
    double highest_rates = 0.0;
    std::size_t told_in_a_round = 0;
    for (const Number unit : view(moving)) {
        double total = 0.0;
        for (const Number entry : streams.entries(unit)) {
            total += weights.data()[entry];
            told_in_a_round += free.data()[streams.neighbours[entry]];
        }
        highest_rates = std::max(highest_rates, total);
    }
    Log log(log_rows, positions.width());
    for (Number rounds = 0; rounds <= most_rounds; ++rounds) {
        double strongest = 0.0;
        for (std::size_t k = 0; k < moving.size(); ++k) {
            const Place here = positions[moving.data()[k]];
            double square = 0.0;
            for (std::size_t axis = 0; axis < here.size(); ++axis) {
                double force = 0.0;
                for (const Number entry : streams.entries(moving.data()[k])) {
                    force += weights.data()[entry] * (positions[streams.neighbours[entry]][axis] - here[axis]);
                }
                forces[k][axis] = force / highest_rates;
                square += forces[k][axis] * forces[k][axis];
            }
            strongest = std::max(strongest, std::sqrt(square));
        }
        if (strongest <= threshold) return std::tuple(rounds, rounds * told_in_a_round, std::move(log).to_numpy());
        for (std::size_t k = 0; k < moving.size(); ++k) {
            const std::span<double> here = positions[moving.data()[k]];
            for (std::size_t axis = 0; axis < here.size(); ++axis) here[axis] += pace * forces[k][axis];
            log.add(moving.data()[k], here);
        }
    }
    return std::tuple(Number{-1}, std::size_t{0}, std::move(log).to_numpy());
}

}  // namespace

void bind_springs(nb::module_& module) {
    nb::class_<Streams>(module, "Streams")
        .def(nb::init<const Vector<Number>&, const Vector<Number>&, const Vector<double>&, const Vector<double>&,
                      const Vector<bool>&, const Vector<bool>&>(),
             "offsets"_a, "neighbours"_a, "forward"_a, "backward"_a, "sends"_a, "receives"_a);
    module.def(
        "usage",
        [](const Streams& streams, const Vector<double>& weights, const Matrix<double>& positions) {
            return usage(streams, view(weights), Places(positions));
        },
        "streams"_a, "weights"_a, "positions"_a);
    module.def("to_the_middle", &to_the_middle, "streams"_a, "weights"_a, "held"_a, "choosing"_a,
               "positions"_a.noconvert());
    module.def("at_rest", &at_rest, "streams"_a, "weights"_a, "moving"_a, "positions"_a.noconvert(), "tolerance"_a,
               "most_rounds"_a);
    module.def("relax", &relax, "streams"_a, "weights"_a, "moving"_a, "positions"_a.noconvert(), "free"_a,
               nb::kw_only(), "pace"_a, "threshold"_a, "most_rounds"_a, "log_rows"_a);
}

}  // namespace berth::space
