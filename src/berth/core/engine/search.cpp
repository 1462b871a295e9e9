#include "search.hpp"

#include <cmath>

namespace berth::engine {

namespace {

// Of 100 steps, up to which number they are of a kind; the rest moves groups.
constexpr Index SHIFTS = 60, SWAPS = 82, CHAINS = 93;
constexpr std::size_t LONGEST_CHAIN = 3;
// How far along a node's blocks one is drawn at most.
constexpr Index RESIDENTS = 12;
// Steps after which sums are computed anew: they drift.
constexpr std::int64_t AFRESH = std::int64_t{1} << 20;
// For a first plan: candidates that are drawn for each block (all, where there are no more), neighbours in the graph
// that are looked at, and candidates that are looked at, over all blocks, where none that was drawn has room.
constexpr Index DRAWN = 32, NEIGHBOURS = 10;
constexpr std::int64_t MOST_LOOKS = 30'000'000;
// What breaks less more is as good.
constexpr double DUST = 1e-12;

}  // namespace

Search::Search(const Case& problem, std::uint64_t seed, const std::vector<Ceiling>& ceilings)
    : plan(problem),
      case_(problem),
      random_(seed),
      is_touched_(problem.blocks.size(), 0),
      is_quadratic_(ceilings.empty() && QuadraticWalk::suits(problem)) {
    best_.nodes.assign(problem.blocks.size(), NOWHERE);
    for (const Ceiling& ceiling : ceilings) {
        ceilings_.push_back(std::make_unique<Held>(*ceiling.problem, ceiling.most, ceiling.unit));
    }
}

// Plans.

void Search::place_all(std::span<const Index> nodes) {
    plan.place(nodes);
    for (auto& ceiling : ceilings_) {
        ceiling->plan.place(plan.nodes());
    }
    over_ = over_ceilings();
}

double Search::over_ceilings() {
    double over = 0.0;
    for (auto& ceiling : ceilings_) {
        const double later = ceiling->plan.energy_of_times({1.0, 0.0}, INFINITE, true).most;
        over += beyond(ceiling->plan.value() + later, ceiling->most, ceiling->unit);
    }
    return over;
}

void Search::go_to(std::span<const Index> nodes) {
    place_all(nodes);
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        touch(block);
    }
    note_best();
}

void Search::go_to_best() { go_to(best_.nodes); }

void Search::forget_best() {
    best_.value = INFINITE;
    if (walk_) {
        walk_->forget_best();
    }
}

void Search::touch(Index block) {
    if (!is_touched_[block]) {
        is_touched_[block] = 1;
        touched_.push_back(block);
    }
}

void Search::note_best() {
    if (!whole()) {
        if (broken() >= best_.broken) {
            return;
        }
        best_.broken = broken();
    } else {
        const double value = plan.value();
        if (best_.whole() && value >= best_.value - 1e-12 * std::abs(best_.value)) {
            return;
        }
        best_.broken = 0.0;
        best_.value = value;
    }
    for (const Index block : touched_) {
        best_.nodes[block] = plan.node_of(block);
        is_touched_[block] = 0;
    }
    touched_.clear();
}

// Which blocks to move, and where to.

Index Search::any_block() { return any_of(case_.blocks.movable); }

// A node for a block: that of a neighbour, one near it, one near its own, or any candidate; NOWHERE: none this time.
Index Search::target_for(Index block) {
    const Index home = plan.node_of(block), near = case_.machines.near_count;
    const auto streams = case_.streams[block];
    const auto choice = random_.below(4);
    if (choice < 2 && !streams.empty()) {
        Index node = plan.node_of(streams[random_.below(static_cast<Index>(streams.size()))].other);
        if (choice == 1 && near > 0) {
            node = any_of(case_.machines.near_to(node));
        }
        return node != home && case_.may_host(block, node) ? node : NOWHERE;
    }
    if (choice == 2 && near > 0) {
        const Index node = any_of(case_.machines.near_to(home));
        return node != home && case_.may_host(block, node) ? node : NOWHERE;
    }
    const Index node = any_of(case_.blocks.candidates(block));
    return node != home ? node : NOWHERE;
}

