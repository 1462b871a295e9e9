// Vivaldi's springs and the polish behind them (card 1.1): each pass takes every sample of some nodes once.
//
// A pass needs nothing but the samples of its own nodes and the places of all, so it serves one machine and many.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "places.hpp"
#include "numpy_random.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

constexpr double least_height_ms = 0.01;
// A node's error at the start, and the most that a sample's counts for: wholly wrong is wrong enough.
constexpr double largest_error = 1.5;
constexpr double least_error = 1e-9;
// A coordinate beyond is a failure of the arithmetic, not a place: its square would soon overflow.
constexpr double farthest_ms = 1e60;
// Nodes as close as this have no direction between them.
constexpr double together_ms = 1e-12;
// Shorter delays count as this long where an error is a share of the delay: two nodes may be at one place.
constexpr double shortest_ms = 0.01;

// Draws a direction, any of them equally likely, and returns its length.
double draw_direction(NumpyRandom& random, std::span<double> direction) {
    double square = 0.0;
    for (double& along : direction) {
        along = random.normal();
        square += along * along;
    }
    return std::sqrt(square);
}

// All nodes' points, as the passes change them.
struct Points {
    MutablePlaces positions;
    std::span<double> heights;
    std::span<double> errors;  // every node's estimate of its own relative error; the polish has none
    bool with_height;

    double upward(Number node, Number other) const { return with_height ? heights[node] + heights[other] : 0.0; }

    bool sound(Number node) const {
        // comparisons with NaN are false: what isn't a number isn't sound either
        return heights[node] < farthest_ms && std::ranges::all_of(positions[node], [](double coordinate) {
                   return std::abs(coordinate) < farthest_ms;
               });
    }

    void reset(Number node) {
        errors[node] = largest_error;
        heights[node] = with_height ? least_height_ms : 0.0;
        std::ranges::fill(positions[node], 0.0);
    }
};

struct MeanError {
    double total = 0.0;
    std::size_t count = 0;

    void add(double missed) {
        total += missed;
        ++count;
    }
    double value() const { return total / static_cast<double>(std::max<std::size_t>(count, 1)); }
};

}  // namespace

// Measured delays by node: those of row k are at offsets[k] to offsets[k + 1].
class Neighbourhoods {
  public:
    Neighbourhoods(const Vector<Number>& rows, const Vector<Number>& offsets, const Vector<Number>& neighbours,
                   const Vector<double>& delays)
        : rows_(copied(rows)), offsets_(copied(offsets)), neighbours_(copied(neighbours)), delays_(copied(delays)) {}

    std::size_t samples() const { return delays_.size(); }
    const std::vector<Number>& offsets() const { return offsets_; }
    const std::vector<Number>& neighbours() const { return neighbours_; }
    const std::vector<double>& delays() const { return delays_; }

    // Takes the rows in the given order; the mean error, each before its update, and how many points were reset.
    std::pair<double, std::size_t> spring(const Vector<Number>& order, const MutableMatrix<double>& positions,
                                          const MutableVector<double>& heights, const MutableVector<double>& errors,
                                          bool with_height, double c_c, double c_e, const nb::object& generator) const {
        Points points{MutablePlaces(positions), view(heights), view(errors), with_height};
        NumpyRandom random(generator);
        const nb::gil_scoped_release others_may_run;
        std::vector<double> direction(points.positions.width());
        MeanError mean;
        std::size_t resets = 0;
        for (const Number row : view(order)) {
            const Number node = rows_[row];
            for (Number sample = offsets_[row]; sample < offsets_[row + 1]; ++sample) {
                const double missed =
                    pull(points, node, neighbours_[sample], delays_[sample], c_c, c_e, direction, random);
                if (std::isfinite(missed) && points.sound(node)) {
                    mean.add(missed);
                } else {
                    ++resets;
                    points.reset(node);
                }
            }
        }
        return {mean.value(), resets};
    }

