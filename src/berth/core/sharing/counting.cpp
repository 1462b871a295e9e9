// What counts once: equal computations on a node, equal results between two nodes, the download of an object.
#include <limits>

#include "sharing/state.hpp"

namespace berth::sharing {

void State::uncount_computation(Index computation, Index node) {
    for (const Index instance : problem.instances.of_computation[computation]) {
        if (node_of[instance] != node) continue;
        for (const Index number : problem.needs(instance)) {
            const double amount = held[number];
            if (amount == 0.0) continue;
            held.at(number) = 0.0;
            add_load(problem.load_of(problem.need[number].limit, node), -amount);
        }
    }
}

// At the highest need of those on the node.
void State::count_computation(Index computation, Index node) {
    const auto& members = problem.instances.of_computation[computation];
    const Index width = problem.needs(members[0]).size();
    for (const Index column : Range(0, width)) {
        const Index limit = problem.need[problem.needs(members[0])[column]].limit;
        if (!problem.place_limits[limit].once) continue;
        double highest = 0.0;
        Index holder = none;
        for (const Index instance : members) {
            if (node_of[instance] != node) continue;
            const Index number = problem.needs(instance)[column];
            const double amount = needed(instance, problem.need[number]);
            if (amount > highest) {
                highest = amount;
                holder = number;
            }
        }
        if (holder == none) continue;
        held.at(holder) = highest;
        add_load(problem.load_of(limit, node), highest);
    }
}

double State::needed(Index instance, const Need& need) const {
    if (!problem.place_limits[need.limit].by_throughput) return need.amount;
    const double asked = throughput[problem.instances.operator_of[instance]] * need.amount;
    return std::max(asked, problem.instances.fixed_load[instance]);
}

// An instance that one core of its node can't keep up with.
void State::count_core(Index instance, Index node, int sign) {
    const Range needs = problem.needs(instance);
    // processors are the first limit
    if (needs.size() == 0 || problem.need[needs[0]].limit != 0) return;
    const double load = needed(instance, problem.need[needs[0]]);
    if (problem.is_above(load, problem.network.core[node])) add_load(problem.loads.overworked, sign);
}

// An instance that is where it may not be, alone or beside others, and limits of which every instance takes its part.
void State::count_rules(Index instance, Index node, int sign) {
    if (node == none) return;
    const Rules& rules = problem.rules;
    if (!rules.allows(problem.instances.operator_of[instance], node)) add_load(problem.loads.misplaced, sign);
    count_core(instance, node, sign);
    for (const Index companion : rules.companions[instance]) {
        const Index other = node_of[companion];
        if (other != none && other != node) add_load(problem.loads.separated, sign);
    }
    for (const Index number : problem.needs(instance)) {
        const Need& need = problem.need[number];
        if (!problem.place_limits[need.limit].once)
            add_load(problem.load_of(need.limit, node), sign * needed(instance, need));
    }
}

// Bytes per second from the sender's stand-in to the receiver.
double State::pair_rate(Index pair) const {
    const Pairs& pairs = problem.pairs;
    const double results = throughput[problem.instances.operator_of[pairs.receiver[pair]]];
    return pairs.fixed_rate[pair] + pairs.rate_per_result[pair] * std::max(results, 0.0);
}

Index State::supplier(Index instance) const {
    const Index op = problem.instances.operator_of[instance];
    const auto& first = problem.operators.first_instance;
    return first[provider[op]] + instance - first[op];
}

void State::uncount_result(Index result, Index from, Index to) {
    for (const Index pair : problem.pairs.of_result[result]) {
        const Crossing& now = crossing[pair];
        if (now.from != from || now.to != to || now.rate < 0.0) continue;
        const double rate = now.rate;
        crossing.at(pair).rate = -1.0;
        add_flow(from, to, rate, -1);
        add_port_shares(from, to, rate, -1);
    }
}

// At the highest rate of those that cross there.
void State::count_result(Index result, Index from, Index to) {
    double highest = -1.0;
    Index holder = none;
    for (const Index pair : problem.pairs.of_result[result]) {
        if (crossing[pair].from != from || crossing[pair].to != to) continue;
        const double rate = pair_rate(pair);
        if (rate > highest) {
            highest = rate;
            holder = pair;
        }
    }
    if (holder == none) return;
    crossing.at(holder).rate = highest;
    add_flow(from, to, highest, 1);
    add_port_shares(from, to, highest, 1);
}

// By where the ends of a pair are now, and by its rate now.
void State::recount_pair(Index pair) {
    Index from = node_of[supplier(problem.pairs.sender[pair])];
    Index to = node_of[problem.pairs.receiver[pair]];
    if (from == none || to == none || from == to) from = to = none;
    const Index result = problem.pairs.result[pair];
    const Crossing before = crossing[pair];
    if (before.from != none) uncount_result(result, before.from, before.to);
    if (before.from != from || before.to != to) {
        crossing.at(pair).from = none;
        if (before.from != none) count_result(result, before.from, before.to);
        if (from != none) uncount_result(result, from, to);
        crossing.at(pair).from = from;
        crossing.at(pair).to = to;
    }
    if (from != none) count_result(result, from, to);
}

void State::recount_inputs(Index instance) {
    for (const Index pair : problem.pairs.to_instance[instance]) recount_pair(pair);
}

// All that an instance sends, to its own consumers and to those of operators that take its result.
void State::recount_outputs(Index instance) {
    const Index op = problem.instances.operator_of[instance];
    const Index number = instance - problem.operators.first_instance[op];
    for (const Index other : problem.operators.equals(op)) {
        if (other != op && !(status[other] == Status::reused && provider[other] == op)) continue;
        const Index sender = problem.operators.first_instance[other] + number;
        for (const Index pair : problem.pairs.from_instance[sender]) recount_pair(pair);
    }
}

// The source is chosen when a node first needs the object, and stays as long as it does.
void State::recount_download(Index object, Index node) {
    const Objects& objects = problem.objects;
    if (objects.holds(node, object)) return;
    double rate = -1.0;
    for (const auto& reader : objects.readers[object])
        if (node_of[reader.instance] == node) rate = std::max(rate, read_rate[reader.read]);
    const std::size_t number = download_number(object, node);
    const Download before = download[number];
    if (rate == before.rate) return;
    if (before.rate >= 0.0) {
        if (before.source != none)
            add_flow(before.source, node, before.rate, -1);
        else
            add_load(problem.loads.unfetched, -1.0);
    }
    if (rate < 0.0) {
        download.at(number) = Download{};
        return;
    }
    const Index source = before.rate < 0.0 ? best_source(object, node) : before.source;
    download.at(number) = {rate, source};
    if (source != none)
        add_flow(source, node, rate, 1);
    else
        add_load(problem.loads.unfetched, 1.0);
}

// The linked holder with the most room on its card and on the way, the first one if several.
Index State::best_source(Index object, Index node) const {
    const Network& network = problem.network;
    Index best = none;
    double most = -std::numeric_limits<double>::infinity();
    for (const Index holder : problem.objects.holders[object]) {
        if (!network.connected[network.pair(holder, node)]) continue;
        const double left = std::min(room(problem.card(holder)), room_between(holder, node));
        if (best == none || left > most) {
            best = holder;
            most = left;
        }
    }
    return best;
}

void State::set_source(Index object, Index node, Index source) {
    const std::size_t number = download_number(object, node);
    const Download before = download[number];
    if (before.rate < 0.0 || before.source == none) return;
    add_flow(before.source, node, before.rate, -1);
    download.at(number).source = source;
    add_flow(source, node, before.rate, 1);
}

}  // namespace berth::sharing
