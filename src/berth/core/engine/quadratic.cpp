#include "quadratic.hpp"

#include <cmath>

namespace berth::engine {

namespace {

// Beyond, targets must be chosen by what is near, and rates between all blocks are many.
constexpr Index MOST_BLOCKS = 128, MOST_NODES = 64;
// Streams for each block; with fewer, blocks have few neighbours, and it is to them that they should go.
constexpr double FEWEST_STREAMS = 2.5;
// Of 100 steps, up to which number they are of a kind; the rest are rings of three.
constexpr Index SHIFTS = 40, SWAPS = 75, PUSHES = 85, TWO_FOR_ONE = 92;
// Temperatures above which a step is surely not made.
constexpr double UNLIKELY = 20.0;

}  // namespace

bool QuadraticWalk::suits(const Case& problem) {
    if (!problem.keeps_table || problem.counts_response_time || problem.must_make_moves || problem.pays_for_nodes ||
        !problem.limits.by_place.empty()) {
        return false;
    }
    const Index blocks = problem.blocks.size();
    // Every stream is listed at both of its ends.
    return blocks <= MOST_BLOCKS && problem.nodes() <= MOST_NODES && problem.blocks.movable.size() >= 2 &&
           static_cast<double>(problem.streams.values.size()) >= 2.0 * FEWEST_STREAMS * blocks;
}

QuadraticWalk::QuadraticWalk(const Plan& plan, std::span<const Index> best, double best_cost)
    : case_(plan.problem()),
      nodes_(case_.nodes()),
      allowed_(case_.blocks.size() * nodes_, 0),
      rate_between_(static_cast<std::size_t>(case_.blocks.size()) * case_.blocks.size(), 0.0),
      node_of_(plan.nodes()),
      best_(best.begin(), best.end()),
      load_(plan.loads_by_node().begin(), plan.loads_by_node().end()),
      cost_(plan.totals().cost),
      broken_(plan.totals().broken),
      best_cost_(best_cost) {
    const Index blocks = case_.blocks.size();
    for (Index block = 0; block < blocks; ++block) {
        for (const Index node : case_.blocks.candidates(block)) {
            allowed_[block * nodes_ + node] = 1;
        }
        for (const auto& stream : case_.streams[block]) {
            if (stream.sends) {
                rate_between_[block * blocks + stream.other] = stream.rate;
            }
        }
        const auto row = plan.table_row(block);
        table_.insert(table_.end(), row.begin(), row.end());
    }
}

void QuadraticWalk::anneal(Cycle& cycle, std::int64_t last, BrokenPrice& price, Random& random) {
    double temperature = cycle.temperature();
    for (; cycle.step < last; ++cycle.step) {
        if (cycle.at_epoch()) {
            temperature = cycle.temperature();
        }
        if (cycle.step % cycle.period == 0) {
            price.adapt(broken_ > WHOLE);
        }
        const std::size_t count = draw(random);
        if (count == 0 || !allowed(count)) {
            continue;
        }
        ++evaluated_;
        const double change = change_of(count), broken = load_moves(count);
        const double total = change + price.now * broken;
        if (total > 0.0 &&
            (total > UNLIKELY * temperature || random.uniform() >= std::exp(-total / temperature))) {
            unload_moves(count);
            continue;
        }
        for (std::size_t number = 0; number < count; ++number) {
            make(moves_[number]);
        }
        cost_ += change;
        broken_ += broken;
        if (broken_ <= WHOLE && cost_ + 1e-12 * std::abs(cost_) < best_cost_) {
            best_cost_ = cost_;
            best_ = node_of_;
        }
    }
}

std::size_t QuadraticWalk::draw(Random& random) {
    const auto& movable = case_.blocks.movable;
    const auto any_block = [&] { return movable[random.below(static_cast<Index>(movable.size()))]; };
    const auto any_node = [&] { return static_cast<Index>(random.below(static_cast<Index>(nodes_))); };
    const auto kind = random.below(100);
    const Index one = any_block(), home = node_of_[one];
    if (kind < SHIFTS) {
        moves_[0] = {one, any_node()};
        return moves_[0].node != home;
    }
    const Index two = any_block(), there = node_of_[two];
    if (there == home) {
        return 0;
    }
    moves_[0] = {one, there};
    moves_[1] = {two, home};
    if (kind < SWAPS) {
        return 2;
    }
    if (kind < PUSHES) {
        // Who is there goes on to anywhere.
        moves_[1].node = any_node();
        return moves_[1].node != there ? 2 : 0;
    }
    if (kind < TWO_FOR_ONE) {
        const Index three = resident_of(there, two, random);
        moves_[2] = {three, home};
        return three != NOWHERE ? 3 : 0;
    }
    const Index three = any_block(), third = node_of_[three];
    moves_[1].node = third;
    moves_[2] = {three, home};
    return third != home && third != there ? 3 : 0;
}

Index QuadraticWalk::resident_of(Index node, Index other_than, Random& random) const {
    const auto& movable = case_.blocks.movable;
    const std::size_t count = movable.size();
    std::size_t place = random.below(static_cast<Index>(count));
    for (std::size_t looked = 0; looked < count; ++looked) {
        const Index block = movable[place];
        if (node_of_[block] == node && block != other_than) {
            return block;
        }
        place = place + 1 < count ? place + 1 : 0;
    }
    return NOWHERE;
}

bool QuadraticWalk::allowed(std::size_t count) const {
    bool all = true;
    for (std::size_t number = 0; number < count; ++number) {
        all = all && allowed_[moves_[number].block * nodes_ + moves_[number].node];
    }
    return all;
}

double QuadraticWalk::change_of(std::size_t count) const {
    double change = 0.0;
    for (std::size_t number = 0; number < count; ++number) {
        const auto [block, node] = moves_[number];
        change += table_at(block, node) - table_at(block, node_of_[block]);
        for (std::size_t earlier = 0; earlier < number; ++earlier) {
            change += together(moves_[number], moves_[earlier]);
        }
    }
    return change;
}

// What the moves of two blocks add beyond what each adds alone.
double QuadraticWalk::together(const Move& one, const Move& other) const {
    const std::size_t blocks = node_of_.size();
    const Index left = node_of_[one.block], other_left = node_of_[other.block];
    const auto crossed = [&](const std::vector<double>& flow) {
        const double* to = flow.data() + one.node * nodes_;
        const double* from = flow.data() + left * nodes_;
        return to[other.node] - to[other_left] - from[other.node] + from[other_left];
    };
    double total = 0.0;
    if (const double rate = rate_between_[one.block * blocks + other.block]; rate != 0.0) {
        total += rate * crossed(case_.links.flow);
    }
    if (const double rate = rate_between_[other.block * blocks + one.block]; rate != 0.0) {
        total += rate * crossed(case_.links.flow_back);
    }
    return total;
}

double QuadraticWalk::load(Index block, Index node, double sign) {
    const NodeLimits& limits = case_.limits.by_node;
    const std::size_t count = limits.count;
    double total = 0.0;
    for (std::size_t limit = 0; limit < count; ++limit) {
        const double need = limits.needed[block * count + limit];
        if (need != 0.0) {
            double& load = load_[node * count + limit];
            const double room = limits.room[node * count + limit], unit = limits.unit[limit], before = load;
            load += sign * need;
            total += beyond(load, room, unit) - beyond(before, room, unit);
        }
    }
    return total;
}

double QuadraticWalk::load_moves(std::size_t count) {
    double broken = 0.0;
    for (std::size_t number = 0; number < count; ++number) {
        const auto [block, node] = moves_[number];
        broken += load(block, node_of_[block], -1.0);
        broken += load(block, node, 1.0);
    }
    return broken;
}

void QuadraticWalk::unload_moves(std::size_t count) {
    const std::size_t limits = case_.limits.by_node.count;
    for (std::size_t number = 0; number < count; ++number) {
        const auto [block, node] = moves_[number];
        for (std::size_t limit = 0; limit < limits; ++limit) {
            const double need = case_.limits.by_node.needed[block * limits + limit];
            load_[node * limits + limit] -= need;
            load_[node_of_[block] * limits + limit] += need;
        }
    }
}

void QuadraticWalk::make(const Move& move) {
    const Index from = std::exchange(node_of_[move.block], move.node);
    for (const auto& stream : case_.streams[move.block]) {
        const auto& flow = stream.sends ? case_.links.flow : case_.links.flow_back;
        add_difference(table_.data() + stream.other * nodes_, flow.data() + move.node * nodes_,
                       flow.data() + from * nodes_, stream.rate, nodes_);
    }
}

}  // namespace berth::engine
