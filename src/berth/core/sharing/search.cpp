#include "sharing/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sharing/clock.hpp"

namespace berth::sharing {

namespace {

// The most that one load beyond its limit counts for.
constexpr double worst = 1e3;
// What any excess counts for at least: otherwise a plan with many small ones would look good.
constexpr double charge = 0.01;
constexpr double rounding = 1e-9;

}  // namespace

double Aims::excess(const Load& load, Index number) const {
    const double most = limit[number];
    // Where others have taken more than there is, nothing at all is still no excess.
    if (load.amount <= most * (1.0 + 1e-12) || load.amount <= 0.0) return 0.0;
    const double over = load.amount - most;
    return charge + std::min(most > 0.0 ? over / most : over, worst);
}

Energy& Energy::operator+=(const Energy& change) {
    excess += change.excess;
    cost += change.cost;
    moved += change.moved;
    return *this;
}

void Search::aim(Aims aims) {
    aims_ = std::move(aims);
    aims_.offered.assign(case_.network.count(), 0);
    for (const Index node : aims_.nodes) aims_.offered[node] = 1;
}

Energy Search::energy() const {
    Energy energy{.excess = static_cast<double>(state_.counters().unplaced)};
    for (const Index number : Range(0, case_.loads.count)) energy.excess += aims_.excess(state_.load[number], number);
    energy.cost = aims_.crossed_price * state_.load[case_.loads.crossed].amount;
    for (const Index node : Range(0, case_.network.count())) {
        energy.cost += aims_.busy_price * state_.load[case_.processor(node)].amount / case_.network.speed[node];
        if (state_.hosted[node] > 0) energy.cost += aims_.node_price[node];
    }
    for (const Index instance : Range(0, case_.instances.count()))
        if (aims_.home[instance] != none) energy.moved += state_.node_of[instance] != aims_.home[instance];
    return energy;
}

// By how much the energy has changed since the state was last kept or undone.
Energy Search::change() const {
    Energy change;
    const Index first_processor = case_.processor(0);
    const Index last_processor = first_processor + case_.network.count();
    for (const auto& [number, before] : state_.load.changes()) {
        const Load& now = state_.load[number];
        change.excess += aims_.excess(now, number) - aims_.excess(before, number);
        if (number == case_.loads.crossed)
            change.cost += aims_.crossed_price * (now.amount - before.amount);
        else if (number >= first_processor && number < last_processor)
            change.cost +=
                aims_.busy_price * (now.amount - before.amount) / case_.network.speed[number - first_processor];
    }
    for (const auto& [node, before] : state_.hosted.changes())
        change.cost += aims_.node_price[node] * ((state_.hosted[node] > 0) - (before > 0));
    for (const auto& [instance, before] : state_.node_of.changes()) {
        const Index home = aims_.home[instance];
        if (home != none) change.moved += (state_.node_of[instance] != home) - (before != home);
    }
    change.excess += state_.counters().unplaced - state_.kept_counters().unplaced;
    return change;
}

void Search::start(double hot, double cold, std::int64_t steps, double enough) {
    state_.keep();
    energy_ = energy();
    step_ = 0;
    steps_ = steps;
    temperature_ = hot;
    cooling_ = std::pow(cold / hot, 1.0 / static_cast<double>(std::max<std::int64_t>(steps, 1)));
    enough_ = enough;
}

bool Search::anneal() {
    TimeSlice slice;
    for (; step_ < steps_; ++step_) {
        if (slice.over()) return false;
        if (energy_.excess <= rounding && energy_.cost <= enough_ && energy_.moved * aims_.stay <= 0.0) return true;
        temperature_ *= cooling_;
        if (!try_change()) {
            state_.undo();
            continue;
        }
        const Energy difference = change();
        const double worse = difference.total(aims_.stay);
        if (worse <= 0.0 || random_.uniform() < std::exp(-worse / temperature_)) {
            state_.keep();
            energy_ += difference;
        } else {
            state_.undo();
        }
    }
    return true;
}

void Search::clear() {
    for (const Index instance : Range(0, case_.instances.count())) {
        const Index node = state_.node_of[instance];
        if (node != none && !aims_.offered[node]) state_.move(instance, none);
    }
    state_.keep();
}

void Search::go_home() {
    for (const Index instance : Range(0, case_.instances.count())) {
        const Index home = aims_.home[instance], node = state_.node_of[instance];
        if (home == none || node == none || node == home) continue;
        move_along(instance, home);
        if (state_.holds())
            state_.keep();
        else
            state_.undo();
    }
}

Index Search::place_all(Index first) {
    TimeSlice slice;
    for (const Index instance : Range(first, case_.instances.count())) {
        if (slice.over()) return instance;
        const Index op = case_.instances.operator_of[instance];
        if (state_.status[op] != Status::wanted || state_.node_of[instance] != none) continue;
        const bool first_of_operator = instance == case_.operators.first_instance[op];
        if (first_of_operator && case_.operators.shareable[op] && reuse_gently(op)) continue;
        Index best = aims_.nodes[0];
        double least = std::numeric_limits<double>::infinity();
        for (const Index node : aims_.nodes) {
            state_.move(instance, node);
            const Energy difference = change();
            state_.undo();
            if (difference.total(0.0) < least) {
                best = node;
                least = difference.total(0.0);
            }
        }
        state_.move(instance, best);
        state_.keep();
    }
    return case_.instances.count();
}

// Takes the result of the first equal operator with which nothing more is exceeded.
bool Search::reuse_gently(Index taker) {
    for (const Index giver : case_.operators.equals(taker)) {
        if (!state_.can_reuse(taker, giver)) continue;
        const Index unplaced = state_.counters().unplaced;
        state_.reuse(taker, giver);
        if (change().excess <= state_.counters().unplaced - unplaced + rounding) {
            state_.keep();
            return true;
        }
        state_.undo();
    }
    return false;
}

}  // namespace berth::sharing
