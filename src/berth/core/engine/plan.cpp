#include "plan.hpp"

#include <cmath>

namespace berth::engine {

namespace {

// What a missing link counts among what is broken.
constexpr double MISSING_LINK = 2.0;
// What a factor e of missing availability counts.
constexpr double UNAVAILABLE = 20.0;
// The share of a link without any bandwidth.
constexpr double MOST_SHARE = 1e6;
constexpr double FULL = 1.0 + TOLERANCE;

}  // namespace

Plan::Plan(const Case& problem)
    : case_(problem),
      node_of_(problem.blocks.size(), NOWHERE),
      where_{std::vector<Index>(problem.paths.instances(), NOWHERE), std::vector<Index>(problem.nodes(), 0)},
      first_on_(problem.nodes(), NOWHERE),
      next_on_node_(problem.blocks.size(), NOWHERE),
      previous_on_node_(problem.blocks.size(), NOWHERE),
      node_load_(static_cast<std::size_t>(problem.nodes()) * problem.limits.by_node.count, 0.0),
      place_load_(problem.limits.loads, 0.0),
      card_load_(problem.nodes(), 0.0),
      sending_(problem.nodes(), 0.0),
      receiving_(problem.nodes(), 0.0),
      link_load_(problem.links.physical_bandwidth.size(), 0.0),
      machine_load_(problem.processing.processors.size(), 0.0),
      log_availability_of_(problem.paths.applications(), 0.0),
      longest_(problem.paths.applications(), 0.0),
      slowest_(problem.paths.applications(), 0) {
    if (problem.keeps_table) {
        table_.resize(static_cast<std::size_t>(problem.blocks.size()) * problem.nodes());
        empty_table();
    }
    if (problem.counts_response_time) {
        times_.emplace(problem, where_);
    }
    if (problem.counts_loaded) {
        loaded_times_.emplace(problem, where_);
    }
}

double Plan::value_of(const Totals& totals) const {
    const Weights& weights = case_.weights;
    double total = totals.cost + weights.response_time * totals.response_time +
                   weights.response_time_sum * totals.response_time_sum +
                   weights.busiest_machine * totals.busiest_machine +
                   weights.loaded_response_time * totals.loaded_response_time +
                   weights.busiest_link * totals.busiest_link + weights.log_availability * totals.log_availability;
    if (weights.availability != 0.0) {
        total += weights.availability * std::exp(totals.log_availability);
    }
    return total;
}

void Plan::clear() {
    for (auto* nodes : {&node_of_, &where_.node_of_instance, &first_on_}) {
        std::fill(nodes->begin(), nodes->end(), NOWHERE);
    }
    std::fill(where_.hosted.begin(), where_.hosted.end(), 0);
    for (auto* loads : {&node_load_, &place_load_, &card_load_, &sending_, &receiving_, &link_load_,
                        &machine_load_, &log_availability_of_}) {
        std::fill(loads->begin(), loads->end(), 0.0);
    }
    totals_ = {};
    made_.clear();
    if (case_.keeps_table) {
        empty_table();
    }
}

void Plan::place(std::span<const Index> nodes) {
    const std::vector<Index> wanted(nodes.begin(), nodes.end());
    clear();
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        place_block(block, wanted[block]);
    }
    complete();
}

void Plan::place_block(Index block, Index node) {
    shift(block, node, change_of(block, node));
    if (case_.keeps_table) {
        follow_table(block, NOWHERE);
    }
}

void Plan::complete() {
    if (loaded_times_) {
        loaded_times_->compute();
        totals_.loaded_response_time = loaded_times_->done[loaded_times_->slowest(0, case_.paths.instances())];
    }
    if (times_) {
        times_->compute();
        totals_.response_time_sum = 0.0;
        for (Index application = 0; application < case_.paths.applications(); ++application) {
            longest_[application] = 0.0;
            find_longest(application);
        }
        find_worst();
    }
    find_busiest();
}

// What a move changes, without making it.

double Plan::limit_change(Index block, Index from, Index to) const {
    const NodeLimits& limits = case_.limits.by_node;
    const std::size_t count = limits.count;
    const double* needed = limits.needed.data() + block * count;
    double total = 0.0;
    for (std::size_t limit = 0; limit < count; ++limit) {
        const double need = needed[limit], unit = limits.unit[limit];
        if (need == 0.0) {
            continue;
        }
        if (from >= 0) {
            const double there = node_load_[from * count + limit], room = limits.room[from * count + limit];
            total += beyond(there - need, room, unit) - beyond(there, room, unit);
        }
        const double there = node_load_[to * count + limit], room = limits.room[to * count + limit];
        total += beyond(there + need, room, unit) - beyond(there, room, unit);
    }
    return case_.limits.by_place.empty() ? total : total + place_limit_change(block, from, to);
}

