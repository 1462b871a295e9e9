#include "simulation/machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::simulation {

// Parts that sum up to a whole need not do so exactly.
constexpr double ALMOST = 1e-9;
// More than a node has instances, always.
constexpr double MOST_CORES = 1e9;

Machine::Machine(NumpyRandom random, Settings settings, std::vector<Instance> instances,
                 std::vector<Output> outputs, std::span<const double> cores)
    : random_(random), settings_(settings), instances_(std::move(instances)), nodes_(cores.size()),
      outputs_(std::move(outputs)) {
    for (std::size_t at = 0; at < cores.size(); ++at) {
        Node& node = nodes_[at];
        node.cores = cores[at];
        node.whole_free = static_cast<std::int64_t>(std::min(node.cores + ALMOST, MOST_CORES));
        node.part_free = std::max(0.0, node.cores - static_cast<double>(node.whole_free));
        if (node.part_free < ALMOST || node.cores >= MOST_CORES) node.part_free = 0.0;
    }
    Index sources = 0;
    for (const Instance& instance : instances_) {
        sources = std::max(sources, instance.source_row + 1);
        sinks_ = std::max(sinks_, instance.sink_column + 1);
    }
    totals_.pair_latency_s.resize(static_cast<std::size_t>(sources) * sinks_);
    totals_.pair_results.resize(totals_.pair_latency_s.size());
}

// --- what is done to the system from outside

void Machine::place(std::span<const Index> node, std::span<const double> service_s, std::vector<Route> routes) {
    for (Node& each : nodes_) each.instances.clear();
    for (Index at = 0; at < static_cast<Index>(instances_.size()); ++at) {
        if (node[at] == NONE) continue;
        Instance& instance = instances_[at];
        instance.node = node[at];
        instance.service_s = service_s[at];
        nodes_[instance.node].instances.push_back(at);
    }
    routes_ = std::move(routes);
}

void Machine::set_network(std::vector<Hop> hops, std::span<const double> bandwidth) {
    hops_ = std::move(hops);
    for (std::size_t at = links_.size(); at < bandwidth.size(); ++at) links_.push_back({.bandwidth = bandwidth[at]});
}

void Machine::set_delays(std::span<const double> delay_s) {
    for (std::size_t at = 0; at < hops_.size(); ++at) hops_[at].delay_s = delay_s[at];
}

void Machine::set_gap(Index source, double gap, double now) {
    Instance& here = instances_[source];
    if (here.gap == gap) return;
    if (now > 0.0 && here.gap < NEVER) here.gaps_left = (here.due - now) / here.gap;
    here.gap = gap;
    here.due = gap < NEVER ? now + here.gaps_left * gap : NEVER;
    here.emission = gap < NEVER ? agenda_.add(here.due, Event::Kind::emission, source) : NO_EVENT;
}

void Machine::stop(Index instance, bool losing, double now) {
    Instance& here = instances_[instance];
    const bool drop_waiting = here.blocked && losing && !here.losing;
    const bool block = !here.blocked;
    here.blocked = true;
    here.losing = losing;
    if (drop_waiting) {
        for (Index item = emptied(here.waiting), next; item != NONE; item = next) {
            next = tuples_[item].next;
            set_aside(item, true, now);
        }
    }
    if (!block) return;
    if (here.serving != NONE) {
        set_aside(take_from(instance, now), losing, now);
        if (shared()) plan_tick(here.node, now);
    }
    for (Index item = emptied(here.queue), next; item != NONE; item = next) {
        next = tuples_[item].next;
        set_aside(item, losing, now);
    }
    serve(instance, now);
}

void Machine::resume(Index instance, double now) {
    Instance& here = instances_[instance];
    if (!here.blocked) return;
    here.blocked = here.losing = false;
    for (Index item = emptied(here.waiting), next; item != NONE; item = next) {
        next = tuples_[item].next;
        append(here.queue, item);
    }
    want_service(instance);
    serve(instance, now);
}

// --- events

bool Machine::advance(double until, std::int64_t most_events) {
    for (std::int64_t done = 0; agenda_.due_before(until); ++done) {
        if (done == most_events || full()) return false;
        const Event event = agenda_.next();
        now_ = event.time;
        if (handle(event)) ++totals_.events;
    }
    return true;
}