Index Search::resident_of(Index node, Index other_than) {
    Index chosen = NOWHERE, seen = 0;
    for (Index block = plan.first_on(node); block >= 0 && seen < RESIDENTS; block = plan.next_on_node(block)) {
        if (block != other_than) {
            ++seen;
            if (random_.below(seen) == 0) {
                chosen = block;
            }
        }
    }
    return chosen;
}

bool Search::in_trial(Index block) const {
    return std::any_of(trial_.begin(), trial_.end(), [=](const Move& move) { return move.block == block; });
}

// Behind a first move: who was there goes to where the first came from.
void Search::propose_swap() {
    const auto [block, node] = trial_[0];
    const Index other = resident_of(node, block);
    if (other == NOWHERE) {
        return;
    }
    const Index home = plan.node_of(block);
    if (case_.may_host(other, home)) {
        trial_.push_back({other, home});
    } else {
        trial_.clear();
    }
}

// Behind a first move: who was there moves on, and who is there as well.
void Search::propose_chain() {
    Index other = resident_of(trial_[0].node, trial_[0].block);
    while (trial_.size() < LONGEST_CHAIN && other != NOWHERE && !in_trial(other)) {
        const Index node = target_for(other);
        if (node == NOWHERE) {
            return;
        }
        trial_.push_back({other, node});
        other = resident_of(node, other);
    }
}

// Behind a first move: blocks of the same node that are connected with it follow.
void Search::propose_group() {
    const std::size_t size = 2 + random_.below(LARGEST_TRIAL - 1);
    const Index home = plan.node_of(trial_[0].block), node = trial_[0].node;
    for (std::size_t looked = 0; looked < trial_.size(); ++looked) {
        for (const auto& stream : case_.streams[trial_[looked].block]) {
            if (trial_.size() == size) {
                return;
            }
            const Index other = stream.other;
            if (plan.node_of(other) == home && case_.may_host(other, node) && !in_trial(other)) {
                trial_.push_back({other, node});
            }
        }
    }
}

// All blocks of a node go to others that are in use; no move, if that can't be.
void Search::propose_emptied_node(Index node) {
    trial_.clear();
    Index goal = NOWHERE;
    for (Index block = plan.first_on(node); block >= 0; block = plan.next_on_node(block)) {
        if (goal == NOWHERE || random_.below(2) == 0) {
            goal = plan.node_of(any_block());
        }
        if (trial_.size() == LARGEST_TRIAL || goal == node || !case_.may_host(block, goal)) {
            trial_.clear();
            return;
        }
        trial_.push_back({block, goal});
    }
}

// Trials.

// As below, with all moves made: what ceilings make of them shows only then.
bool Search::attempt_under_ceilings(double threshold) {
    const double before = plan.energy(prices_) + prices_.broken * over_;
    for (std::size_t step = 0; step < trial_.size(); ++step) {
        const auto [block, node] = trial_[step];
        if (node == plan.node_of(block)) {
            break;
        }
        ++evaluated_;
        const Change change = plan.change_of(block, node);
        if (trial_.size() == 1 && !case_.must_make_moves &&
            plan.energy_change(block, node, change, prices_).least - prices_.broken * over_ > threshold) {
            break;
        }
        plan.make(block, node, change);
        for (auto& ceiling : ceilings_) {
            ceiling->plan.make(block, node, ceiling->plan.change_of(block, node));
        }
        const double over = over_ceilings();
        const double added = plan.energy(prices_) + prices_.broken * over - before;
        if (times_stay_within(threshold - added)) {
            plan.settle();
            for (auto& ceiling : ceilings_) {
                ceiling->plan.settle();
            }
            over_ = over;
            for (std::size_t made = 0; made <= step; ++made) {
                touch(trial_[made].block);
            }
            return true;
        }
    }
    plan.take_back();
    for (auto& ceiling : ceilings_) {
        ceiling->plan.take_back();
    }
    return false;
}