double Plan::place_limit_change(Index block, Index from, Index to) const {
    double total = 0.0;
    for (const auto& need : case_.limits.needs[block]) {
        const PlaceLimit& limit = case_.limits.by_place[need.limit];
        const auto& place_of_node = case_.limits.place_of_node[limit.places];
        const Index entered = place_of_node[to], left = from >= 0 ? place_of_node[from] : NOWHERE;
        if (entered == left) {
            continue;
        }
        const double there = place_load(limit, entered), room = limit.room[entered];
        total += beyond(there + need.needed, room, limit.unit) - beyond(there, room, limit.unit);
        if (left != NOWHERE) {
            const double former = place_load(limit, left), former_room = limit.room[left];
            total += beyond(former - need.needed, former_room, limit.unit) - beyond(former, former_room, limit.unit);
        }
    }
    return total;
}

double Plan::place_load(const PlaceLimit& limit, Index place) const {
    if (limit.keeps_loads) {
        return place_load_[limit.first_load + place];
    }
    const auto& place_of_node = case_.limits.place_of_node[limit.places];
    double total = 0.0;
    for (const auto& member : limit.members) {
        const Index node = node_of_[member.block];
        if (node >= 0 && place_of_node[node] == place) {
            total += member.needed;
        }
    }
    return total;
}

Plan::Exchange Plan::exchange(Index block, Index node) const {
    const Links& links = case_.links;
    const bool is_placed = node_of_[block] >= 0;
    Exchange all;
    for (const auto& stream : case_.streams[block]) {
        const Index there = node_of_[stream.other];
        if (there < 0) {
            continue;
        }
        const Index sender = stream.sends ? node : there, receiver = stream.sends ? there : node;
        if (links.counts_flow) {
            all.cost += stream.rate * links.flow_between(sender, receiver);
        }
        if (case_.counts_availability) {
            all.log_availability += stream.pairs * links.log_availability_between(sender, receiver);
        }
        if (links.may_lack() && !links.linked_between(sender, receiver)) {
            all.broken += MISSING_LINK;
        }
        if (there != node) {
            all.card_balance += stream.rate;
        } else if (is_placed) {
            all.card_balance -= stream.rate;
        }
    }
    return all;
}

Change Plan::change_of(Index block, Index to) const {
    const Index from = node_of_[block], size = case_.blocks.members_of(block);
    Change change;
    change.broken = limit_change(block, from, to);
    const auto at = [&](Index node, double sign, Index hosted_if_alone) {
        Exchange streams;
        double cost = 0.0;
        if (case_.keeps_table) {
            cost = table_cost(block, node);
        } else {
            streams = exchange(block, node);
            cost = streams.cost + case_.own_cost(block, node);
        }
        if (where_.hosted[node] == hosted_if_alone) {
            cost += case_.machines.cost_of_use[node];
        }
        change.cost += sign * cost;
        change.log_availability += sign * (streams.log_availability + size * case_.machines.log_availability[node]);
        change.broken += sign * streams.broken;
        if (case_.machines.cards_count) {
            // Only the two nodes of the move see a difference.
            const double used = card_load_[node], limit = case_.machines.card[node];
            change.broken += beyond(used + sign * streams.card_balance, limit, case_.rate_unit) -
                             beyond(used, limit, case_.rate_unit);
        }
    };
    at(to, 1.0, 0);
    if (from >= 0) {
        at(from, -1.0, size);
    }
    if (case_.counts_availability) {
        const Index application = case_.blocks.application[block];
        const double least = case_.paths.least_log_availability[application];
        const double there = log_availability_of_[application];
        if (std::isfinite(least)) {
            change.broken +=
                UNAVAILABLE * (beyond(least, there + change.log_availability, 1.0) - beyond(least, there, 1.0));
        }
    }
    return change;
}

// Moves that are made.

void Plan::make(Index block, Index node, const Change& change) {
    if (made_.empty()) {
        settled_ = totals_;
    }
    made_.push_back({block, node_of_[block], change.log_availability});
    shift(block, node, change);
    find_busiest();
}