// Whether the event was still in force.
bool Machine::handle(const Event& event) {
    const Index subject = event.subject;
    switch (event.kind) {
        case Event::Kind::finish:
            if (event.number != instances_[subject].finish) return false;
            finish(subject, event.time);
            break;
        case Event::Kind::hop_end:
            if (tuples_[subject].hop < tuples_[subject].last_hop) {
                cross(subject, event.time);
            } else {
                arrive(subject, event.time);
            }
            break;
        case Event::Kind::emission:
            if (event.number != instances_[subject].emission) return false;
            emit(subject, event.time);
            break;
        case Event::Kind::tick:
            if (event.number != nodes_[subject].tick) return false;
            tick(subject, event.time);
            break;
    }
    return true;
}

// A tuple comes in from outside, and the next one is planned.
void Machine::emit(Index source, double now) {
    Instance& here = instances_[source];
    const double gap = settings_.regular_arrivals ? here.gap : here.gap * random_.exponential();
    here.due = now + gap;
    here.emission = agenda_.add(here.due, Event::Kind::emission, source);
    ++totals_.emitted;
    arrive(new_tuple(now, here.source_row, source, 0.0), now);
}

// Shared cores are done with a tuple of one of their instances.
void Machine::tick(Index node, double now) {
    settle(nodes_[node], now);
    const Index instance = next_done(nodes_[node]);
    // exactly, whatever the rounding of times did
    nodes_[node].clock = instances_[instance].clock_done;
    finish(instance, now);
}

// An instance is done with a tuple: its results go on, and the next one is served.
void Machine::finish(Index instance, double now) {
    const Index item = take_from(instance, now);
    const Tuple done = tuples_[item];
    Instance& here = instances_[instance];
    want_service(instance);
    count_present(here, -1, now);
    ++here.served;
    ++totals_.served;
    if (here.first_output == here.last_output) {
        finish_path(done, now);
    } else {
        send_results(done, now);
    }
    free_tuple(item);
    serve(instance, now);
    if (shared() && here.serving == NONE) plan_tick(here.node, now);
}

// A tuple has reached the end of its way.
void Machine::finish_path(const Tuple& done, double now) {
    const double latency = now - done.birth;
    ++totals_.results;
    totals_.latency_s += latency;
    totals_.worst_latency_s = std::max(totals_.worst_latency_s, latency);
    int bin = 0;
    if (latency > 0.0) bin = static_cast<int>((std::log10(latency) - FIRST_DECADE) * BINS_PER_DECADE);
    ++totals_.histogram[std::clamp(bin, 0, DECADES * BINS_PER_DECADE - 1)];
    const std::size_t pair =
        static_cast<std::size_t>(done.source_row) * sinks_ + instances_[done.target].sink_column;
    totals_.pair_latency_s[pair] += latency;
    ++totals_.pair_results[pair];
    if (std::ssize(results_) < settings_.record) {
        results_.push_back({done.birth, now, done.source_row, done.target});
    }
}

// As many tuples as a unit of work gives for each stream of its instance; by chance where that is no whole number.
// Streams with as many tuples carry the same results.
void Machine::send_results(const Tuple& cause, double now) {
    const Instance& here = instances_[cause.target];
    double chance = -1.0;
    std::int64_t most = 0;
    tuples_of_output_.clear();
    for (Index at = here.first_output; at < here.last_output; ++at) {
        Output& output = outputs_[at];
        std::int64_t whole;
        if (settings_.split_in_turn) {
            output.parts += output.gain;
            whole = static_cast<std::int64_t>(output.parts + ALMOST);
            output.parts -= static_cast<double>(whole);
        } else {
            whole = static_cast<std::int64_t>(output.gain);
            const double part = output.gain - static_cast<double>(whole);
            if (part > 0.0 && chance < 0.0) chance = random_.uniform();
            if (part > 0.0 && chance < part) ++whole;
        }
        tuples_of_output_.push_back(whole);
        most = std::max(most, whole);
    }
    for (std::int64_t result = 0; result < most && !full(); ++result) {
        for (Index at = here.first_output; at < here.last_output; ++at) {
            if (result < tuples_of_output_[at - here.first_output]) send_result(cause, outputs_[at], now);
        }
    }
}

void Machine::send_result(const Tuple& cause, Output& output, double now) {
    if (output.to_all) {
        for (Index offset = 0; offset < output.receivers; ++offset) send(cause, output, offset, now);
    } else if (output.receivers == 1) {
        send(cause, output, 0, now);
    } else if (settings_.split_in_turn) {
        const Index offset = output.turn;
        output.turn = (offset + 1) % output.receivers;
        send(cause, output, offset, now);
    } else {
        send(cause, output, random_.below(output.receivers), now);
    }
}

