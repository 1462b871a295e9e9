// A bound for graphs in which nearly everybody talks to everybody: what a choice makes others cost.
//
// For every block on every place there is a problem of its own: the cheapest places of the others, given that it is
// there, with what room is left then. What that costs is added to the block's own costs there; what is left of the costs
// of two blocks goes to the other one's problem (the first level of the reformulation-linearisation technique, by dual
// ascent, as Hahn and Guignard do it for quadratic assignment).
#include <nanobind/stl/pair.h>

#include "module.hpp"
#include "stop.hpp"
#include "tables.hpp"

namespace berth::exact {

namespace {

// Takes a bound on the choice of a place for every block out of a table of costs; what is left is not negative.
class Extraction {
  public:
    Extraction(const Tables& tables, double beyond)
        : tables_(tables), beyond_(beyond), elsewhere_(tables.blocks()), ratio_(tables.blocks()), load_(tables.places()) {}

    // All blocks but one take part. Returns `beyond` where no choice fits.
    double run(GridView<double> rows, Index without, const GridView<const double>& room) {
        const double value = take_lowest(rows, without);
        if (value >= beyond_) return beyond_;
        double more = 0.0;
        for (Index limit = 0; limit < tables_.limits(); ++limit) {
            sum_cheapest(limit, rows, without);
            for (Index place = 0; place < tables_.places(); ++place) {
                if (load_[place] <= room[limit][place]) continue;
                const double gain = raise_price(limit, place, rows, without, room[limit][place]);
                if (gain >= beyond_) return beyond_;
                more += gain;
            }
        }
        return value + more;
    }

  private:
    double take_lowest(GridView<double> rows, Index without) const {
        double value = 0.0;
        for (Index block = 0; block < tables_.blocks(); ++block) {
            if (block == without) continue;
            double lowest = INFINITE;
            for (Index place = 0; place < tables_.places(); ++place)
                if (tables_.allowed[block][place]) lowest = std::min(lowest, rows[block][place]);
            if (lowest >= beyond_) return beyond_;
            if (lowest == 0.0) continue;
            value += lowest;
            for (Index place = 0; place < tables_.places(); ++place) rows[block][place] -= lowest;
        }
        return value;
    }

    // What the cheapest places have to bear when every block is on the first of its own.
    void sum_cheapest(Index limit, GridView<double> rows, Index without) {
        std::fill(load_.begin(), load_.end(), 0.0);
        for (Index block = 0; block < tables_.blocks(); ++block) {
            if (block == without) continue;
            for (Index place = 0; place < tables_.places(); ++place)
                if (tables_.allowed[block][place] && rows[block][place] <= 0.0) {
                    load_[tables_.group[limit][place]] += tables_.demand[limit][block];
                    break;
                }
        }
    }

    // The price of a place that has too little room rises until the blocks that could go elsewhere at less have gone.
    double raise_price(Index limit, Index place, GridView<double> rows, Index without, double room) {
        const double* demand = tables_.demand[limit];
        const Index* group = tables_.group[limit];
        double taken = 0.0, bound_there = 0.0;
        for (Index block = 0; block < tables_.blocks(); ++block) {
            ratio_[block] = -1.0;
            if (block == without || demand[block] <= 0.0) continue;
            double inside = INFINITE, outside = INFINITE;
            for (Index spot = 0; spot < tables_.places(); ++spot)
                if (tables_.allowed[block][spot]) {
                    double& least = group[spot] == place ? inside : outside;
                    least = std::min(least, rows[block][spot]);
                }
            if (inside > 0.0 || outside <= 0.0) continue;
            elsewhere_[block] = outside;
            ratio_[block] = outside / demand[block];
            taken += demand[block];
            if (outside == INFINITE) bound_there += demand[block];
        }
        if (bound_there > room) return beyond_;
        const double rise = needed_rise(demand, taken, room);
        if (rise <= 0.0) return 0.0;
        double value = -rise * room;
        for (Index block = 0; block < tables_.blocks(); ++block) {
            if (block == without || demand[block] <= 0.0) continue;
            const double dearer = rise * demand[block];
            const double gain = ratio_[block] >= 0.0 ? std::min(dearer, elsewhere_[block]) : 0.0;
            value += gain;
            for (Index spot = 0; spot < tables_.places(); ++spot) {
                double& cost = rows[block][spot];
                if (group[spot] == place) cost += dearer;
                // below 0 is rounding of what was just made 0
                cost = std::max(cost - gain, 0.0);
            }
        }
        return value;
    }

