// Monte Carlo tree search over partial maps (paper 001, algorithms 1 and 2; with its errata repaired).
#pragma once

#include <limits>
#include <memory>

#include "partial_map.hpp"

namespace berth::packing {

// Costs that differ by less than this share of the bound are equal.
constexpr double equal_costs = 1e-12;

struct Rules {
    int samples;         // of a round
    int attempts;        // so many dead ends in a row end a round
    int patience;        // so many dead ends in a round end it once a map is known
    double exploration;  // omega
    double unit;         // what costs are divided by: the pessimistic bound, or 1 for the printed form
    double worst;        // the pessimistic bound after that division
    double all_traffic;
    double farthest;     // all traffic x the greatest distance
    bool printed;        // the paper's form
    std::size_t most_nodes;  // beyond, roll-outs start from the nodes that there are
};

class TreeSearch {
  public:
    // Every node is a partial map that differs from its parent's by one action.
    struct Node {
        double cost = 0.0;     // the sum over the visits
        int visits = 0;
        int action = -1;       // bin x kinds + kind
        int child = -1;        // the latest one
        int sibling = -1;      // the child of the same parent before it
        int untried = not_yet; // actions that must be tried before any child is visited again
        int biased = 0;        // actions without a reason that count as tried once, at the pessimistic bound
        bool closed = false;   // every way on from here is a dead end
    };

    TreeSearch(Case what, Rules rules, std::uint64_t seed);

    // At most so many roll-outs of a round; whether there are more to come.
    bool sample(int most);

    // Ends the round: the best child's action is decided. False: there is none.
    bool decide();

    std::size_t size() const { return tree_.size(); }
    std::size_t roll_outs() const { return roll_outs_; }
    std::size_t dead_ends() const { return dead_ends_; }
    int rounds() const { return static_cast<int>(root_.placed()); }
    const PartialMap& decided() const { return root_; }
    // The best of all maps that were seen; empty: none was.
    const std::vector<Action>& best() const { return best_; }
    const Case& what() const { return *case_; }

    const Node& start() const { return tree_[start_]; }
    const Node& node(int number) const { return tree_[number]; }
    int best_child() const;

  private:
    static constexpr int not_yet = -1;
    static constexpr int none = -1, by_prior = -2;

    int bins() const { return static_cast<int>(case_->bins()); }
    int kinds() const { return static_cast<int>(case_->kinds()); }
    int number(Action action) const { return action.bin * kinds() + action.kind; }
    Action action_of(const Node& node) const { return {node.action % kinds(), node.action / kinds()}; }

    int descend(PartialMap& map);
    int lowest_bound(int node) const;
    int expand(const PartialMap& map, int node);
    int any_untried(const PartialMap& map, int parent, Status wanted, int count);
    int best_untried(const PartialMap& map, int parent);
    double judge(const PartialMap& map);
    void tell(std::size_t depth, double cost);

    std::unique_ptr<const Case> case_;
    Rules rules_;
    Random random_;
    PartialMap root_;
    PartialMap map_;
    std::vector<Node> tree_;
    int start_ = 0;           // the node of the decisions so far
    std::vector<int> way_;    // the nodes of the latest descent
    std::vector<int> tried_;  // for each action the last node at which it was marked as tried
    std::size_t roll_outs_ = 0, dead_ends_ = 0;
    // Of this round.
    int done_ = 0, failed_in_a_row_ = 0, failed_ = 0;
    std::vector<Action> best_;
    double lowest_ = std::numeric_limits<double>::infinity();
    double lowest_rest_ = std::numeric_limits<double>::infinity();  // decides between maps of the same cost
};

}  // namespace berth::packing