// A result goes to one receiver of an output: it is there at once on the same node.
void Machine::send(const Tuple& cause, Output& output, Index offset, double now) {
    const Index item = new_tuple(cause.birth, cause.source_row, output.first_receiver + offset, output.bytes);
    ++totals_.sent;
    ++output.sent;
    const Route& route = routes_[output.first_route + offset];
    if (route.first_hop == NONE) {
        arrive(item, now);
        return;
    }
    tuples_[item].hop = route.first_hop;
    tuples_[item].last_hop = route.last_hop;
    totals_.traffic_bytes += output.bytes;
    cross(item, now);
}

// A tuple waits for its link, is transmitted and travels.
void Machine::cross(Index item, double now) {
    Tuple& moving = tuples_[item];
    const Hop& hop = hops_[moving.hop];
    Link& link = links_[hop.link];
    link.bytes += moving.size;
    ++link.tuples;
    double leaving = now;
    if (link.bandwidth < NEVER) {
        const double begin = std::max(now, link.free_at);
        const double time = moving.size > 0.0 ? moving.size / link.bandwidth : 0.0;
        leaving = begin + time;
        link.wait += begin - now;
        if (time < NEVER) {
            // a tuple at a link without any bandwidth never leaves
            link.busy += time;
            link.free_at = leaving;
        }
    }
    double delay = hop.delay_s;
    if (settings_.jitter_s > 0.0) delay = std::max(0.0, delay + settings_.jitter_s * random_.normal());
    totals_.byte_seconds += moving.size * delay;
    ++moving.hop;
    agenda_.add(leaving + delay, Event::Kind::hop_end, item);
}

// --- queues and servers

// A tuple is at its instance: it is joined with others, waits, is served or lost.
void Machine::arrive(Index item, double now) {
    Instance& here = instances_[tuples_[item].target];
    ++here.arrived;
    if (here.unit < 1.0) {
        here.units += here.unit;
        if (here.units < 1.0 - ALMOST) {
            ++totals_.joined;
            free_tuple(item);
            return;
        }
        here.units -= 1.0;
    }
    if (here.blocked && here.losing) {
        lose(item);
        return;
    }
    count_present(here, 1, now);
    if (here.blocked) {
        append(here.waiting, item);
        return;
    }
    const Index instance = tuples_[item].target;
    tuples_[item].turn = turns_++;
    const bool first = here.queue.head == NONE;
    append(here.queue, item);
    if (first) want_service(instance);
    serve(instance, now);
}

// Put an instance that has something to do among those that a core of its node could serve.
void Machine::want_service(Index instance) {
    const Instance& here = instances_[instance];
    if (!in_turn() || here.serving != NONE || here.queue.head == NONE) return;
    nodes_[here.node].ready.push({tuples_[here.queue.head].turn, instance});
}

// Let an instance work, or those of its node whose turn it is.
void Machine::serve(Index instance, double now) {
    if (!in_turn()) {
        start(instance, now);
        return;
    }
    const Index number = instances_[instance].node;
    Node& node = nodes_[number];
    while ((node.whole_free > 0 || node.part_free > 0.0) && !node.ready.empty()) {
        const Ready next = node.ready.top();
        node.ready.pop();
        Instance& here = instances_[next.instance];
        const bool waits = here.node == number && here.serving == NONE && here.queue.head != NONE;
        if (!waits || tuples_[here.queue.head].turn != next.turn) continue;
        if (node.whole_free > 0) {
            --node.whole_free;
            here.core = 1.0;
        } else {
            here.core = std::exchange(node.part_free, 0.0);
        }
        start(next.instance, now);
    }
}

// Serve the first in the queue, unless the instance is busy or nobody waits.
void Machine::start(Index instance, double now) {
    Instance& here = instances_[instance];
    const Index item = here.queue.head;
    if (here.serving != NONE || item == NONE) return;
    here.queue.head = tuples_[item].next;
    double duration = here.service_s;
    if (!settings_.fixed_service && duration > 0.0) duration *= random_.exponential();
    here.serving = item;
    here.started = now;
    if (shared()) {
        Node& node = nodes_[here.node];
        settle(node, now);
        ++node.active;
        here.clock_started = node.clock;
        here.clock_done = node.clock + duration;
        plan_tick(here.node, now);
    } else {
        here.finish = agenda_.add(now + duration / here.core, Event::Kind::finish, instance);
    }
}