    // Brings every row's node to its best place among its neighbours: the weighted mean of the points that its
    // samples want it at, where a sample counts less the worse it fits, which leads to least absolute errors.
    double polish(const MutableMatrix<double>& positions, const MutableVector<double>& heights, bool with_height,
                  double exact_ms, double closeness) const {
        Points points{MutablePlaces(positions), view(heights), {}, with_height};
        std::vector<double> place(points.positions.width());
        MeanError mean;
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            settle(points, row, exact_ms, closeness, place, mean);
        }
        return mean.value();
    }

  private:
    // One sample moves its node (the paper's height algebra: u() divides by the full norm); returns its error.
    static double pull(Points& points, Number node, Number other, double delay, double c_c, double c_e,
                       std::span<double> direction, NumpyRandom& random) {
        const std::span<double> here = points.positions[node];
        const std::span<double> there = points.positions[other];
        double square = 0.0;
        for (std::size_t axis = 0; axis < here.size(); ++axis) {
            direction[axis] = here[axis] - there[axis];
            square += direction[axis] * direction[axis];
        }
        const double plain = std::sqrt(square);
        const double upward = points.upward(node, other);
        const double norm = plain + upward;
        const double missed = std::abs(norm - delay);
        const double weight = points.errors[node] / (points.errors[node] + points.errors[other]);
        const double share = c_e * weight;
        const double relative = std::min(missed / std::max(delay, shortest_ms), largest_error);
        const double estimate = share * relative + (1.0 - share) * points.errors[node];
        points.errors[node] = std::min(std::max(estimate, least_error), largest_error);
        const double force = c_c * weight * (delay - norm);
        double scale = 0.0;
        if (plain > together_ms) {
            scale = force / norm;
            if (points.with_height) {
                points.heights[node] = std::max(points.heights[node] + scale * upward, least_height_ms);
            }
        } else {
            const double length = draw_direction(random, direction);
            scale = length > 0.0 ? force / length : 0.0;
        }
        for (std::size_t axis = 0; axis < here.size(); ++axis) here[axis] += scale * direction[axis];
        return estimate < farthest_ms ? missed : std::numeric_limits<double>::infinity();
    }

    void settle(Points& points, std::size_t row, double exact_ms, double closeness, std::span<double> place,
                MeanError& mean) const {
        const Number node = rows_[row];
        const std::span<double> here = points.positions[node];
        std::ranges::fill(place, 0.0);
        double rise = 0.0, weights = 0.0;
        for (Number sample = offsets_[row]; sample < offsets_[row + 1]; ++sample) {
            const Number other = neighbours_[sample];
            const double delay = delays_[sample];
            const std::span<const double> there = points.positions[other];
            const double plain = distance(here, there);
            const double upward = points.upward(node, other);
            const double missed = std::abs(plain + upward - delay);
            // no sample gets all the weight by fitting
            double weight = 1.0 / std::max(missed, exact_ms);
            if (closeness > 0.0) weight /= std::pow(std::max(delay, exact_ms), closeness);
            const double wanted = std::max(delay - upward, 0.0);
            const double scale = plain > 0.0 ? wanted / plain : 0.0;
            for (std::size_t axis = 0; axis < place.size(); ++axis) {
                place[axis] += weight * (there[axis] + scale * (here[axis] - there[axis]));
            }
            rise += weight * (delay - plain - upward);
            weights += weight;
            mean.add(missed);
        }
        if (weights <= 0.0) return;
        for (std::size_t axis = 0; axis < place.size(); ++axis) here[axis] = place[axis] / weights;
        if (points.with_height) {
            // half of what is missing on average: the other half is the position's, which moved as well
            points.heights[node] = std::max(points.heights[node] + 0.5 * rise / weights, least_height_ms);
        }
    }

    std::vector<Number> rows_, offsets_, neighbours_;
    std::vector<double> delays_;
};

// The positions of the samples that are used, ascending: of a node with more than `most` the `near` nearest ones, and
// random ones of the rest.
NumpyVector<Number> chosen_samples(const Vector<Number>& offsets, const Vector<double>& delays, Number most, Number near,
                                   const nb::object& generator) {
    NumpyRandom random(generator);
    std::vector<Number> kept, row;
    for (std::size_t node = 0; node + 1 < offsets.size(); ++node) {
        const Number begin = offsets.data()[node], size = offsets.data()[node + 1] - begin;
        row.resize(size);
        std::iota(row.begin(), row.end(), begin);
        if (size > most) {
            std::ranges::sort(row, {}, [&](Number sample) { return std::pair(delays.data()[sample], sample); });
            for (Number position = near; position < most; ++position) {
                const auto ahead = static_cast<Number>(random.uniform() * static_cast<double>(size - position));
                std::swap(row[position], row[position + ahead]);
            }
            row.resize(most);
            std::ranges::sort(row);
        }
        kept.insert(kept.end(), row.begin(), row.end());
    }
    return to_numpy(std::move(kept));
}

void bind_vivaldi(nb::module_& module) {
    nb::class_<Neighbourhoods>(module, "Neighbourhoods")
        .def(nb::init<const Vector<Number>&, const Vector<Number>&, const Vector<Number>&, const Vector<double>&>(),
             "rows"_a, "offsets"_a, "neighbours"_a, "delays"_a)
        .def_prop_ro("samples", &Neighbourhoods::samples)
        .def_prop_ro("offsets", [](const Neighbourhoods& known) { return to_numpy(known.offsets()); },
                     nb::rv_policy::automatic)
        .def_prop_ro("neighbours", [](const Neighbourhoods& known) { return to_numpy(known.neighbours()); },
                     nb::rv_policy::automatic)
        .def_prop_ro("delays", [](const Neighbourhoods& known) { return to_numpy(known.delays()); },
                     nb::rv_policy::automatic)
        .def("spring", &Neighbourhoods::spring, "order"_a, "positions"_a.noconvert(), "heights"_a.noconvert(),
             "errors"_a.noconvert(), nb::kw_only(), "with_height"_a, "c_c"_a, "c_e"_a, "generator"_a)
        .def("polish", &Neighbourhoods::polish, "positions"_a.noconvert(), "heights"_a.noconvert(), nb::kw_only(),
             "with_height"_a, "exact_ms"_a, "closeness"_a, nb::call_guard<nb::gil_scoped_release>());
    module.def("chosen_samples", &chosen_samples, "offsets"_a, "delays"_a, "most"_a, "near"_a, "generator"_a);
    module.attr("LEAST_HEIGHT_MS") = least_height_ms;
    module.attr("LARGEST_ERROR") = largest_error;
    module.attr("SHORTEST_MS") = shortest_ms;
}

}  // namespace berth::space
