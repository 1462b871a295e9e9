// The changes that a search tries: moves of one or several instances, swaps, merging, splitting, other sources.
#include <algorithm>

#include "sharing/search.hpp"

namespace berth::sharing {

namespace {

constexpr int tries = 8;
// Instances of the largest cluster that moves at once.
constexpr Index largest_cluster = 24;

}  // namespace

bool Search::try_change() {
    const auto choice = random_.below(100);
    if (choice < 12) {
        const Index taker = drawn(case_.operators.count());
        if (state_.status[taker] != Status::reused || aims_.fixed[taker]) return false;
        return choice < 4 ? change_provider(taker) : split(taker);
    }
    const Index instance = touchable_instance();
    if (instance == none) return false;
    if (choice < 20) return merge(case_.instances.operator_of[instance]);
    if (choice < 25) return change_source(instance);
    return move_to_target(instance, choice);
}

bool Search::move_to_target(Index instance, std::int64_t choice) {
    const Index here = state_.node_of[instance], there = target(instance);
    if (there == here) return false;
    if (choice < 27) {
        empty_node(here, there, choice == 25);
    } else if (choice < 40) {
        return swap(instance);
    } else if (choice < 65) {
        for (const Index member : cluster(instance, 2 + drawn(largest_cluster - 1))) move_along(member, there);
    } else {
        move_along(instance, there);
    }
    return true;
}

bool Search::swap(Index instance) {
    const Index here = state_.node_of[instance], other = touchable_instance();
    if (other == none || state_.node_of[other] == here || !aims_.offered[here]) return false;
    const Index there = state_.node_of[other];
    state_.move(other, here);
    state_.move(instance, there);
    return true;
}

// An instance that is computed and may be touched, rather one on a node with too much to do.
Index Search::touchable_instance() {
    const bool choosy = !state_.holds() && drawn(2) == 0;
    Index found = none;
    for (int attempt = 0; attempt < 4 * tries; ++attempt) {
        const Index instance = drawn(case_.instances.count());
        if (state_.node_of[instance] == none || fixed(instance)) continue;
        found = instance;
        if (!choosy || strained(state_.node_of[instance])) break;
    }
    return found;
}

// Whether a node's processor, card or ports have too much to do.
bool Search::strained(Index node) const {
    const LoadNumbers& loads = case_.loads;
    for (const Index number : {case_.processor(node), case_.card(node), loads.send + node, loads.receive + node})
        if (case_.exceeds(state_.load[number].amount, number)) return true;
    return false;
}

// An instance that one receives from or sends to, also through those that take its result.
Index Search::neighbour(Index instance) {
    const Pairs& pairs = case_.pairs;
    const Operators& operators = case_.operators;
    for (int attempt = 0; attempt < tries; ++attempt) {
        if (drawn(2) == 0) {
            const auto& incoming = pairs.to_instance[instance];
            if (incoming.empty()) continue;
            return state_.supplier(pairs.sender[incoming[drawn(incoming.size())]]);
        }
        const Index op = case_.instances.operator_of[instance];
        const auto& equals = operators.equals(op);
        Index taker = equals[drawn(equals.size())];
        if (state_.provider[taker] != op) taker = op;
        const Index number = instance - operators.first_instance[op];
        const auto& outgoing = pairs.from_instance[operators.first_instance[taker] + number];
        if (!outgoing.empty()) return pairs.receiver[outgoing[drawn(outgoing.size())]];
    }
    return none;
}

// A node for an instance: where a neighbour is, where any other is, where it was, where an object is held, any one.
Index Search::target(Index instance) {
    const auto choice = random_.below(10);
    if (choice < 8) {
        const Index other = choice < 6 ? neighbour(instance) : drawn(case_.instances.count());
        const Index node = other == none ? none : state_.node_of[other];
        if (node != none && aims_.offered[node]) return node;
    } else if (choice == 8) {
        if (aims_.home[instance] != none) return aims_.home[instance];
        const Range reads = case_.objects.reads(case_.instances.operator_of[instance]);
        if (reads.size() > 0) {
            const auto& holders = case_.objects.holders[case_.objects.read_object[reads[drawn(reads.size())]]];
            const Index node = holders.empty() ? none : holders[drawn(holders.size())];
            if (node != none && aims_.offered[node]) return node;
        }
    }
    return any_node();
}

// Instances on one node that hang together, from one of them on.
std::vector<Index> Search::cluster(Index instance, Index size) {
    std::vector<Index> found{instance};
    for (Index attempt = 0; attempt < 3 * size && static_cast<Index>(found.size()) < size; ++attempt) {
        const Index other = neighbour(found[drawn(found.size())]);
        if (other == none || state_.node_of[other] != state_.node_of[instance] || fixed(other)) continue;
        if (std::find(found.begin(), found.end(), other) == found.end()) found.push_back(other);
    }
    return found;
}

// Moves an instance, and with it what must be on the same node.
void Search::move_along(Index instance, Index node) {
    std::vector<Index> waiting{instance};
    while (!waiting.empty()) {
        const Index one = waiting.back();
        waiting.pop_back();
        state_.move(one, node);
        for (const Index companion : case_.rules.companions[one]) {
            const Index where = state_.node_of[companion];
            if (where != none && where != node && !fixed(companion)) waiting.push_back(companion);
        }
    }
}

// What is on a node goes to another one; with `swap` also the other way round.
void Search::empty_node(Index here, Index there, bool swap) {
    for (const Index instance : Range(0, case_.instances.count())) {
        if (fixed(instance)) continue;
        if (state_.node_of[instance] == here)
            state_.move(instance, there);
        else if (swap && state_.node_of[instance] == there)
            state_.move(instance, here);
    }
}

// Takes an equal result instead of computing it; those that took it from here take it from there, too.
bool Search::merge(Index op) {
    const Operators& operators = case_.operators;
    const auto& equals = operators.equals(op);
    if (equals.size() < 2 || !operators.shareable[op]) return false;
    const std::size_t start = drawn(equals.size());
    for (std::size_t step = 0; step < equals.size(); ++step) {
        const Index other = equals[(start + step) % equals.size()];
        if (other == op || state_.status[other] != Status::wanted || !state_.placed(other)) continue;
        if (operators.parallelism(other) != operators.parallelism(op)) continue;
        for (const Index taker : equals)
            if (state_.status[taker] == Status::reused && state_.provider[taker] == op) state_.reuse(taker, other);
        // Perhaps nobody else needed it.
        if (state_.status[op] == Status::wanted && state_.can_reuse(op, other)) state_.reuse(op, other);
        return true;
    }
    return false;
}

// Computes what was reused where one of its consumers is, or on a node by chance.
bool Search::split(Index taker) {
    const auto& consumers = case_.operators.consumers[taker];
    Index node = none;
    if (!consumers.empty())
        node = state_.node_of[case_.operators.first_instance[consumers[drawn(consumers.size())]]];
    if (node == none || !aims_.offered[node]) node = any_node();
    compute_at(taker, node);
    return true;
}

// Computes what was reused on a node; what feeds it is reused where it is computed, else comes along.
void Search::compute_at(Index op, Index node) {
    state_.compute(op);
    std::vector<Index> waiting{op};
    while (!waiting.empty()) {
        const Index one = waiting.back();
        waiting.pop_back();
        if (state_.status[one] != Status::wanted || state_.placed(one)) continue;
        if (one != op && state_.reuse_any(one)) continue;
        state_.move_operator(one, node);
        const auto& inputs = case_.operators.inputs[one];
        waiting.insert(waiting.end(), inputs.begin(), inputs.end());
    }
}

// Takes a result from another equal operator.
bool Search::change_provider(Index taker) {
    const auto& equals = case_.operators.equals(taker);
    const std::size_t start = drawn(equals.size());
    for (std::size_t step = 0; step < equals.size(); ++step) {
        const Index other = equals[(start + step) % equals.size()];
        if (other == state_.provider[taker] || !state_.can_reuse(taker, other)) continue;
        state_.reuse(taker, other);
        return true;
    }
    return false;
}

// Downloads an object from another holder.
bool Search::change_source(Index instance) {
    const Index node = state_.node_of[instance];
    const Range reads = case_.objects.reads(case_.instances.operator_of[instance]);
    if (reads.size() == 0) return false;
    const Index object = case_.objects.read_object[reads[drawn(reads.size())]];
    const Download& now = state_.download[state_.download_number(object, node)];
    const auto& holders = case_.objects.holders[object];
    if (now.rate < 0.0 || now.source == none || holders.size() < 2) return false;
    const Index source = holders[drawn(holders.size())];
    if (source == now.source || !case_.network.connected[case_.network.pair(source, node)]) return false;
    state_.set_source(object, node, source);
    return true;
}

}  // namespace berth::sharing
