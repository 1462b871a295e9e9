#include "weber.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <numeric>

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

constexpr double shortest_step_ms = 1e-6;
constexpr int most_rounds = 10'000;
// After so many rounds every other step is Newton's.
constexpr int patience = 40;
// Points nearer to a line than this share of its length are on it.
constexpr double straight = 1e-9;
// A usage that is lower by less than this share may be rounding.
constexpr double noise = 1e-14;
// Weights that differ by less, relatively, are equal: sums of floats are not exact.
constexpr double balanced = 1e-12;

}  // namespace

double WeberSearch::usage_at(Place place) const {
    double total = 0.0;
    for (std::size_t k = 0; k < size(); ++k) total += weights_[k] * distance(point(k), place);
    return total;
}

// The pull of all points on a place, into `flow_`.
WeberSearch::Pull WeberSearch::pull(Place place) {
    std::ranges::fill(flow_, 0.0);
    Pull found{0.0, 0.0, 0.0};
    for (std::size_t k = 0; k < size(); ++k) {
        const double apart = distance(point(k), place);
        if (apart <= coincident_ms) {
            found.here += weights_[k];
            continue;
        }
        found.farthest = std::max(found.farthest, apart);
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            flow_[axis] += weights_[k] * (point(k)[axis] - place[axis]) / apart;
        }
    }
    double square = 0.0;
    for (const double along : flow_) square += along * along;
    found.strength = std::sqrt(square);
    return found;
}

// Newton's step at a place that is no point's, into `trial_`; its length, or -1: there is none.
double WeberSearch::newton_step(Place place) {
    const MutablePlaces matrix(hessian_.data(), dimensions_, dimensions_);
    std::ranges::fill(hessian_, 0.0);
    for (std::size_t k = 0; k < size(); ++k) {
        double square = 0.0;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            away_[axis] = point(k)[axis] - place[axis];
            square += away_[axis] * away_[axis];
        }
        const double apart = std::sqrt(square);
        if (apart <= coincident_ms) return -1.0;
        for (std::size_t row = 0; row < dimensions_; ++row) {
            matrix[row][row] += weights_[k] / apart;
            for (std::size_t column = 0; column < dimensions_; ++column) {
                matrix[row][column] -= weights_[k] * away_[row] * away_[column] / (square * apart);
            }
        }
    }
    double largest = 0.0;
    for (std::size_t row = 0; row < dimensions_; ++row) largest = std::max(largest, matrix[row][row]);
    trial_ = flow_;
    for (std::size_t row = 0; row < dimensions_; ++row) {
        // The matrix is positive semidefinite: elimination needs no pivots.
        if (matrix[row][row] <= 1e-12 * largest) return -1.0;
        for (std::size_t below = row + 1; below < dimensions_; ++below) {
            const double factor = matrix[below][row] / matrix[row][row];
            for (std::size_t column = row; column < dimensions_; ++column) {
                matrix[below][column] -= factor * matrix[row][column];
            }
            trial_[below] -= factor * trial_[row];
        }
    }
    double square = 0.0;
    for (std::size_t row = dimensions_; row-- > 0;) {
        for (std::size_t column = row + 1; column < dimensions_; ++column) {
            trial_[row] -= matrix[row][column] * trial_[column];
        }
        trial_[row] /= matrix[row][row];
        square += trial_[row] * trial_[row];
    }
    return std::sqrt(square);
}

// The weighted median of every coordinate, the optimum for Manhattan distances; the midpoint where a whole interval
// is optimal. Returns whether there is one.
bool WeberSearch::weighted_medians(std::span<double> place) {
    const double half = std::accumulate(weights_.begin(), weights_.end(), 0.0) / 2.0;
    bool interval = false;
    order_.resize(size());
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        std::iota(order_.begin(), order_.end(), 0);
        std::ranges::sort(order_, {}, [&](std::size_t k) { return std::pair(point(k)[axis], k); });
        double reached = 0.0;
        for (std::size_t spot = 0; spot < size(); ++spot) {
            reached += weights_[order_[spot]];
            const double value = point(order_[spot])[axis];
            if (spot + 1 < size() && std::abs(reached - half) <= balanced * half) {
                const double following = point(order_[spot + 1])[axis];
                interval = interval || following - value > coincident_ms;
                place[axis] = (value + following) / 2.0;
                break;
            }
            if (reached >= half) {
                place[axis] = value;
                break;
            }
        }
    }
    return interval;
}