    double needed_rise(const double* demand, double taken, double room) const {
        double rise = 0.0;
        while (taken > room) {
            double next = INFINITE;
            for (const double ratio : ratio_)
                if (ratio > rise) next = std::min(next, ratio);
            if (next == INFINITE) break;
            rise = next;
            for (Index block = 0; block < tables_.blocks(); ++block)
                if (ratio_[block] == rise) taken -= demand[block];
        }
        return rise;
    }

    const Tables& tables_;
    double beyond_;
    std::vector<double> elsewhere_, ratio_, load_;
};

// Everything in a problem's costs is worth something to one choice: rounds over all choices' problems.
class DualAscent {
  public:
    // `leader` and the pairs' costs are not negative; `beyond` stands for what is impossible.
    DualAscent(const Tables& tables, Grid<double> leader, double beyond)
        : tables_(tables),
          beyond_(beyond),
          leader_(std::move(leader)),
          others_(choices(), tables.blocks(), tables.places()),
          least_(tables.blocks(), tables.places(), -INFINITE),
          rows_(tables.blocks(), tables.places()),
          room_(tables.limits(), tables.places()),
          least_room_(tables.limits()),
          extraction_(tables, beyond) {}

    void add_pair(Index edge, double lowest) {
        const Index first = tables_.ends[edge][0], second = tables_.ends[edge][1];
        const auto pair = tables_.pair[edge];
        for (Index u = 0; u < tables_.places(); ++u)
            for (Index v = 0; v < tables_.places(); ++v)
                problem(first, u)[second][v] = std::max(pair[u][v] - lowest, 0.0);
    }

    double run(double ceiling, Index rounds, Stop& stop) {
        double total = 0.0;
        for (Index turn = 0; turn < rounds; ++turn) {
            const double before = total;
            for (Index block = 0; block < tables_.blocks(); ++block) {
                total = look_at(block, total, turn < rounds - 1);
                if (total >= beyond_) return beyond_;
            }
            if (turn == rounds - 1 || total >= ceiling || stop()) break;
            // one more round where this one has changed little
            if (total - before < 2e-3 * (ceiling - total)) rounds = std::min(rounds, turn + 2);
        }
        const double gain = extraction_.run({leader_[0], tables_.blocks(), tables_.places()}, -1, tables_.limit);
        if (gain >= beyond_) return beyond_;
        total += gain;
        for (Index block = 0; block < tables_.blocks(); ++block)
            for (Index place = 0; place < tables_.places(); ++place)
                least_[block][place] = std::max(least_[block][place], total + leader_[block][place]);
        return total;
    }

    const Grid<double>& leader() const { return leader_; }
    const Grid<double>& least() const { return least_; }

  private:
    Index choices() const { return tables_.blocks() * tables_.places(); }
    // What the other choices cost in the problem of a block on a place: [other block][its place].
    GridView<double> problem(Index block, Index place) { return others_[block * tables_.places() + place]; }

    // Improve a block's problems; the bound after that.
    double look_at(Index block, double total, bool pass_on) {
        for (Index place = 0; place < tables_.places(); ++place)
            if (tables_.allowed[block][place]) solve(block, place);
        double lowest = INFINITE;
        for (Index place = 0; place < tables_.places(); ++place)
            if (tables_.allowed[block][place]) lowest = std::min(lowest, leader_[block][place]);
        if (lowest >= beyond_) return beyond_;
        total += lowest;
        for (Index place = 0; place < tables_.places(); ++place) {
            leader_[block][place] -= lowest;
            least_[block][place] = std::max(least_[block][place], total + leader_[block][place]);
        }
        if (pass_on && tables_.blocks() > 1)
            for (Index place = 0; place < tables_.places(); ++place) share_out(block, place);
        return total;
    }

