// The cheapest plan of a forest where places have prices and no piece of a tree overfills its place.
//
// A piece is what of a tree lies connected on one place. Prices alone would let a whole tree share a place, for a part of
// the time each: the bound would be nothing. That every piece has to fit makes trees spread. Edges that close circles are
// cut: they are on their own, and what they cost is split between them and their ends.
#pragma once

#include "stop.hpp"
#include "tables.hpp"

namespace berth::exact {

// Blocks in an order where each comes after its parent.
struct Rooting {
    std::vector<Index> order;
    std::vector<Index> parent;   // -1: a root
    std::vector<Index> edge;     // to the parent
    std::vector<Flag> forward;   // whether the parent is the first block of that edge

    Rooting(Index root, const Neighbours& neighbours);
};

class ForestBound {
  public:
    // `in_tree`: which edges are left. `weight`: whole weights of blocks; `room`: what a piece may weigh, by place.
    ForestBound(const Tables& tables, const std::vector<Flag>& in_tree, std::vector<Index> weight, std::vector<Index> room);

    // Subgradient steps from these prices: they rise where the cheapest plan takes more than there is, and what the ends
    // of cut edges bear rises where the plan has them and falls where the edge alone would be. Returns the best bound.
    double improve_prices(Grid<double> price, Cube<double> split, double ceiling, Index rounds, double slack, Stop& stop);

    // For each block on each place, the bound at the best prices: every block is the root once.
    Grid<double> marginals(double value, Stop& stop);

    const Grid<double>& price() const { return best_price_; }     // [limit][place]
    const Cube<double>& split() const { return best_split_; }     // [cut edge][end][place]
    const std::vector<Index>& plan() const { return plan_; }      // the last one; it need not fit

  private:
    void price_blocks(const Grid<double>& price, const Cube<double>& split);
    double worth(const Grid<double>& price) const;
    double climb(const Rooting& rooting);
    void join(Index block, const Rooting& rooting);
    void follow(const Rooting& rooting);
    double least_cuts(const Cube<double>& split);
    // What the plan takes beyond the limits, to `over_`; the squared length of the step that this makes.
    double step_length(const Grid<double>& price);
    GridView<const double> pair_by_parent(Index block, const Rooting& rooting) const;
    double& table(Index block, Index place, Index level) { return table_[(block * places() + place) * levels_ + level]; }
    double& before(Index block, Index place, Index level) { return before_[(block * places() + place) * levels_ + level]; }
    Index blocks() const { return tables_.blocks(); }
    Index places() const { return tables_.places(); }

    const Tables& tables_;
    std::vector<Index> cuts_;
    Grid<Index> tree_ends_;
    Cube<double> pair_, turned_pair_;  // of the edges that are left, by the first block's place and by the second one's
    Neighbours neighbours_;
    std::vector<Index> weight_, room_;
    Index levels_;

    Grid<double> best_price_;
    Cube<double> best_split_;
    std::vector<Index> plan_, level_of_;

    Grid<double> priced_;         // [block][place]: costs with prices; infinite where a block may not go
    std::vector<double> table_;   // [block, place, level]: the tree below, with the block there in a piece of that weight
    std::vector<double> before_;  // the same of the parent, before this block was joined
    Grid<double> least_;          // [block][place]: over all levels
    Grid<double> away_;           // [block][parent's place]: the block somewhere else
    Grid<Index> away_at_;
    Grid<Index> cut_at_;          // [cut edge][end]: where the edge alone would be
    Grid<double> over_;           // [limit][place]
};

}  // namespace berth::exact
