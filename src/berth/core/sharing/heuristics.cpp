#include "sharing/heuristics.hpp"

#include <utility>

#include "sharing/clock.hpp"

namespace berth::sharing {

Heuristic::Heuristic(State& state, std::vector<Index> order, HeuristicOptions options)
    : state_(state),
      case_(state.problem),
      order_(std::move(order)),
      options_(options),
      closed_(blocking() && options.relatives_of_chosen),
      bring_(options.direction == Direction::bottom_up && !closed_),
      chosen_for_(case_.network.count(), none) {}

bool Heuristic::run() {
    TimeSlice slice;
    while (next_ < order_.size() && stuck_at == none) {
        const Index op = order_[next_++];
        if (state_.status[op] == Status::wanted && !place(op)) {
            stuck_at = op;
            blocked_by = last_blocked_;
        }
        if (slice.over()) break;
    }
    return next_ == order_.size() || stuck_at != none;
}

bool Heuristic::place(Index op) {
    bool refused = false;
    if (options_.reuse && provided(op) && may_reuse(op)) {
        // A taker above leaves an operator wanted that feeds others, too: these are looked at next.
        while (state_.status[op] == Status::wanted && try_reuse(op)) {
        }
        if (state_.status[op] != Status::wanted) return true;
        // From above and at random, what exists elsewhere goes to a new processor then.
        refused = from_above();
    }
    for (const Index instance : case_.operators.instances(op)) {
        if (!refused && try_beside_relatives(instance)) continue;
        ++attempts;
        if (!try_new(instance)) return false;
    }
    return true;
}

// Whether an equal operator is computed elsewhere.
bool Heuristic::provided(Index op) const {
    for (const Index giver : case_.operators.equals(op))
        if (state_.can_reuse(op, giver)) return true;
    return false;
}

bool Heuristic::may_reuse(Index op) const {
    if (options_.direction == Direction::any) {
        for (const Index consumer : case_.operators.consumers[op])
            if (state_.status[consumer] == Status::wanted && !state_.placed(consumer)) return false;
    }
    if (options_.direction == Direction::climbing) {
        for (const Index input : case_.operators.inputs[op])
            for (const Index instance : case_.operators.instances(input))
                if (state_.node_of[instance] != none) return false;
    }
    return true;
}

// Takes the result of the first equal operator with which all constraints are kept.
bool Heuristic::try_reuse(Index op) {
    Index taker = op;
    for (bool climbing = options_.direction == Direction::climbing; climbing;) {
        climbing = false;
        for (const Index consumer : case_.operators.consumers[taker]) {
            if (state_.status[consumer] != Status::wanted || !provided(consumer)) continue;
            taker = consumer;
            climbing = true;
            break;
        }
    }
    for (const Index giver : case_.operators.equals(taker)) {
        if (!state_.can_reuse(taker, giver)) continue;
        ++attempts;
        state_.reuse(taker, giver);
        if (state_.holds()) {
            state_.keep();
            return true;
        }
        state_.undo();
    }
    return false;
}

bool Heuristic::try_beside_relatives(Index instance) {
    const Pairs& pairs = case_.pairs;
    if (from_above()) {
        for (const Index pair : pairs.from_instance[instance]) {
            const Index consumer = pairs.receiver[pair];
            if (!open_to_relatives(consumer)) continue;
            ++attempts;
            if (try_node(instance, state_.node_of[consumer], false)) return true;
        }
    }
    if (options_.direction != Direction::top_down) {
        for (const Index pair : pairs.to_instance[instance]) {
            const Index input = pairs.sender[pair];
            if (!open_to_relatives(input)) continue;
            ++attempts;
            if (try_node(instance, state_.node_of[input], bring_)) return true;
        }
    }
    return false;
}

// Whether an instance has a node, and what is next to it in its tree may join it there.
bool Heuristic::open_to_relatives(Index instance) const {
    const Index node = state_.node_of[instance];
    return node != none && (!closed_ || chosen_for_[node] == case_.instances.operator_of[instance]);
}

// Puts an instance on the best new processor or, with `retry`, on the best that can take it.
bool Heuristic::try_new(Index instance) {
    std::vector<bool> tried(case_.network.count(), false);
    last_blocked_ = none;
    do {
        const Index node = best_processor(instance, tried);
        if (node == none) return false;
        if (try_node(instance, node, bring_)) {
            if (chosen_for_[node] == none) chosen_for_[node] = case_.instances.operator_of[instance];
            return true;
        }
        tried[node] = true;
    } while (options_.retry);
    return false;
}

Index Heuristic::best_processor(Index instance, const std::vector<bool>& tried) const {
    const Index op = case_.instances.operator_of[instance];
    Index best = none;
    for (const Index node : Range(0, case_.network.count())) {
        if (tried[node] || !case_.rules.allows(op, node)) continue;
        if (blocking() && chosen_for_[node] != none) continue;
        if (best == none || worth(node) > worth(best)) best = node;
    }
    return best;
}

// What the choice looks at: the processor with the most of it is chosen.
double Heuristic::worth(Index node) const {
    switch (options_.processors) {
        case ProcessorChoice::fastest:
            return case_.network.speed[node];
        case ProcessorChoice::biggest_card:
            return case_.network.card[node];
        case ProcessorChoice::fastest_remaining:
            return state_.room(case_.processor(node));
        default:
            return state_.room(case_.card(node));
    }
}

// Computes an instance on a node if that keeps all constraints. With `bring`, results that it was to take from
// others, and that can't get there, are computed there, too.
bool Heuristic::try_node(Index instance, Index node, bool bring) {
    state_.move(instance, node);
    Index blocked = none;
    if (!state_.holds()) {
        blocked = state_.exceeded();
        if (bring) bring_inputs(case_.instances.operator_of[instance], node);
    }
    if (state_.holds()) {
        state_.keep();
        return true;
    }
    state_.undo();
    last_blocked_ = blocked;
    return false;
}

// Computes the reused inputs of an operator on its node, one after another, until all constraints hold.
void Heuristic::bring_inputs(Index op, Index node) {
    for (const Index input : case_.operators.inputs[op]) {
        if (state_.holds()) return;
        if (state_.status[input] != Status::reused) continue;
        state_.compute(input);
        std::vector<Index> wanted{input};
        while (!wanted.empty()) {
            const Index one = wanted.back();
            wanted.pop_back();
            if (state_.status[one] != Status::wanted) continue;
            for (const Index instance : case_.operators.instances(one))
                if (state_.node_of[instance] == none) state_.move(instance, node);
            const auto& feeding = case_.operators.inputs[one];
            wanted.insert(wanted.end(), feeding.begin(), feeding.end());
        }
    }
}

}  // namespace berth::sharing
