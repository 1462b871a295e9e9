#include "times.hpp"

namespace berth::engine {

namespace {

// Paths that differ by less, relatively, are equally long.
constexpr double ROUNDING = 1e-12;

}  // namespace

template <bool Loaded>
PathTimes<Loaded>::PathTimes(const Case& problem, const Whereabouts& where)
    : done(problem.paths.instances(), 0.0),
      rest(problem.paths.instances(), 0.0),
      case_(problem),
      where_(where),
      marks_(problem.paths.instances()) {}

template <bool Loaded>
inline double PathTimes<Loaded>::done_at(Index instance) const {
    double arrival = 0.0;
    for (const auto& input : case_.paths.inputs[instance]) {
        arrival = std::max(arrival, done[input.instance] + passage(input.instance, instance, input.bytes));
    }
    return arrival + work(instance);
}

template <bool Loaded>
inline double PathTimes<Loaded>::rest_from(Index instance) const {
    double longest = 0.0;
    for (const auto& output : case_.paths.outputs[instance]) {
        longest = std::max(longest, onward(instance, output));
    }
    return longest;
}

template <bool Loaded>
Index PathTimes<Loaded>::slowest(Index first, Index last) const {
    Index slowest = first;
    for (Index instance = first + 1; instance < last; ++instance) {
        if (done[instance] > done[slowest]) {
            slowest = instance;
        }
    }
    return slowest;
}

template <bool Loaded>
void PathTimes<Loaded>::compute() {
    const Index instances = case_.paths.instances();
    for (Index instance = 0; instance < instances; ++instance) {
        done[instance] = done_at(instance);
    }
    for (Index instance = instances - 1; instance >= 0; --instance) {
        rest[instance] = rest_from(instance);
    }
}

template <bool Loaded>
Index PathTimes<Loaded>::follow() {
    const Index last = follow_forward();
    follow_backward();
    changed_.clear();
    return last;
}

template <bool Loaded>
Index PathTimes<Loaded>::follow_forward() {
    Index at = case_.paths.instances(), last = NOWHERE;
    const auto mark_receivers = [&](Index instance) {
        for (const auto& output : case_.paths.outputs[instance]) {
            marks_.add(output.instance);
        }
    };
    for (const Index instance : changed_) {
        at = std::min(at, instance);
        mark_receivers(instance);
    }
    while (!marks_.empty()) {
        at = marks_.next(at);
        marks_.remove(at);
        const double ms = done_at(at);
        if (ms != done[at]) {
            done[at] = ms;
            if (last == NOWHERE || ms > done[last]) {
                last = at;
            }
            mark_receivers(at);
        }
    }
    return last;
}

template <bool Loaded>
void PathTimes<Loaded>::follow_backward() {
    Index at = 0;
    const auto mark_senders = [&](Index instance) {
        for (const auto& input : case_.paths.inputs[instance]) {
            marks_.add(input.instance);
        }
    };
    for (const Index instance : changed_) {
        // Its work counts in what is left behind its senders.
        at = std::max(at, instance);
        marks_.add(instance);
        mark_senders(instance);
    }
    while (!marks_.empty()) {
        at = marks_.previous(at);
        marks_.remove(at);
        const double ms = rest_from(at);
        if (ms != rest[at]) {
            rest[at] = ms;
            mark_senders(at);
        }
    }
}

// Finish times are followed up to the last instance that was noted: behind it, what is left of paths is known.
// Where the longest path led through any of them, only an exact answer sees the next one.
template <bool Loaded>
Range PathTimes<Loaded>::outlook(double longest, double enough, Index first, Index last, bool exact) {
    Index at = last, final = first;
    bool was_longest = false;
    for (const Index instance : changed_) {
        at = std::min(at, instance);
        final = std::max(final, instance);
        was_longest = was_longest || done[instance] + rest[instance] >= longest * (1.0 - ROUNDING);
    }
    if (exact) {
        final = last - 1;
        enough = INFINITE;
    }
    const auto mark_up_to_final = [&](Index instance) {
        if (instance <= final) {
            marks_.add(instance);
        }
    };
    for (const Index instance : changed_) {
        for (const auto& output : case_.paths.outputs[instance]) {
            mark_up_to_final(output.instance);
        }
    }
    double through = 0.0;
    former_.clear();
    while (!marks_.empty()) {
        at = marks_.next(at);
        marks_.remove(at);
        if (through > enough) {
            continue;
        }
        const double ms = done_at(at);
        const bool changed = ms != done[at];
        through = std::max(through, ms);
        if (changed) {
            former_.push_back({at, done[at]});
            done[at] = ms;
        }
        for (const auto& output : case_.paths.outputs[at]) {
            if (output.instance > final) {
                through = std::max(through, ms + onward(at, output));
            } else if (changed) {
                marks_.add(output.instance);
            }
        }
    }
    if (exact) {
        through = done[slowest(first, last)];
    }
    for (const auto& former : former_) {
        done[former.instance] = former.done;
    }
    changed_.clear();
    if (exact || through >= longest) {
        return {through, through};
    }
    return {was_longest ? through : longest, longest};
}

template class PathTimes<false>;
template class PathTimes<true>;

}  // namespace berth::engine