// Whether all points are on one line (and not all at one place).
bool WeberSearch::collinear() const {
    std::size_t far = 0;
    double longest = 0.0;
    for (std::size_t k = 1; k < size(); ++k) {
        const double square = squared_distance(point(k), point(0));
        if (square > longest) {
            far = k;
            longest = square;
        }
    }
    if (longest <= coincident_ms * coincident_ms) return false;
    const Place origin = point(0), end = point(far);
    for (std::size_t k = 1; k < size(); ++k) {
        double along = 0.0;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            along += (point(k)[axis] - origin[axis]) * (end[axis] - origin[axis]);
        }
        // The distance from the line by coordinates: a difference of squares would be nothing but rounding.
        double square = 0.0;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            const double foot = along / longest * (end[axis] - origin[axis]);
            const double apart = point(k)[axis] - origin[axis] - foot;
            square += apart * apart;
        }
        if (square > straight * straight * longest + coincident_ms * coincident_ms) return false;
    }
    return true;
}

// Goes on to the best point where that is no worse than the medians; the usage there.
double WeberSearch::start(std::span<double> place) {
    double lowest = usage_at(place);
    std::size_t best = size();
    for (std::size_t k = 0; k < size(); ++k) {
        const double value = usage_at(point(k));
        if (value <= lowest && (best == size() || value < lowest)) {
            best = k;
            lowest = value;
        }
    }
    if (best < size()) std::ranges::copy(point(best), place.begin());
    return lowest;
}

// The usage of a place so far along the flow, which is then in `trial_`.
double WeberSearch::try_along_flow(std::span<const double> place, double length) {
    for (std::size_t axis = 0; axis < dimensions_; ++axis) trial_[axis] = place[axis] + length * flow_[axis];
    return usage_at(trial_);
}

WeberResult WeberSearch::descend(std::span<double> place, double lowest) {
    const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    double step = -1.0;
    for (int round = 0; round < most_rounds; ++round) {
        const Pull found = pull(place);
        if (step < 0.0) step = found.farthest;
        // No pull is stronger than what already is here: a vertex, or flows that cancel out.
        if (found.strength <= found.here) return {Ending::vertex, round, false};
        if (found.strength <= 1e-14 * total || step < shortest_step_ms) return {Ending::interior, round, false};
        if (round >= patience && round % 2 == 0) {
            const double length = newton_step(place);
            if (length >= 0.0) {
                for (std::size_t axis = 0; axis < dimensions_; ++axis) trial_[axis] += place[axis];
                const double value = usage_at(trial_);
                if (value < lowest) {
                    lowest = value;
                    std::ranges::copy(trial_, place.begin());
                }
                if (length < shortest_step_ms) return {Ending::interior, round + 1, false};
                continue;
            }
        }
        const double value = try_along_flow(place, step / found.strength);
        // What rounding alone may have gained is no reason to keep steps as long as they are.
        const bool worth = value < lowest * (1.0 - noise);
        if (value < lowest) {
            lowest = value;
            std::ranges::copy(trial_, place.begin());
        }
        if (!worth) step /= 2.0;
    }
    return {Ending::interior, most_rounds, false};
}

WeberResult WeberSearch::descend_as_printed(std::span<double> place, double lowest) {
    double step = -1.0;
    for (int round = 0; round < most_rounds; ++round) {
        const Pull found = pull(place);
        if (step < 0.0) step = found.farthest;
        const double value = try_along_flow(place, found.strength > 0.0 ? step / found.strength : 0.0);
        if (value < lowest) {
            // The new usage less the old one is below any threshold.
            std::ranges::copy(trial_, place.begin());
            return {Ending::interior, round + 1, false};
        }
        step /= 2.0;
    }
    return {Ending::endless, most_rounds, false};
}

WeberResult WeberSearch::find(std::span<double> place, bool printed) {
    const bool interval = weighted_medians(place);
    // Along a line the medians are optimal, and so is the whole segment between them.
    if (interval && !printed && collinear()) return {Ending::interior, 0, true};
    const double lowest = start(place);
    return printed ? descend_as_printed(place, lowest) : descend(place, lowest);
}

namespace {

auto weber_point(const Matrix<double>& points, const Vector<double>& weights, bool printed) {
    const Places given(points);
    WeberSearch search(given.width());
    for (std::size_t k = 0; k < given.size(); ++k) search.add(given[k], weights.data()[k]);
    std::vector<double> place(given.width());
    const WeberResult found = search.find(place, printed);
    return std::tuple(to_numpy(std::move(place)), found.ending, found.rounds, found.tied);
}

}  // namespace

void bind_weber(nb::module_& module) {
    nb::enum_<Ending>(module, "Ending")
        .value("VERTEX", Ending::vertex)
        .value("INTERIOR", Ending::interior)
        .value("ENDLESS", Ending::endless);
    module.def("weber_point", &weber_point, "points"_a, "weights"_a, "printed"_a = false);
}

}  // namespace berth::space
