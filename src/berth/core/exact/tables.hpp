// Costs that are sums over blocks and pairs of blocks, and limits that hold for sums of what blocks need.
#pragma once

#include "grid.hpp"

namespace berth::exact {

// Blocks on places; the arrays are numpy's.
struct Tables {
    SharedGrid<bool> allowed;   // [block][place]
    SharedGrid<double> cost;    // [block][place]: what a block there adds
    SharedGrid<Index> ends;     // [edge][2]: the blocks of each edge
    SharedCube<double> pair;    // [edge][place of the first block][place of the second one]: what both add
    SharedGrid<double> demand;  // [limit][block]
    SharedGrid<double> limit;   // [limit][place that stands for others]: what fits
    SharedGrid<Index> group;    // [limit][place]: the place whose limit counts

    Index blocks() const { return cost.rows(); }
    Index places() const { return cost.columns(); }
    Index edges() const { return ends.rows(); }
    Index limits() const { return demand.rows(); }
};

// The edges of every block.
struct Neighbours {
    struct Link {
        Index edge, block;
        bool first;  // whether the block whose list this is in is the first one of the edge
    };

    std::vector<std::vector<Link>> of;

    Neighbours(const GridView<const Index>& ends, Index blocks) : of(blocks) {
        for (Index edge = 0; edge < ends.rows(); ++edge) of[ends[edge][0]].push_back({edge, ends[edge][1], true});
        for (Index edge = 0; edge < ends.rows(); ++edge) of[ends[edge][1]].push_back({edge, ends[edge][0], false});
    }
};

}  // namespace berth::exact
