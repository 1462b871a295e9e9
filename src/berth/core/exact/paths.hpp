// The fastest plan of a small graph of any shape: operators are placed one after the other, senders first.
#pragma once

#include "grid.hpp"

namespace berth::exact {

struct PathProblem {
    Grid<double> work;     // [operator][place]: its time there; infinite where it may not go
    Grid<double> tail;     // [operator][place]: from its start there to the end of its longest path, at least
    Grid<double> delay;    // [place][place]: infinite without a link
    Grid<Index> streams;   // [stream][2]: sender and receiver; operators are numbered senders first
    Grid<double> demand;   // [limit][operator]
    Grid<double> limit;    // [limit][place that stands for others]: what fits
    Grid<Index> group;     // [limit][place]: the place whose limit counts
    std::vector<Index> twin;  // [operator]: an earlier one that differs in nothing; -1: none
};

// Depth-first search: an operator's candidates come in the order of their bounds.
class PathSearch {
  public:
    // Plans count that are faster than `best`.
    PathSearch(PathProblem problem, double best);

    // Place up to so many operators; false once everything was looked at.
    bool go_on(Index most_work);
    // The time of the best plan, and its places; none where nothing was faster.
    double best() const { return best_; }
    const std::vector<Index>& plan() const { return plan_; }

  private:
    struct Child {
        double bound;
        Index place;
        double start;
    };

    struct Level {
        bool expanded = false;
        std::vector<Child> children;
        std::size_t turn = 0;
        double bound = 0.0;  // of what is placed before
        Index place = -1;
        double done = 0.0;   // when this operator has finished
    };

    Index operators() const { return problem_.work.rows(); }
    Index places() const { return problem_.work.columns(); }
    bool fits(Index operator_, Index place) const;
    void take(Index operator_, Index place, double sign);
    void expand(Index operator_);
    void keep();

    PathProblem problem_;
    double best_;
    std::vector<std::vector<Index>> senders_;
    std::vector<Level> levels_;  // by operator, and one behind the last
    Index depth_ = 0;
    Grid<double> room_;
    std::vector<Index> plan_;
};

}  // namespace berth::exact