void Plan::settle() {
    if (case_.keeps_table) {
        for (const Made& made : made_) {
            follow_table(made.block, made.from);
        }
    }
    settle_times();
    made_.clear();
}

void Plan::take_back() {
    if (made_.empty()) {
        return;
    }
    while (!made_.empty()) {
        const Made last = made_.back();
        made_.pop_back();
        shift(last.block, last.from, {0.0, -last.log_availability, 0.0});
    }
    totals_ = settled_;
}

void Plan::move(Index block, Index node) {
    if (node != node_of_[block]) {
        make(block, node, change_of(block, node));
        settle();
    }
}

void Plan::shift(Index block, Index to, const Change& change) {
    const Index from = node_of_[block], size = case_.blocks.members_of(block);
    totals_.cost += change.cost;
    totals_.log_availability += change.log_availability;
    totals_.broken += change.broken;
    log_availability_of_[case_.blocks.application[block]] += change.log_availability;
    if (case_.links.counts_physical || case_.links.one_port) {
        if (from >= 0) {
            load_links(block, from, -1.0);
        }
        load_links(block, to, 1.0);
    }
    if (case_.machines.cards_count) {
        load_cards(block, from, to);
    }
    if (from >= 0) {
        load(block, from, -1.0);
        where_.hosted[from] -= size;
        unlist(block, from);
    }
    load(block, to, 1.0);
    where_.hosted[to] += size;
    enlist(block, to);
    node_of_[block] = to;
    for (const Index instance : case_.blocks.members[block]) {
        where_.node_of_instance[instance] = to;
    }
}

void Plan::load(Index block, Index node, double sign) {
    if (!machine_load_.empty()) {
        machine_load_[node] += sign * case_.processing.load[block];
    }
    const std::size_t count = case_.limits.by_node.count;
    const double* needed = case_.limits.by_node.needed.data() + block * count;
    double* loads = node_load_.data() + node * count;
    for (std::size_t limit = 0; limit < count; ++limit) {
        loads[limit] += sign * needed[limit];
    }
    if (case_.limits.by_place.empty()) {
        return;
    }
    for (const auto& need : case_.limits.needs[block]) {
        const PlaceLimit& limit = case_.limits.by_place[need.limit];
        if (limit.keeps_loads) {
            place_load_[limit.first_load + case_.limits.place_of_node[limit.places][node]] += sign * need.needed;
        }
    }
}

void Plan::enlist(Index block, Index node) {
    const Index next = first_on_[node];
    previous_on_node_[block] = NOWHERE;
    next_on_node_[block] = next;
    if (next >= 0) {
        previous_on_node_[next] = block;
    }
    first_on_[node] = block;
}

void Plan::unlist(Index block, Index node) {
    const Index previous = previous_on_node_[block], next = next_on_node_[block];
    (previous >= 0 ? next_on_node_[previous] : first_on_[node]) = next;
    if (next >= 0) {
        previous_on_node_[next] = previous;
    }
}

// What cards of both ends carry after a move; the excess at the two nodes of the move is part of its change.
void Plan::load_cards(Index block, Index from, Index to) {
    for (const auto& stream : case_.streams[block]) {
        const Index there = node_of_[stream.other];
        if (there < 0) {
            continue;
        }
        if (from < 0) {
            if (there != to) {
                card_load_[to] += stream.rate;
                // The other end begins to send or receive: its card was not part of the change.
                add_load(card_load_[there], stream.rate, case_.machines.card[there], case_.rate_unit);
            }
            continue;
        }
        card_load_[to] += there == to ? -stream.rate : stream.rate;
        card_load_[from] += there == from ? stream.rate : -stream.rate;
    }
}

void Plan::add_load(double& load, double added, double limit, double unit) {
    totals_.broken += beyond(load + added, limit, unit) - beyond(load, limit, unit);
    load += added;
}

// Add to links and ports, or take from them, what a block exchanges on a node.
void Plan::load_links(Index block, Index node, double sign) {
    for (const auto& stream : case_.streams[block]) {
        const Index there = node_of_[stream.other];
        if (there < 0 || there == node || stream.rate == 0.0) {
            continue;
        }
        const Index sender = stream.sends ? node : there, receiver = stream.sends ? there : node;
        if (case_.links.counts_physical) {
            load_route(sender, receiver, sign * stream.rate);
        }
        if (case_.links.one_port) {
            const double width = case_.links.bandwidth_between(sender, receiver);
            const double share = sign * stream.rate / std::max(width, stream.rate / MOST_SHARE);
            add_load(sending_[sender], share, FULL, 1.0);
            add_load(receiving_[receiver], share, FULL, 1.0);
        }
    }
}

