// The cheapest walk over nodes whose sizes sum up to what is needed.
#pragma once

#include <optional>

#include "grid.hpp"
#include "memory.hpp"

namespace berth::exact {

// Lengths of the shortest paths between every two nodes.
Grid<double> closure(Grid<double> step);

// Walks that were reached, by the nodes that they visit and the one where they end.
class ReachedWalks {
  public:
    explicit ReachedWalks(Index words) : words_(words) { resize(1 << 10); }

    // Whether the same nodes and end were reached by no longer a walk; if not, remember this one.
    bool known(const std::vector<std::uint64_t>& visited, Index end, double length);

  private:
    static constexpr std::size_t MOST_SLOTS = 1 << 18;

    std::size_t slot_of(const std::uint64_t* visited, std::uint64_t end) const;
    void resize(std::size_t slots);

    Index words_;
    std::size_t filled_ = 0;
    std::vector<std::uint64_t> visited_;  // [slot, word]
    std::vector<std::uint64_t> end_;      // 0: nothing there yet
    std::vector<double> length_;
};

// A depth-first search, bounded by walks that remember near nodes only (ng-route relaxation).
//
// Nodes that were visited can be passed again: that collects nothing.
class WalkSearch {
  public:
    // `step` are the delays between nodes, `constant` is added to the length, `share` of the least costs makes no
    // difference.
    WalkSearch(Grid<double> step, std::vector<Index> sizes, Index needed, double constant, double share);

    void go_on(Index most_work);
    bool done() const { return done_; }
    double best() const { return constant_ + length_; }
    double bound() const;
    Index work() const { return work_; }
    // Every new node once; nothing where no walk is known.
    std::optional<std::vector<Index>> walk() const;

  private:
    struct Child {
        double bound;
        Index node;
        double length;
    };

    struct Level {
        Index node = 0;  // the one that was chosen here
        double length = 0.0;
        Index left = 0;
        bool expanded = false;
        std::vector<Child> children;
        std::size_t turn = 0;
    };

    void start_with_nearest();
    void keep_useful_nodes();
    void fill_rest();
    void expand(Level& level);
    void reach_from(Index visits);
    bool visited(Index node) const { return visited_[node >> 6] >> (node & 63) & 1; }
    void flip(Index node) { visited_[node >> 6] ^= std::uint64_t{1} << (node & 63); }
    double& rest(Index left, Index node, Index memory) {
        return rest_[((left * count_ + node) << memory_.bits()) + memory];
    }

    Grid<double> step_, shortest_;
    std::vector<Index> sizes_, nodes_;
    Index needed_, count_;
    double constant_, length_ = INFINITE, least_ = INFINITE, slack_ = 0.0;
    bool metric_ = false, done_ = false;
    Memory memory_;
    std::vector<double> rest_;  // a bound on what is left: [still needed, here, which near nodes were visited]
    std::vector<Index> walk_;
    std::vector<Level> levels_;
    Index depth_ = 0, work_ = 0;
    std::vector<std::uint64_t> visited_;
    ReachedWalks reached_;
    std::vector<double> reach_, inside_;
};

}  // namespace berth::exact