bool Search::attempt(double threshold) {
    if (!ceilings_.empty()) {
        return attempt_under_ceilings(threshold);
    }
    const bool times = case_.counts_response_time || case_.counts_loaded;
    const bool alone = trial_.size() == 1 && !case_.must_make_moves && !times;
    const double before = alone ? 0.0 : plan.energy(prices_);
    for (std::size_t step = 0; step < trial_.size(); ++step) {
        const auto [block, node] = trial_[step];
        if (node == plan.node_of(block)) {
            break;
        }
        ++evaluated_;
        const Change change = plan.change_of(block, node);
        bool enough = false;
        if (step + 1 == trial_.size() && !case_.must_make_moves && (step == 0 || !times)) {
            // The last one need not be made to be judged.
            const Range added = plan.energy_change(block, node, change, prices_);
            const double so_far = step > 0 ? plan.energy(prices_) - before : 0.0;
            if (so_far + added.least > threshold) {
                break;
            }
            enough = so_far + added.most <= threshold;
        }
        plan.make(block, node, change);
        if (enough || times_stay_within(threshold - (plan.energy(prices_) - before))) {
            plan.settle();
            for (std::size_t made = 0; made <= step; ++made) {
                touch(trial_[made].block);
            }
            return true;
        }
    }
    plan.take_back();
    return false;
}

// Whether what the moves that were made add by times is within what is left to the threshold.
bool Search::times_stay_within(double room) {
    const Range added = plan.energy_of_times(prices_, room, false);
    if (added.least > room || added.most <= room) {
        return added.most <= room;
    }
    return plan.energy_of_times(prices_, room, true).most <= room;
}

double Search::typical_change(Index count) {
    double total = 0.0, changed = 0.0;
    const double before = plan.value();
    for (Index number = 0; number < count; ++number) {
        const Index block = any_block(), home = plan.node_of(block), node = target_for(block);
        if (node == NOWHERE) {
            continue;
        }
        evaluated_ += 2;
        plan.move(block, node);
        const double change = std::abs(plan.value() - before);
        plan.move(block, home);
        if (change > 1e-12 * (std::abs(before) + 1e-300)) {
            total += change;
            changed += 1.0;
        }
    }
    return changed > 0.0 ? total / changed : 0.0;
}

// Cycles.

void Search::begin_cycle(const Cycle& cycle, double value_price, const BrokenPrice& broken_price) {
    cycle_ = cycle;
    cycle_.step = 0;
    broken_price_ = broken_price;
    prices_ = {value_price, broken_price.now};
    critical_.clear();
    walk_.reset();
    if (is_quadratic_ && !cycle.until_whole) {
        walk_ = std::make_unique<QuadraticWalk>(plan, best_.nodes, best_.value);
    }
}

std::int64_t Search::run(std::int64_t steps) {
    const std::int64_t first = cycle_.step, last = std::min(first + steps, cycle_.length);
    if (!walk_) {
        anneal(last);
        return cycle_.step - first;
    }
    walk_->anneal(cycle_, last, broken_price_, random_);
    evaluated_ += walk_->take_evaluated();
    if (walk_->best_cost() < best_.value) {
        go_to(walk_->best());
    }
    plan.place(walk_->nodes());
    for (Index block = 0; block < case_.blocks.size(); ++block) {
        touch(block);
    }
    return cycle_.step - first;
}