void Plan::load_route(Index sender, Index receiver, double rate) {
    Index here = sender;
    while (here != receiver) {
        const Index next = case_.links.next_towards(here, receiver);
        if (next < 0) {
            return;
        }
        const auto link = case_.links.physical_link(here, next);
        if (link >= 0) {
            add_load(link_load_[link], rate, case_.links.physical_bandwidth[link] * FULL, case_.rate_unit);
        }
        here = next;
    }
}

void Plan::find_busiest() {
    if (case_.weights.busiest_link != 0.0) {
        find_busiest_link();
    }
    if (case_.weights.busiest_machine != 0.0) {
        find_busiest_machine();
    }
}

void Plan::find_busiest_machine() {
    const Processing& processing = case_.processing;
    double highest = 0.0;
    for (Index node = 0; node < case_.nodes(); ++node) {
        highest = std::max(highest, machine_load_[node] / processing.processors[node]);
    }
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        highest = std::max(highest, processing.one_core[block] * case_.machines.slowness[node_of_[block]]);
    }
    totals_.busiest_machine = highest;
}

void Plan::find_busiest_link() {
    const Links& links = case_.links;
    double highest = 0.0;
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        for (const auto& stream : case_.streams[block]) {
            if (!stream.sends || stream.rate == 0.0) {
                continue;
            }
            Index here = node_of_[block];
            const Index goal = node_of_[stream.other];
            while (here != goal) {
                const Index next = links.next_towards(here, goal);
                if (next < 0) {
                    break;
                }
                const auto link = links.physical_link(here, next);
                if (link >= 0) {
                    const double share = link_load_[link] / std::max(links.physical_bandwidth[link], 1e-300);
                    highest = std::max(highest, std::min(share, MOST_SHARE));
                }
                here = next;
            }
        }
    }
    totals_.busiest_link = highest;
}

// The table of what every block costs on every node.

void Plan::empty_table() {
    std::size_t entry = 0;
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        for (Index node = 0; node < case_.nodes(); ++node) {
            table_[entry++] = case_.own_cost(block, node);
        }
    }
}

// The table doesn't know about moves that are not settled.
double Plan::table_cost(Index block, Index node) const {
    const Links& links = case_.links;
    double cost = table_row(block)[node];
    for (const Made& made : made_) {
        const Index now = node_of_[made.block];
        for (const auto& stream : case_.streams[block]) {
            if (stream.other == made.block) {
                const double change =
                    stream.sends ? links.flow_between(node, now) - links.flow_between(node, made.from)
                                 : links.flow_between(now, node) - links.flow_between(made.from, node);
                cost += stream.rate * change;
            }
        }
    }
    return cost;
}

void Plan::follow_table(Index block, Index from) {
    const std::size_t nodes = case_.nodes();
    const Index now = node_of_[block];
    for (const auto& stream : case_.streams[block]) {
        const auto& flow = stream.sends ? case_.links.flow : case_.links.flow_back;
        double* costs = table_.data() + stream.other * nodes;
        const double* added = flow.data() + now * nodes;
        if (from >= 0) {
            add_difference(costs, added, flow.data() + from * nodes, stream.rate, nodes);
            continue;
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            costs[node] += stream.rate * added[node];
        }
    }
}

// Elementwise, so that wider registers give the same sums on every machine.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx2", "default")))
#endif
void add_difference(double* __restrict costs, const double* __restrict added, const double* __restrict taken,
                    double rate, std::size_t nodes) {
    for (std::size_t node = 0; node < nodes; ++node) {
        costs[node] += rate * (added[node] - taken[node]);
    }
}

// Delays to a block's neighbours, and its work: what paths through it would take.
double Plan::delays_around(Index block, Index node) const {
    double total = 0.0;
    for (const auto& stream : case_.streams[block]) {
        const Index there = node_of_[stream.other];
        if (there >= 0) {
            total += stream.sends ? case_.links.hop(node, there) : case_.links.hop(there, node);
        }
    }
    for (const Index instance : case_.blocks.members[block]) {
        total += case_.paths.work_ms[instance] * case_.machines.slowness[node];
    }
    return total;
}

}  // namespace berth::engine
