// Loads against their limits, changed by one amount at a time.
#include <limits>

#include "sharing/state.hpp"

namespace berth::sharing {

namespace {

// Infinite shares (of a link without bandwidth) count as this, so that they can be taken away again.
constexpr double most = 1e100;

}  // namespace

// An amount below 0 takes one away that was added before.
void State::add_load(Index number, double amount) {
    if (amount == 0.0) return;
    amount = std::clamp(amount, -most, most);
    Load& changed = load.at(number);
    const bool was_broken = problem.exceeds(changed.total(), number);
    changed.amounts += amount > 0.0 ? 1 : -1;
    if (changed.amounts == 0) {
        changed.amount = changed.error = 0.0;
    } else {
        const double before = changed.amount;
        const double after = before + amount;
        const double added = after - before;
        changed.amount = after;
        changed.error += (before - (after - added)) + (amount - added);
    }
    const bool is_broken = problem.exceeds(changed.total(), number);
    if (is_broken == was_broken) return;
    counters_.broken += is_broken ? 1 : -1;
    if (is_broken) counters_.last_broken = number;
}

// Lets so much more (sign 1) or less (-1) cross from one node to another: cards and links.
void State::add_flow(Index from, Index to, double rate, int sign) {
    const Network& network = problem.network;
    if (!network.connected[network.pair(from, to)]) add_load(problem.loads.unlinked, sign);
    if (rate == 0.0) return;
    const double amount = sign * rate;
    add_load(problem.loads.crossed, amount);
    add_load(problem.card(from), amount);
    add_load(problem.card(to), amount);
    for (Index here = from; here != to;) {
        const Index next = network.next_hop[network.pair(here, to)];
        if (next == none) break;
        const Index link = network.link[network.pair(here, next)];
        if (link != none) add_load(problem.loads.link + link, amount);
        here = next;
    }
}

// The shares of a link that a result takes of the ports at its ends (004, constraint 2); downloads take none.
void State::add_port_shares(Index from, Index to, double rate, int sign) {
    if (rate <= 0.0) return;
    const double part = sign * (rate / problem.network.bandwidth[problem.network.pair(from, to)]);
    add_load(problem.loads.send + from, part);
    add_load(problem.loads.receive + to, part);
}

double State::room_between(Index from, Index to) const {
    const Network& network = problem.network;
    double least = std::numeric_limits<double>::infinity();
    for (Index here = from; here != to;) {
        const Index next = network.next_hop[network.pair(here, to)];
        if (next == none) break;
        const Index link = network.link[network.pair(here, next)];
        if (link != none) least = std::min(least, room(problem.loads.link + link));
        here = next;
    }
    return least;
}

Index State::exceeded() const {
    Index found = none;
    for (const Index number : Range(0, problem.loads.count)) {
        if (!problem.exceeds(load[number].total(), number)) continue;
        if (number == counters_.last_broken) return number;
        if (found == none) found = number;
    }
    return found;
}

}  // namespace berth::sharing