    // The cheapest places of the others, with a block on a place.
    void solve(Index block, Index place) {
        for (Index limit = 0; limit < tables_.limits(); ++limit) {
            std::copy(tables_.limit[limit], tables_.limit[limit] + tables_.places(), room_[limit]);
            room_[limit][tables_.group[limit][place]] -= tables_.demand[limit][block];
            least_room_[limit] = *std::min_element(room_[limit], room_[limit] + tables_.places());
        }
        const auto own = problem(block, place);
        for (Index other = 0; other < tables_.blocks(); ++other) {
            if (other == block) continue;
            for (Index spot = 0; spot < tables_.places(); ++spot) {
                double& mirrored = problem(other, spot)[block][place];
                rows_[other][spot] = own[other][spot] + mirrored;
                mirrored = 0.0;
            }
            for (Index limit = 0; limit < tables_.limits(); ++limit) {
                if (tables_.demand[limit][other] <= least_room_[limit] + 1e-12) continue;
                for (Index spot = 0; spot < tables_.places(); ++spot)
                    if (tables_.demand[limit][other] > room_[limit][tables_.group[limit][spot]] + 1e-12)
                        rows_[other][spot] = beyond_;
            }
        }
        const double gain = extraction_.run({rows_[0], tables_.blocks(), tables_.places()}, block, room_);
        if (gain >= beyond_) {
            leader_[block][place] = beyond_;
            return;
        }
        leader_[block][place] = std::min(beyond_, leader_[block][place] + gain);
        for (Index other = 0; other < tables_.blocks(); ++other)
            if (other != block) std::copy(rows_[other], rows_[other] + tables_.places(), own[other]);
    }

    // What is dearer here counts wherever somebody else decides for the block.
    void share_out(Index block, Index place) {
        if (leader_[block][place] == 0.0) return;
        const double share = leader_[block][place] / static_cast<double>(tables_.blocks() - 1);
        leader_[block][place] = 0.0;
        const auto own = problem(block, place);
        for (Index other = 0; other < tables_.blocks(); ++other)
            if (other != block)
                for (Index spot = 0; spot < tables_.places(); ++spot) own[other][spot] += share;
    }

    const Tables& tables_;
    double beyond_;
    Grid<double> leader_;  // [block][place]: its own costs
    Cube<double> others_;  // [block and place][other block][its place]
    Grid<double> least_;   // [block][place]: a bound for the plans with the block there
    Grid<double> rows_, room_;
    std::vector<double> least_room_;  // [limit]: of all places
    Extraction extraction_;
};

// The bound in a form that Python can use.
struct LiftedBound {
    double value;         // infinite: no plan
    Grid<double> least;   // [block][place]
    Grid<double> reduced; // [block][place]: what is left of a block's own costs
};

LiftedBound lifted_bound(const Tables& tables, const GridView<const double>& cost, double ceiling, Index rounds,
                         double beyond, Stop& stop) {
    double constant = 0.0;
    Grid<double> leader(tables.blocks(), tables.places());
    for (Index block = 0; block < tables.blocks(); ++block) {
        double own = INFINITE;
        for (Index place = 0; place < tables.places(); ++place)
            if (tables.allowed[block][place]) own = std::min(own, cost[block][place]);
        constant += own;
        for (Index place = 0; place < tables.places(); ++place)
            leader[block][place] = tables.allowed[block][place] ? cost[block][place] - own : 0.0;
    }
    DualAscent ascent(tables, std::move(leader), beyond);
    for (Index edge = 0; edge < tables.edges(); ++edge) {
        const auto pair = tables.pair[edge];
        double lowest = INFINITE;
        for (Index u = 0; u < tables.places(); ++u)
            for (Index v = 0; v < tables.places(); ++v)
                if (tables.allowed[tables.ends[edge][0]][u] && tables.allowed[tables.ends[edge][1]][v])
                    lowest = std::min(lowest, pair[u][v]);
        constant += lowest;
        ascent.add_pair(edge, lowest);
    }
    const double total = ascent.run(ceiling - constant, rounds, stop);
    LiftedBound bound{total >= beyond ? INFINITE : total + constant, ascent.least(), ascent.leader()};
    for (double& least : bound.least.values()) least = total >= beyond ? INFINITE : least + constant;
    return bound;
}

}  // namespace

void bind_lifted(nb::module_& module) {
    nb::class_<LiftedBound>(module, "LiftedBound")
        .def_ro("value", &LiftedBound::value)
        .def_prop_ro("least", [](const LiftedBound& self) { return to_numpy<double>(self.least); }, nb::rv_policy::move)
        .def_prop_ro("reduced", [](const LiftedBound& self) { return to_numpy<double>(self.reduced); }, nb::rv_policy::move);
    module.def(
        "lifted_bound",
        [](const Tables& tables, Matrix<double> cost, double ceiling, Index rounds, double beyond,
           const nb::callable& over) {
            Stop stop(over);
            nb::gil_scoped_release released;
            return lifted_bound(tables, view(cost), ceiling, rounds, beyond, stop);
        },
        "tables"_a, "cost"_a, "ceiling"_a, "rounds"_a, "beyond"_a, "over"_a);
}

}  // namespace berth::exact
