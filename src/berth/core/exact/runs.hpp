// Pipelines of any operators: a search over runs of operators, bounded by prices for capacity.
//
// A run is a row of consecutive operators on one place; a plan is a sequence of runs. A run fits its place by itself.
// That all runs of a place fit together is paid for: for any prices of what is scarce there, the cheapest sequence, less
// what all room is worth, is a lower bound (Lagrange). Besides, every place remembers of itself and some near ones
// whether more than half is taken of the scarcest resource, the first one: then no run there takes half of it again.
#pragma once

#include "grid.hpp"
#include "memory.hpp"
#include "stop.hpp"

namespace berth::exact {

class RunSearch {
  public:
    // Resources come on one scale, so that their prices move at one pace, the scarcest first; costs are infinite where
    // an operator may not go. `share` of the least costs makes no difference.
    RunSearch(Grid<double> cost, Grid<double> step, Grid<double> demand, Grid<double> limit, double share);

    // From now on, every plan that costs less is wanted, not just the best one.
    void list_below(double costs);
    // Prices and bounds with such a memory, a plan by them, fewer candidates, and an empty stack.
    void prepare(Index memory_bits, Index price_changes, Index beam_width, Stop& stop);
    // The depth-first search, for some work.
    void go_on(Index most_work);

    bool done() const { return done_; }
    double best() const { return best_; }
    double bound() const;
    Index work() const { return work_; }
    const std::vector<Index>& plan() const { return plan_; }
    // The places of all plans that were listed, one plan after the other.
    const std::vector<Index>& listed() const { return listed_; }

  private:
    // Runs from an operator on, on one place: of 1, 2, ... operators.
    struct Runs {
        Index length = 0;               // how many operators fit
        std::vector<double> priced;     // [operators - 1]: costs with prices
        Grid<double> load;              // [resource][operators - 1]
    };

    struct Child {
        double bound;
        Index place, stop;
    };

    struct Level {
        Index position = 0;  // operators placed
        Index place = -1;    // of the last one
        double spent = 0.0;
        Grid<double> room;
        double worth = 0.0;  // of that room
        bool expanded = false;
        std::vector<Child> children;
        std::size_t turn = 0;
    };

    // Some operators placed: a candidate of the beam.
    struct Partial {
        double promise, spent;
        Index place;
        Grid<double> room;
        Index before, before_state;  // where it came from
    };

    void list_runs(Index first, Index place, const Grid<double>& room);
    double worth(const Grid<double>& room) const;
    double step_between(Index here, Index there) const { return here < 0 ? 0.0 : step_[here][there]; }
    Index memory_at(Index place, const Grid<double>& room) const;
    bool over_half(Index place, double taken) const { return taken > limit_[0][place] * 0.5; }
    double& start(Index operator_, Index place, Index memory) {
        return start_[((operator_ * places() + place) << memory_.bits()) + memory];
    }
    double& onward(Index operator_, Index place, Index memory) {
        return onward_[((operator_ * places() + place) << memory_.bits()) + memory];
    }
    Index operators() const { return cost_.rows(); }
    Index places() const { return cost_.columns(); }
    Index resources() const { return demand_.rows(); }

    void drop_useless_places();
    void improve_prices(Index price_changes, Stop& stop);
    double price_out();
    void price_starts(Index first);
    void price_onward(Index next);
    double follow(Grid<double>& taken, std::vector<Index>& plan);
    void beam(Index width);
    void extend(Index placed, Index state, Index width, std::vector<std::vector<Partial>>& partials);
    void forbid_dear_places();
    void expand(Level& level);
    void descend(const Level& level, const Child& child, double spent);
    void offer(double costs, const std::vector<Index>& plan);

    Grid<double> cost_;    // [operator][place]
    Grid<double> step_;    // [place][place]
    Grid<double> demand_;  // [resource][operator]
    Grid<double> limit_;   // [resource][place]
    Grid<double> price_;   // [resource][place]: what a unit of room is worth
    std::vector<Index> nodes_;  // the numbers of the places that are left
    double share_;
    Memory memory_;
    std::vector<std::vector<Index>> nearest_first_;
    // Least priced costs. A run begins with an operator on a place that is reached with a memory; or the operator before
    // is the last of a run on a place that is left with a memory for another one (0 behind the last operator).
    std::vector<double> start_, onward_;
    Runs runs_;
    double best_ = INFINITE, least_ = -INFINITE, slack_ = 0.0;
    std::vector<Index> plan_, prefix_, listed_;
    std::vector<Level> levels_;
    Index depth_ = 0, work_ = 0;
    bool done_ = false, lists_ = false;
};

}  // namespace berth::exact
