// Plans by local search: single blocks move, the last ones may not move back at once (tabu search).
#pragma once

#include "stop.hpp"
#include "tables.hpp"

namespace berth::exact {

class TabuSearch {
  public:
    // Plans count whose costs are below `best` and not above `largest`; what is too much for a place costs `penalty`.
    TabuSearch(const Tables& tables, std::vector<Index> start, double best, double largest, double penalty);

    // A walk through plans, the best neighbour next: as many moves as there are tenures.
    void run(const std::vector<Index>& tenures, Stop& stop);
    // The best plan that fits; empty where none was better.
    const std::vector<Index>& plan() const { return plan_; }

  private:
    struct Move {
        Index block = -1, place = -1;
    };

    double excess_at(Index limit, Index place) const {
        return std::max(0.0, taken_[limit][place] - tables_.limit[limit][place]);
    }
    double excess() const;
    double eased_by_leaving(Index block);
    double eased_by(Index block, Index place) const;
    void judge(double excess);
    Move best_move(Index turn, double excess);
    void apply(Move move, Index waits_until);

    const Tables& tables_;
    Neighbours neighbours_;
    std::vector<Index> place_of_, plan_;
    Grid<double> added_;  // [block][place]: what the block would add there
    Grid<double> taken_;  // [limit][place]
    Grid<Index> waits_;   // [block][place]: the turn from which on it may go back there
    std::vector<double> leaving_;  // [limit]: what gets less where the block that is looked at leaves
    double total_ = 0.0, best_, largest_, penalty_;
    Index feasible_for_ = 0, crowded_for_ = 0;
};

}  // namespace berth::exact
