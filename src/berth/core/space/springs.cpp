// Springs between units (SBON, card 1.5): every stream pulls with its rate x the distance.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "streams.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

// Which units are connected to a held one by streams that carry something.
NumpyVector<bool> anchored(const Streams& streams, const Vector<double>& weights, const Vector<bool>& held) {
    std::vector<char> reached(held.data(), held.data() + held.size());
    std::vector<Number> waiting;
    for (std::size_t unit = 0; unit < reached.size(); ++unit) {
        if (reached[unit]) waiting.push_back(static_cast<Number>(unit));
    }
    while (!waiting.empty()) {
        const Number unit = waiting.back();
        waiting.pop_back();
        for (const Number entry : streams.entries(unit)) {
            const Number other = streams.neighbours[entry];
            if (weights.data()[entry] > 0.0 && !reached[other]) {
                reached[other] = true;
                waiting.push_back(other);
            }
        }
    }
    return to_numpy_flags(std::move(reached));
}

// Brings free units that pull at each other to the middle of the held ones that pull at them. What is not free holds
// its place: it passes no pull on. Returns the group of each free unit, named by its smallest one; -1 for others.
NumpyVector<Number> to_the_middle(const Streams& streams, const Vector<double>& weights, const Vector<bool>& free,
                                  const MutableMatrix<double>& places) {
    const MutablePlaces positions(places);
    std::vector<Number> group(streams.size(), -1), seen_by(streams.size(), -1);
    std::vector<Number> members;
    std::vector<double> middle(positions.width());
    for (Number first = 0; first < static_cast<Number>(streams.size()); ++first) {
        if (!free.data()[first] || group[first] >= 0) continue;
        std::ranges::fill(middle, 0.0);
        double held = 0.0;
        members.assign(1, first);
        group[first] = first;
        for (std::size_t k = 0; k < members.size(); ++k) {
            for (const Number entry : streams.entries(members[k])) {
                const Number other = streams.neighbours[entry];
                if (weights.data()[entry] <= 0.0 || seen_by[other] == first) continue;
                seen_by[other] = first;
                if (!free.data()[other]) {
                    held += 1.0;
                    for (std::size_t axis = 0; axis < middle.size(); ++axis) middle[axis] += positions[other][axis];
                } else if (group[other] < 0) {
                    group[other] = first;
                    members.push_back(other);
                }
            }
        }
        for (const Number unit : members) {
            for (std::size_t axis = 0; axis < middle.size(); ++axis) positions[unit][axis] = middle[axis] / held;
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

// Springs that pull all moving units at once. Forces are divided by the highest sum of rates of a moving unit, so
// they are in ms.
class Relaxation {
  public:
    Relaxation(const Streams& streams, std::span<const double> weights, std::span<const Number> moving,
               MutablePlaces positions)
        : streams_(streams),
          weights_(weights),
          moving_(moving),
          positions_(positions),
          forces_(moving.size() * positions.width()) {
        for (const Number unit : moving) {
            double total = 0.0;
            for (const Number entry : streams.entries(unit)) total += weights[entry];
            highest_rates_ = std::max(highest_rates_, total);
        }
    }

    // The strongest force on any unit.
    double measure_forces() {
        const MutablePlaces forces(forces_.data(), moving_.size(), positions_.width());
        double strongest = 0.0;
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            const Place here = positions_[moving_[k]];
            double square = 0.0;
            for (std::size_t axis = 0; axis < here.size(); ++axis) {
                double force = 0.0;
                for (const Number entry : streams_.entries(moving_[k])) {
                    force += weights_[entry] * (positions_[streams_.neighbours[entry]][axis] - here[axis]);
                }
                forces[k][axis] = force / highest_rates_;
                square += forces[k][axis] * forces[k][axis];
            }
            strongest = std::max(strongest, std::sqrt(square));
        }
        return strongest;
    }

    // All units go along their forces; every one tells its free neighbours. Returns the messages.
    std::size_t step(double pace, const bool* free, Log& log) {
        const MutablePlaces forces(forces_.data(), moving_.size(), positions_.width());
        std::size_t messages = 0;
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            const Number unit = moving_[k];
            for (std::size_t axis = 0; axis < positions_.width(); ++axis) {
                positions_[unit][axis] += pace * forces[k][axis];
            }
            for (const Number entry : streams_.entries(unit)) messages += free[streams_.neighbours[entry]];
            log.add(unit, positions_[unit]);
        }
        return messages;
    }

  private:
    const Streams& streams_;
    std::span<const double> weights_;
    std::span<const Number> moving_;
    MutablePlaces positions_;
    std::vector<double> forces_;
    double highest_rates_ = 0.0;
};

// Until no force is above the threshold: rounds (-1: the springs did not come to rest), messages, and the log.
auto relax(const Streams& streams, const Vector<double>& weights, const Vector<Number>& moving,
           const MutableMatrix<double>& places, const Vector<bool>& free, double pace, double threshold,
           Number most_rounds, std::size_t log_rows) {
    const MutablePlaces positions(places);
    Relaxation relaxation(streams, view(weights), view(moving), positions);
    Log log(log_rows, positions.width());
    std::size_t messages = 0;
    Number rounds = 0;
    while (relaxation.measure_forces() > threshold) {
        if (rounds > most_rounds) break;
        messages += relaxation.step(pace, free.data(), log);
        ++rounds;
    }
    return std::tuple(rounds > most_rounds ? Number{-1} : rounds, messages, std::move(log).to_numpy());
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
    module.def("anchored", &anchored, "streams"_a, "weights"_a, "held"_a);
    module.def("to_the_middle", &to_the_middle, "streams"_a, "weights"_a, "free"_a, "positions"_a.noconvert());
    module.def("at_rest", &at_rest, "streams"_a, "weights"_a, "moving"_a, "positions"_a.noconvert(), "tolerance"_a,
               "most_rounds"_a);
    module.def("relax", &relax, "streams"_a, "weights"_a, "moving"_a, "positions"_a.noconvert(), "free"_a,
               nb::kw_only(), "pace"_a, "threshold"_a, "most_rounds"_a, "log_rows"_a);
}

}  // namespace berth::space
