#include "tree_search.hpp"

#include <algorithm>
#include <cmath>

namespace berth::packing {

constexpr double infinity = std::numeric_limits<double>::infinity();

TreeSearch::TreeSearch(Case what, Rules rules, std::uint64_t seed)
    : case_(std::make_unique<const Case>(std::move(what))),
      rules_(rules),
      random_(seed),
      root_(*case_),
      map_(*case_),
      tree_(1),
      tried_(case_->kinds() * case_->bins(), -1) {}

bool TreeSearch::sample(int most) {
    for (int number = 0; number < most; ++number) {
        if (done_ >= rules_.samples || failed_in_a_row_ >= rules_.attempts || start().closed) return false;
        if (failed_ >= rules_.patience && lowest_ < infinity && !rules_.printed) return false;
        map_ = root_;
        const int depth = descend(map_);
        ++roll_outs_;
        const bool whole = map_.whole();
        double cost = infinity;
        if (depth >= 0) {
            map_.roll_out(random_);
            if (map_.whole()) cost = judge(map_);
        }
        if (cost < infinity && (cost > 0.0 || !rules_.printed)) {
            ++done_;
            failed_in_a_row_ = 0;
            tell(way_.size(), cost / rules_.unit);
            continue;
        }
        ++failed_in_a_row_;
        ++failed_;
        ++dead_ends_;
        if (whole && cost == infinity) tree_[way_.back()].closed = true;
        if (!rules_.printed) tell(way_.size(), rules_.worst);
    }
    return true;
}

bool TreeSearch::decide() {
    done_ = failed_in_a_row_ = failed_ = 0;
    const int chosen = best_child();
    if (chosen < 0) return false;
    start_ = chosen;
    root_.place(action_of(tree_[chosen]));
    return true;
}

// Goes down to a new node, or to a whole map; the depth, or -1 where there is no way on.
int TreeSearch::descend(PartialMap& map) {
    int node = start_;
    way_.assign(1, node);
    while (!map.whole()) {
        if (map.hopeless()) {
            tree_[node].closed = true;
            return -1;
        }
        if (tree_[node].untried == not_yet) {
            // those with a reason come first if there are any, else all
            const bool reason = map.actions(preferred) > 0;
            tree_[node].untried = map.actions(reason ? preferred : plain);
            tree_[node].biased = reason ? map.actions(plain) : 0;
        }
        bool expands = tree_[node].untried > 0;
        int following = none;
        if (!expands) {
            following = lowest_bound(node);
            if (following == none) {
                tree_[node].closed = true;
                return -1;
            }
            expands = following == by_prior;
        }
        if (expands) {
            if (tree_.size() == rules_.most_nodes) break;
            following = expand(map, node);
        }
        map.place(action_of(tree_[following]));
        node = following;
        way_.push_back(node);
        if (expands) break;
    }
    return static_cast<int>(way_.size()) - 1;
}

// The child with the lowest confidence bound; by_prior: an action that is tried by the prior only.
int TreeSearch::lowest_bound(int parent) const {
    const Node& node = tree_[parent];
    const double spread = rules_.exploration * std::sqrt(2.0 * std::log(std::max(node.visits, 1)));
    const int more = rules_.printed ? 1 : 0;
    double best = infinity;
    int found = none;
    if (node.biased > 0) {
        best = rules_.worst / (1 + more) - spread;
        found = by_prior;
    }
    for (int number = node.child; number >= 0; number = tree_[number].sibling) {
        const Node& child = tree_[number];
        if (child.closed) continue;
        const double value =
            child.visits > 0 ? child.cost / (child.visits + more) - spread / std::sqrt(child.visits) : -infinity;
        const bool tied = found >= 0 && value == best;
        if (value < best || found == none || (tied && child.action < tree_[found].action)) {
            best = value;
            found = number;
        }
    }
    return found;
}

// A new child by the preferred policy among the actions that are not tried yet.
int TreeSearch::expand(const PartialMap& map, int parent) {
    const bool biased = tree_[parent].untried == 0;
    for (int child = tree_[parent].child; child >= 0; child = tree_[child].sibling) {
        tried_[tree_[child].action] = parent;
    }
    const Status wanted = map.actions(preferred) > 0 && !biased ? preferred : plain;
    Node node;
    node.action = wanted == preferred && case_->ranked()
                      ? best_untried(map, parent)
                      : any_untried(map, parent, wanted, biased ? tree_[parent].biased : tree_[parent].untried);
    node.sibling = tree_[parent].child;
    if (biased) {
        --tree_[parent].biased;
        node.visits = 1;
        node.cost = rules_.worst;
    } else {
        --tree_[parent].untried;
    }
    tree_.push_back(node);
    tree_[parent].child = static_cast<int>(tree_.size()) - 1;
    return tree_[parent].child;
}

// One of so many actions that are not tried yet, each equally likely.
int TreeSearch::any_untried(const PartialMap& map, int parent, Status wanted, int count) {
    auto nth = random_.below(count);
    for (int bin = 0; bin < bins(); ++bin) {
        if (map.actions_in(bin, wanted) == 0) continue;
        for (int kind = 0; kind < kinds(); ++kind) {
            const int action = number({kind, bin});
            if (map.status(bin, kind) == wanted && tried_[action] != parent && nth-- == 0) return action;
        }
    }
    return none;
}

// One of those with the highest score.
int TreeSearch::best_untried(const PartialMap& map, int parent) {
    BestAction best(random_);
    for (int bin = 0; bin < bins(); ++bin) {
        for (int kind = 0; kind < kinds(); ++kind) {
            if (map.status(bin, kind) != preferred || tried_[number({kind, bin})] == parent) continue;
            best.offer({kind, bin}, map.score(bin, kind));
        }
    }
    return number(best.chosen);
}

// What a whole map costs; the best one is kept, of equal ones that with less of what doesn't count.
double TreeSearch::judge(const PartialMap& map) {
    const double crossing = map.crossing(rules_.all_traffic);
    const double cost =
        crossing < infinity ? case_->per_traffic * crossing + case_->per_bin * map.opened() : infinity;
    const double rest = crossing / std::max(rules_.farthest, 1e-300) + map.opened() / static_cast<double>(case_->bins());
    const double margin = equal_costs * rules_.unit * rules_.worst;
    const bool same = cost <= lowest_ + margin && rest < lowest_rest_ * (1.0 - equal_costs);
    if (cost < lowest_ - margin || same) {
        lowest_ = cost;
        lowest_rest_ = rest;
        best_.assign(map.path().begin(), map.path().end());
    }
    return cost;
}

// Tells the nodes of a descent what it cost; the printed form stops before the root.
void TreeSearch::tell(std::size_t length, double cost) {
    for (std::size_t level = rules_.printed ? 1 : 0; level < length; ++level) {
        tree_[way_[level]].visits += 1;
        tree_[way_[level]].cost += cost;
    }
}

// The child with the lowest mean; ties: more visits, then the smaller action. -1: none.
int TreeSearch::best_child() const {
    const int more = rules_.printed ? 1 : 0;
    int found = none;
    double best = infinity;
    for (int number = start().child; number >= 0; number = tree_[number].sibling) {
        const Node& child = tree_[number];
        if (child.visits == 0 || child.closed) continue;
        const double mean = child.cost / (child.visits + more);
        const bool tied = found >= 0 && mean == best;
        const bool before = tied && (child.visits != tree_[found].visits ? child.visits > tree_[found].visits
                                                                        : child.action < tree_[found].action);
        if (mean < best || before) {
            found = number;
            best = mean;
        }
    }
    return found;
}

}  // namespace berth::packing