// The tuple that an instance was at work on; the work so far counts as busy.
Index Machine::take_from(Index instance, double now) {
    Instance& here = instances_[instance];
    const Index item = std::exchange(here.serving, NONE);
    here.finish = NO_EVENT;
    Node& node = nodes_[here.node];
    double done = (now - here.started) * here.core;
    if (shared()) {
        settle(node, now);
        done = node.clock - here.clock_started;
        --node.active;
    } else if (in_turn()) {
        if (here.core < 1.0) {
            node.part_free = here.core;
        } else {
            ++node.whole_free;
        }
    }
    here.busy += done;
    node.busy += done;
    return item;
}

// How many times as long as alone on a core everything takes on shared cores.
double Machine::stretch(const Node& node) {
    return std::max(1.0, static_cast<double>(node.active) / node.cores);
}

// Bring the clock of shared cores up to now.
void Machine::settle(Node& node, double now) {
    if (node.active > 0) node.clock += (now - node.clock_at) / stretch(node);
    node.clock_at = now;
}

// The instance that is done first on shared cores.
Index Machine::next_done(const Node& node) const {
    Index best = NONE;
    for (const Index instance : node.instances) {
        if (instances_[instance].serving == NONE) continue;
        if (best == NONE || instances_[instance].clock_done < instances_[best].clock_done) best = instance;
    }
    return best;
}

// Plan when shared cores are done with something next.
void Machine::plan_tick(Index node, double now) {
    Node& here = nodes_[node];
    const Index first = next_done(here);
    here.tick = NO_EVENT;
    if (first == NONE) return;
    const double rest = std::max(0.0, instances_[first].clock_done - here.clock);
    here.tick = agenda_.add(now + rest * stretch(here), Event::Kind::tick, node);
}

// Lose a tuple of a blocked instance, or let it wait there.
void Machine::set_aside(Index item, bool losing, double now) {
    Instance& here = instances_[tuples_[item].target];
    if (losing) {
        count_present(here, -1, now);
        lose(item);
    } else {
        append(here.waiting, item);
    }
}

void Machine::count_present(Instance& instance, int change, double now) {
    instance.tuple_seconds += static_cast<double>(instance.present) * (now - instance.present_since);
    instance.present_since = now;
    instance.present += change;
}

void Machine::lose(Index item) {
    ++instances_[tuples_[item].target].lost;
    ++totals_.lost;
    free_tuple(item);
}

// --- records of tuples

Index Machine::new_tuple(double birth, Index source_row, Index target, double size) {
    ++inside_;
    const Tuple made{birth, size, source_row, target, NONE, NONE, NONE, 0};
    if (unused_ == NONE) {
        tuples_.push_back(made);
        return static_cast<Index>(tuples_.size() - 1);
    }
    const Index item = unused_;
    unused_ = tuples_[item].next;
    tuples_[item] = made;
    return item;
}

void Machine::free_tuple(Index item) {
    --inside_;
    tuples_[item].next = unused_;
    unused_ = item;
}

void Machine::append(Queue& queue, Index item) {
    tuples_[item].next = NONE;
    if (queue.head == NONE) {
        queue.head = item;
    } else {
        tuples_[queue.tail].next = item;
    }
    queue.tail = item;
}

// The first tuple of a queue that is empty afterwards; the others follow by `next`.
Index Machine::emptied(Queue& queue) { return std::exchange(queue.head, NONE); }

// --- measuring

Snapshot Machine::snapshot(double now) const {
    Snapshot found{.time = now, .inside = inside_, .totals = totals_};
    for (const Output& output : outputs_) found.sent.push_back(output.sent);
    for (const Instance& here : instances_) {
        found.arrived.push_back(here.arrived);
        found.served.push_back(here.served);
        found.lost.push_back(here.lost);
        found.instance_busy.push_back(here.busy);
        const double since = static_cast<double>(here.present) * (now - here.present_since);
        found.tuple_seconds.push_back(here.tuple_seconds + since);
    }
    for (const Node& node : nodes_) found.node_busy.push_back(node.busy);
    for (std::size_t at = 0; at < instances_.size(); ++at) {
        const Instance& here = instances_[at];
        if (here.serving == NONE) continue;
        const Node& node = nodes_[here.node];
        double done = (now - here.started) * here.core;
        if (shared()) done = node.clock + (now - node.clock_at) / stretch(node) - here.clock_started;
        found.instance_busy[at] += done;
        found.node_busy[here.node] += done;
    }
    for (const Link& link : links_) {
        // what waits for a link is one piece of work without a gap
        found.link_busy.push_back(link.busy - std::max(0.0, link.free_at - now));
        found.link_wait.push_back(link.wait);
        found.link_bytes.push_back(link.bytes);
        found.link_tuples.push_back(link.tuples);
    }
    return found;
}

}  // namespace berth::simulation
