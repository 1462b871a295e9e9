// Taking results instead of computing them. Reuse raises rates: a provider, and all that feeds it, keeps up with the
// fastest that takes its result.
//
// A match (wanting, giving) says that the needs of the first operator fall to the second. A reuse is one. A match of
// two operators makes matches of their equal inputs, with those that stand for the inputs of the second. Matches are
// counted by the ways that lead to them, so that they can be taken back in any order.
#include <utility>

#include "sharing/state.hpp"

namespace berth::sharing {

bool State::can_reuse(Index taker, Index giver) const {
    const Operators& operators = problem.operators;
    if (taker == giver || operators.kind[taker] != operators.kind[giver]) return false;
    if (!operators.shareable[taker] || status[taker] == Status::skipped || status[giver] != Status::wanted)
        return false;
    if (operators.parallelism(taker) != operators.parallelism(giver)) return false;
    return placed(giver) && takers(taker) == 0;
}

Index State::takers(Index giver) const {
    Index count = 0;
    for (const Index other : problem.operators.equals(giver))
        count += other != giver && status[other] == Status::reused && provider[other] == giver;
    return count;
}

void State::reuse(Index taker, Index giver) {
    ++uses.at(giver);
    std::vector<Index> waiting;
    if (status[taker] == Status::reused) {
        waiting.push_back(provider[taker]);
    } else {
        withdraw(taker);
        const auto& inputs = problem.operators.inputs[taker];
        waiting.assign(inputs.begin(), inputs.end());
    }
    status.at(taker) = Status::reused;
    set_provider(taker, giver);
    for (const Index instance : problem.operators.instances(giver)) recount_outputs(instance);
    while (!waiting.empty()) {
        const Index next = waiting.back();
        waiting.pop_back();
        use_less(next, waiting);
    }
}

bool State::reuse_any(Index taker) {
    for (const Index giver : problem.operators.equals(taker)) {
        if (!can_reuse(taker, giver)) continue;
        reuse(taker, giver);
        return true;
    }
    return false;
}

// Takes a wanted operator from its nodes, and off the list of those that need one.
void State::withdraw(Index op) {
    move_operator(op, none);
    counters_.unplaced -= problem.operators.parallelism(op);
}

// One use less of an operator. Without any it is skipped, and what it used itself is added to `waiting`.
void State::use_less(Index op, std::vector<Index>& waiting) {
    const Operators& operators = problem.operators;
    const bool is_result = operators.consumers[op].empty();
    if (--uses.at(op) > 0 || is_result) return;
    if (status[op] == Status::wanted) {
        withdraw(op);
        const auto& inputs = operators.inputs[op];
        waiting.insert(waiting.end(), inputs.begin(), inputs.end());
    } else {
        waiting.push_back(provider[op]);
        set_provider(op, op);
    }
    status.at(op) = Status::skipped;
}

void State::compute(Index op) {
    if (status[op] != Status::reused) return;
    const Operators& operators = problem.operators;
    const Index giver = provider[op];
    set_provider(op, op);
    status.at(op) = Status::wanted;
    for (const Index instance : operators.instances(op)) recount_outputs(instance);
    std::vector<Index> wanted{op};
    while (!wanted.empty()) {
        const Index one = wanted.back();
        wanted.pop_back();
        counters_.unplaced += operators.parallelism(one);
        for (const Index input : operators.inputs[one]) {
            ++uses.at(input);
            if (status[input] == Status::skipped) {
                status.at(input) = Status::wanted;
                wanted.push_back(input);
            }
        }
    }
    std::vector<Index> waiting{giver};
    while (!waiting.empty()) {
        const Index next = waiting.back();
        waiting.pop_back();
        use_less(next, waiting);
    }
}

// Lets another operator stand for one, itself to end a reuse; all needs move along.
void State::set_provider(Index taker, Index giver) {
    const Operators& operators = problem.operators;
    const Index before = provider[taker];
    for (const auto& [giving, sign] : {std::pair{giver, 1}, std::pair{before, -1}}) {
        if (giving != taker) add_match(taker, giving, sign);
        for (const Index consumer : operators.consumers[taker])
            for (const Index wanting : operators.equals(consumer)) {
                if (!matched(wanting, consumer)) continue;
                for (const Index input : operators.inputs[wanting])
                    if (operators.kind[input] == operators.kind[taker]) add_match(input, giving, sign);
            }
    }
    provider.at(taker) = giver;
}

// Counts a match once more (sign 1) or less (-1), and with it those that it makes or unmakes.
void State::add_match(Index wanting, Index giving, int sign) {
    const Operators& operators = problem.operators;
    std::vector<std::pair<Index, Index>> waiting{{wanting, giving}};
    while (!waiting.empty()) {
        const auto [wants, gives] = waiting.back();
        waiting.pop_back();
        Index& count = matches.at(operators.match(wants, gives));
        const Index before = count;
        count += sign;
        if (before != 0 && count != 0) continue;
        lift(gives);
        for (const Index input : operators.inputs[wants])
            for (const Index feeding : operators.inputs[gives])
                if (operators.kind[input] == operators.kind[feeding]) waiting.emplace_back(input, provider[feeding]);
    }
}

// Sets the throughput and the reads of an operator by its matches; what depends on them is counted anew.
void State::lift(Index op) {
    const Operators& operators = problem.operators;
    const Objects& objects = problem.objects;
    double raised = operators.throughput[op];
    for (const Index wanting : operators.equals(op))
        if (matched(wanting, op)) raised = std::max(raised, operators.throughput[wanting]);
    if (raised != throughput[op]) set_throughput(op, raised);
    const Range reads = objects.reads(op);
    for (const Index position : Range(0, reads.size())) {
        double rate = objects.read_rate[reads[position]];
        for (const Index wanting : operators.equals(op))
            if (matched(wanting, op)) rate = std::max(rate, objects.read_rate[objects.reads(wanting)[position]]);
        if (rate == read_rate[reads[position]]) continue;
        read_rate.at(reads[position]) = rate;
        for (const Index instance : operators.instances(op))
            if (node_of[instance] != none)
                recount_download(objects.read_object[reads[position]], node_of[instance]);
    }
}

// Changes an operator's throughput: its work, and what it receives.
void State::set_throughput(Index op, double raised) {
    const auto& computation = problem.instances.computation;
    for (const Index instance : problem.operators.instances(op)) {
        if (node_of[instance] == none) continue;
        uncount_computation(computation[instance], node_of[instance]);
        count_core(instance, node_of[instance], -1);
    }
    throughput.at(op) = raised;
    for (const Index instance : problem.operators.instances(op)) {
        if (node_of[instance] == none) continue;
        count_core(instance, node_of[instance], 1);
        count_computation(computation[instance], node_of[instance]);
        recount_inputs(instance);
    }
}

}  // namespace berth::sharing
