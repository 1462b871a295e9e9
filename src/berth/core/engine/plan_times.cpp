// A plan's response times: what moves would do to them, and how they follow moves that stay.
#include <cmath>

#include "plan.hpp"

namespace berth::engine {

namespace {

// What twice the response time that an application asks for counts among what is broken.
constexpr double LATE = 10.0;
// Who asks for less than this, in ms, gets it in units of this: sums with huge numbers in them lose the small ones.
constexpr double SHORTEST_LIMIT = 1e-3;
constexpr double ROUNDING = 1e-12;

}  // namespace

double Plan::lateness(Index application, double ms) const {
    const double limit = case_.paths.latest_ms[application];
    return std::isfinite(limit) ? LATE * beyond(ms, limit, std::max(limit, SHORTEST_LIMIT)) : 0.0;
}

// Between what the longest path of its application would be, were a block on a node.
Range Plan::time_range(Index block, Index node) const {
    const double longest = longest_[case_.blocks.application[block]];
    const auto members = case_.blocks.members[block];
    if (members.size() > 1) {
        return {0.0, INFINITE};
    }
    const Index instance = members[0];
    const auto& times = *times_;
    double arrival = 0.0, left = 0.0;
    for (const auto& input : case_.paths.inputs[instance]) {
        const double ms = case_.links.hop(where_.node_of_instance[input.instance], node);
        arrival = std::max(arrival, times.done[input.instance] + ms);
    }
    for (const auto& output : case_.paths.outputs[instance]) {
        const double ms = case_.links.hop(node, where_.node_of_instance[output.instance]);
        left = std::max(left, ms + times.work(output.instance) + times.rest[output.instance]);
    }
    const double through = arrival + case_.paths.work_ms[instance] * case_.machines.slowness[node] + left;
    if (through >= longest) {
        return {through, through};
    }
    const bool was_longest = times.done[instance] + times.rest[instance] >= longest * (1.0 - ROUNDING);
    // Without it, how long the next one is isn't known yet.
    return {was_longest ? through : longest, longest};
}

Range Plan::energy_change(Index block, Index node, const Change& change, const Prices& prices) const {
    const Weights& weights = case_.weights;
    double value = change.cost + weights.log_availability * change.log_availability;
    if (weights.availability != 0.0) {
        const double there = totals_.log_availability;
        value += weights.availability * (std::exp(there + change.log_availability) - std::exp(there));
    }
    const double known = prices.value * value + prices.broken * change.broken;
    if (!times_) {
        return {known, known};
    }
    const Index application = case_.blocks.application[block];
    const auto [shortest, longest] = time_range(block, node);
    const double late = lateness(application, longest_[application]);
    Range range = {known + prices.broken * (lateness(application, shortest) - late),
                   known + prices.broken * (lateness(application, longest) - late)};
    const double weight = prices.value * weights.response_time, now = totals_.response_time;
    if (weight != 0.0) {
        range.least += weight * ((application == worst_ ? shortest : std::max(now, shortest)) - now);
        range.most += weight * (std::max(now, longest) - now);
    }
    const double each = prices.value * weights.response_time_sum;
    if (each != 0.0) {
        range.least += each * (shortest - longest_[application]);
        range.most += each * (longest - longest_[application]);
    }
    return range;
}

Range Plan::energy_of_times(const Prices& prices, double room, bool exact) {
    Range range;
    if (times_) {
        range = energy_of_response_times(prices, room, exact);
    }
    if (loaded_times_) {
        const double weight = prices.value * case_.weights.loaded_response_time, now = totals_.loaded_response_time;
        const double enough = weight > 0.0 ? now + (room - range.least) / weight : INFINITE;
        note_neighbours_on_nodes();
        const Range path = loaded_times_->outlook(now, enough, 0, case_.paths.instances(), exact);
        range.least += weight * (path.least - now);
        range.most += weight * (path.most - now);
    }
    return range;
}

Range Plan::energy_of_response_times(const Prices& prices, double room, bool exact) {
    const double weight = prices.value * case_.weights.response_time, now = totals_.response_time;
    // Where applications are late, others may make up for one that takes longer.
    const double each = prices.value * case_.weights.response_time_sum;
    const bool alone = each == 0.0;
    const double enough = weight > 0.0 && alone && totals_.broken <= 0.0 ? now + room / weight : INFINITE;
    Range range;
    double shortest = 0.0, longest = 0.0;
    bool with_worst = false;
    for (std::size_t step = 0; step < made_.size(); ++step) {
        if (!is_first_of_application(step)) {
            continue;
        }
        const Index application = application_of(made_[step]);
        note_moved_in(application);
        const auto& first = case_.paths.application_first;
        const double before = longest_[application];
        const Range path = times_->outlook(before, enough, first[application], first[application + 1], exact);
        const double late = lateness(application, before);
        range.least += prices.broken * (lateness(application, path.least) - late);
        range.most += prices.broken * (lateness(application, path.most) - late);
        range.least += each * (path.least - before);
        range.most += each * (path.most - before);
        shortest = std::max(shortest, path.least);
        longest = std::max(longest, path.most);
        with_worst = with_worst || application == worst_;
    }
    if (weight != 0.0) {
        if (!with_worst) {
            shortest = std::max(shortest, now);
        } else if (exact) {
            shortest = std::max(shortest, longest_of_others());
        }
        range.least += weight * (shortest - now);
        range.most += weight * ((exact ? shortest : std::max(longest, now)) - now);
    }
    return range;
}

bool Plan::is_first_of_application(std::size_t step) const {
    for (std::size_t earlier = 0; earlier < step; ++earlier) {
        if (application_of(made_[earlier]) == application_of(made_[step])) {
            return false;
        }
    }
    return true;
}

void Plan::note_moved_in(Index application) {
    for (const Made& made : made_) {
        if (application_of(made) == application) {
            for (const Index instance : case_.blocks.members[made.block]) {
                times_->note(instance);
            }
        }
    }
}

// With load, all that shares a node with what has moved takes another time, in all applications.
void Plan::note_neighbours_on_nodes() {
    for (const Made& made : made_) {
        for (const Index node : {made.from, node_of_[made.block]}) {
            for (Index block = first_on_[node]; block >= 0; block = next_on_node_[block]) {
                for (const Index instance : case_.blocks.members[block]) {
                    loaded_times_->note(instance);
                }
            }
        }
    }
}

// The longest path of the applications in which nothing has moved.
double Plan::longest_of_others() const {
    double longest = 0.0;
    for (Index application = 0; application < case_.paths.applications(); ++application) {
        const auto is_its_own = [&](const Made& made) { return application_of(made) == application; };
        if (longest_[application] > longest && std::none_of(made_.begin(), made_.end(), is_its_own)) {
            longest = longest_[application];
        }
    }
    return longest;
}

void Plan::settle_times() {
    if (times_) {
        for (std::size_t step = 0; step < made_.size(); ++step) {
            if (is_first_of_application(step)) {
                const Index application = application_of(made_[step]);
                note_moved_in(application);
                update_longest(application, times_->follow());
            }
        }
    }
    if (loaded_times_) {
        note_neighbours_on_nodes();
        loaded_times_->follow();
        totals_.loaded_response_time = loaded_times_->done[loaded_times_->slowest(0, case_.paths.instances())];
    }
}

void Plan::set_longest(Index application, Index slowest) {
    const double before = longest_[application];
    longest_[application] = slowest == NOWHERE ? 0.0 : times_->done[slowest];
    totals_.response_time_sum += longest_[application] - before;
    slowest_[application] = slowest;
    totals_.broken += lateness(application, longest_[application]) - lateness(application, before);
}

void Plan::find_longest(Index application) {
    const auto& first = case_.paths.application_first;
    const Index begin = first[application], end = first[application + 1];
    // After a loss nothing may be left of an application: it takes no time.
    set_longest(application, begin == end ? NOWHERE : times_->slowest(begin, end));
}

// The longest path of an application, from who was last and who is last of those whose time has changed.
void Plan::update_longest(Index application, Index slowest_changed) {
    const double before = longest_[application];
    if (slowest_changed != NOWHERE && times_->done[slowest_changed] > before) {
        set_longest(application, slowest_changed);
    } else if (times_->done[slowest_[application]] < before) {
        find_longest(application);
    }
    const double now = longest_[application];
    if (application == worst_ && now < before) {
        find_worst();
    } else if (now > totals_.response_time) {
        worst_ = application;
        totals_.response_time = now;
    }
}

void Plan::find_worst() {
    worst_ = static_cast<Index>(std::max_element(longest_.begin(), longest_.end()) - longest_.begin());
    totals_.response_time = longest_[worst_];
}

void Plan::list_critical_blocks(std::vector<Index>& blocks, Index application) const {
    constexpr std::size_t MOST = 4096;
    blocks.clear();
    Index instance = slowest_[application == NOWHERE ? worst_ : application];
    while (instance != NOWHERE && blocks.size() < MOST) {
        const Index block = case_.paths.block_of[instance];
        if (case_.blocks.candidates(block).size() > 1) {
            blocks.push_back(block);
        }
        Index before = NOWHERE;
        double latest = -1.0;
        for (const auto& input : case_.paths.inputs[instance]) {
            const double arrival = times_->done[input.instance] + times_->passage(input.instance, instance, 0.0);
            if (arrival > latest) {
                latest = arrival;
                before = input.instance;
            }
        }
        instance = before;
    }
}

}  // namespace berth::engine