void Search::anneal(std::int64_t last) {
    double temperature = cycle_.temperature();
    for (; cycle_.step < last; ++cycle_.step) {
        const std::int64_t step = cycle_.step;
        if (cycle_.until_whole && whole()) {
            cycle_.length = step;
            return;
        }
        if (cycle_.at_epoch()) {
            temperature = cycle_.temperature();
            if (case_.counts_response_time) {
                const bool any = case_.weights.response_time_sum != 0.0;
                plan.list_critical_blocks(critical_, any ? random_.below(case_.paths.applications()) : NOWHERE);
            }
        }
        if (step % cycle_.period == 0) {
            broken_price_.adapt(!whole());
            prices_.broken = broken_price_.now;
        }
        if (step % AFRESH == 0) {
            place_all(plan.nodes());
        }
        Index block = any_block();
        if (!critical_.empty() && random_.below(2) == 0) {
            block = any_of(critical_);
        }
        const auto kind = random_.below(100);
        const double threshold = -temperature * std::log(1.0 - random_.uniform());
        const Index node = target_for(block);
        if (node == NOWHERE) {
            continue;
        }
        trial_.assign(1, {block, node});
        if (kind >= CHAINS) {
            if (case_.pays_for_nodes && kind % 2 == 0) {
                propose_emptied_node(plan.node_of(block));
            } else {
                propose_group();
            }
        } else if (kind >= SWAPS) {
            propose_chain();
        } else if (kind >= SHIFTS) {
            propose_swap();
        }
        if (attempt(threshold)) {
            note_best();
        }
    }
}

// The first plan.

void Search::place_in_order(std::span<const Index> order, std::span<const Index> wanted) {
    std::vector<Index> options;
    plan.clear();
    std::int64_t looks = 0, rotation = 0;
    for (const Index block : order) {
        const auto candidates = case_.blocks.candidates(block);
        const auto size = static_cast<std::int64_t>(candidates.size());
        list_options(block, wanted[block], options);
        Index chosen = options[0];
        double fewest_broken = INFINITE, least = INFINITE;
        std::int64_t looked = 0;
        while (!options.empty()) {
            for (const Index node : options) {
                const Change change = plan.change_of(block, node);
                if (change.broken > fewest_broken + DUST) {
                    continue;
                }
                const double cost = change.cost + guess(block, node, change);
                if (change.broken < fewest_broken - DUST || cost < least) {
                    chosen = node;
                    fewest_broken = change.broken;
                    least = cost;
                }
            }
            options.clear();
            if (fewest_broken > DUST && wanted[block] < 0 && looked < size && looks < MOST_LOOKS) {
                // Nodes that are full are passed for good.
                const std::int64_t more = std::min<std::int64_t>(DRAWN, size - looked);
                for (std::int64_t number = 0; number < more; ++number) {
                    options.push_back(candidates[(rotation + number) % size]);
                }
                rotation += more;
                looked += more;
                looks += more;
            }
        }
        plan.place_block(block, chosen);
    }
    go_to(plan.nodes());
}

// Nodes that are worth a look: those of neighbours, what is near them, and some candidates.
void Search::list_options(Index block, Index wanted, std::vector<Index>& options) {
    options.clear();
    if (wanted >= 0) {
        options.push_back(wanted);
        return;
    }
    const auto streams = case_.streams[block];
    const auto add = [&](Index node) {
        if (case_.may_host(block, node)) {
            options.push_back(node);
        }
    };
    for (const auto& stream : streams.first(std::min<std::size_t>(streams.size(), NEIGHBOURS))) {
        const Index node = plan.node_of(stream.other);
        if (node < 0) {
            continue;
        }
        add(node);
        for (const Index near : case_.machines.near_to(node)) {
            add(near);
        }
    }
    const auto candidates = case_.blocks.candidates(block);
    if (static_cast<Index>(candidates.size()) <= DRAWN) {
        options.insert(options.end(), candidates.begin(), candidates.end());
        return;
    }
    for (Index number = 0; number < DRAWN; ++number) {
        options.push_back(any_of(candidates));
    }
}

// What a node costs beside sums of flows and prices, as far as one can tell from a part of a plan.
double Search::guess(Index block, Index node, const Change& change) const {
    const Weights& weights = case_.weights;
    double cost = (weights.log_availability + weights.availability) * change.log_availability;
    const double time = weights.response_time + weights.response_time_sum + weights.loaded_response_time;
    if (time > 0.0) {
        cost += time * plan.delays_around(block, node);
    }
    return cost;
}

}  // namespace berth::engine
