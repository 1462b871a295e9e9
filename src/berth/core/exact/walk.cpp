#include "walk.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>

#include "module.hpp"

namespace berth::exact {

namespace {

// Entries of the table of bounds, about: with more nodes, the memory is shorter.
constexpr Index MOST_REMEMBERED = 4'000'000;

constexpr double FINE = 1e-10;

}  // namespace

Grid<double> closure(Grid<double> shortest) {
    const Index count = shortest.rows();
    for (Index middle = 0; middle < count; ++middle)
        for (Index here = 0; here < count; ++here) {
            const double way = shortest[here][middle];
            if (way == INFINITE) continue;
            const double* onward = shortest[middle];
            double* row = shortest[here];
            for (Index there = 0; there < count; ++there) row[there] = std::min(row[there], way + onward[there]);
        }
    return shortest;
}

std::size_t ReachedWalks::slot_of(const std::uint64_t* visited, std::uint64_t end) const {
    std::uint64_t mixed = end * 0x9E3779B97F4A7C15ULL;
    for (Index word = 0; word < words_; ++word) {
        mixed = (mixed ^ visited[word]) * 0xBF58476D1CE4E5B9ULL;
        mixed ^= mixed >> 29;
    }
    const std::size_t last = end_.size() - 1;
    std::size_t slot = mixed & last;
    while (end_[slot] != 0 &&
           !(end_[slot] == end && std::equal(visited, visited + words_, visited_.data() + slot * words_)))
        slot = (slot + 1) & last;
    return slot;
}

void ReachedWalks::resize(std::size_t slots) {
    const ReachedWalks before = std::move(*this);
    words_ = before.words_;
    filled_ = before.filled_;
    visited_.assign(slots * words_, 0);
    end_.assign(slots, 0);
    length_.assign(slots, 0.0);
    for (std::size_t old = 0; old < before.end_.size(); ++old) {
        if (before.end_[old] == 0) continue;
        const std::uint64_t* visited = before.visited_.data() + old * words_;
        const std::size_t slot = slot_of(visited, before.end_[old]);
        std::copy(visited, visited + words_, visited_.data() + slot * words_);
        end_[slot] = before.end_[old];
        length_[slot] = before.length_[old];
    }
}

bool ReachedWalks::known(const std::vector<std::uint64_t>& visited, Index end, double length) {
    const auto marked_end = static_cast<std::uint64_t>(end + 1);
    std::size_t slot = slot_of(visited.data(), marked_end);
    if (end_[slot] != 0) {
        if (length_[slot] <= length) return true;
        length_[slot] = length;
        return false;
    }
    if (filled_ >= end_.size() / 2) {
        if (end_.size() >= MOST_SLOTS) return false;
        resize(end_.size() * 4);
        slot = slot_of(visited.data(), marked_end);
    }
    ++filled_;
    std::copy(visited.begin(), visited.end(), visited_.data() + slot * words_);
    end_[slot] = marked_end;
    length_[slot] = length;
    return false;
}

WalkSearch::WalkSearch(Grid<double> step, std::vector<Index> sizes, Index needed, double constant, double share)
    : step_(std::move(step)),
      shortest_(closure(step_)),
      sizes_(std::move(sizes)),
      nodes_(sizes_.size()),
      needed_(needed),
      count_(step_.rows()),
      constant_(constant),
      reached_((count_ + 63) / 64) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    start_with_nearest();
    keep_useful_nodes();
    fill_rest();
    for (Index node = 0; node < count_; ++node)
        least_ = std::min(least_, rest(std::max<Index>(needed_ - sizes_[node], 0), node, 0));
    slack_ = share * (constant_ + (std::isfinite(least_) ? least_ : 0.0));
    done_ = !std::isfinite(least_);
    visited_.assign((count_ + 63) / 64, 0);
    reached_ = ReachedWalks(static_cast<Index>(visited_.size()));
    reach_.assign(count_, 0.0);
    levels_.resize(std::min(count_, needed_) + 2);
    inside_.resize(levels_.size());
    levels_[0].left = needed_;
}

// From every node on to the nearest new one, until all is collected: the best of these walks.
void WalkSearch::start_with_nearest() {
    std::vector<Flag> seen(count_);
    for (Index start = 0; start < count_; ++start) {
        std::fill(seen.begin(), seen.end(), 0);
        std::vector<Index> walk{start};
        seen[start] = 1;
        Index collected = sizes_[start];
        double length = 0.0;
        while (collected < needed_ && static_cast<Index>(walk.size()) < count_) {
            Index nearest = -1;
            for (Index node = 0; node < count_; ++node)
                if (!seen[node] && (nearest < 0 || step_[walk.back()][node] < step_[walk.back()][nearest])) nearest = node;
            length += step_[walk.back()][nearest];
            seen[nearest] = 1;
            collected += sizes_[nearest];
            walk.push_back(nearest);
        }
        if (collected >= needed_ && length < length_) {
            length_ = length;
            walk_ = walk;
        }
    }
}

// Drop nodes that are on no walk, with any repetitions, that collects enough and is as short as the first one.
void WalkSearch::keep_useful_nodes() {
    const double most = length_ * (1.0 + FINE);
    // [still needed][node]: the least way on; [collected][node]: the least way there
    Grid<double> after(needed_ + 1, count_), before(needed_ + 1, count_, INFINITE);
    for (Index left = 1; left <= needed_; ++left)
        for (Index here = 0; here < count_; ++here) {
            double least = INFINITE;
            for (Index there = 0; there < count_; ++there)
                if (there != here)
                    least = std::min(least, shortest_[here][there] + after[std::max<Index>(left - sizes_[there], 0)][there]);
            after[left][here] = least;
        }
    for (Index node = 0; node < count_; ++node) before[std::min(sizes_[node], needed_)][node] = 0.0;
    std::vector<double> arriving(count_);
    for (Index collected = 1; collected < needed_; ++collected) {
        std::fill(arriving.begin(), arriving.end(), INFINITE);
        for (Index here = 0; here < count_; ++here)
            for (Index there = 0; there < count_; ++there)
                if (there != here) arriving[there] = std::min(arriving[there], before[collected][here] + shortest_[here][there]);
        for (Index node = 0; node < count_; ++node) {
            double& reached = before[std::min(collected + sizes_[node], needed_)][node];
            reached = std::min(reached, arriving[node]);
        }
    }
    std::vector<Index> kept;
    for (Index node = 0; node < count_; ++node) {
        bool useful = false;
        for (Index collected = 0; collected <= needed_; ++collected)
            useful = useful || before[collected][node] + after[needed_ - collected][node] <= most;
        if (useful) kept.push_back(node);
    }
    step_ = step_.with_rows(kept).with_columns(kept);
    shortest_ = shortest_.with_rows(kept).with_columns(kept);
    std::vector<Index> sizes;
    for (const Index node : kept) sizes.push_back(sizes_[node]);
    sizes_ = std::move(sizes);
    nodes_ = std::move(kept);
    count_ = static_cast<Index>(nodes_.size());
    metric_ = std::equal(shortest_.values().begin(), shortest_.values().end(), step_.values().begin(),
                         [](double path, double direct) { return path >= direct; });
}

// New nodes only, as far as the memory goes.
void WalkSearch::fill_rest() {
    Index bits = std::max<Index>(std::min<Index>(count_ - 1, 8), 0);
    while (bits > 1 && (count_ * count_ + needed_ * count_) << bits > MOST_REMEMBERED) --bits;
    memory_ = Memory(shortest_, bits, Memory::Of::left);
    rest_.assign(static_cast<std::size_t>((needed_ + 1) * count_) << bits, 0.0);
    std::vector<std::vector<Index>> nearest_first;
    for (Index here = 0; here < count_; ++here) nearest_first.push_back(ascending(shortest_[here], count_));
    std::vector<Flag> seen(count_);
    for (Index left = 1; left <= needed_; ++left)
        for (Index here = 0; here < count_; ++here) {
            const Index* near = memory_.near(here);
            for (Index remembered = 0; remembered < memory_.states(); ++remembered) {
                for (Index bit = 0; bit < bits; ++bit) seen[near[bit]] = remembered >> bit & 1;
                double best = INFINITE;
                for (const Index there : nearest_first[here]) {
                    if (there == here || seen[there]) continue;
                    const double step = shortest_[here][there];
                    if (step >= best) break;
                    const Index still = std::max<Index>(left - sizes_[there], 0);
                    best = std::min(best, step + rest(still, there, memory_.passed(here, there)[remembered]));
                }
                rest(left, here, remembered) = best;
            }
            for (Index bit = 0; bit < bits; ++bit) seen[near[bit]] = 0;
        }
}

// The cheapest ways from the walk's end to all nodes, through nodes of the walk only.
void WalkSearch::reach_from(Index visits) {
    std::fill(reach_.begin(), reach_.end(), visits == 0 ? 0.0 : INFINITE);
    if (visits == 0) return;
    if (metric_) {
        const double* row = step_[levels_[visits - 1].node];
        std::copy(row, row + count_, reach_.begin());
        return;
    }
    std::vector<Flag> finished(visits);
    std::fill_n(inside_.begin(), visits, INFINITE);
    inside_[visits - 1] = 0.0;
    while (true) {
        Index nearest = -1;
        for (Index k = 0; k < visits; ++k)
            if (!finished[k] && inside_[k] < (nearest < 0 ? INFINITE : inside_[nearest])) nearest = k;
        if (nearest < 0) return;
        finished[nearest] = 1;
        const double* row = step_[levels_[nearest].node];
        const double least = inside_[nearest];
        for (Index k = 0; k < visits; ++k)
            if (!finished[k]) inside_[k] = std::min(inside_[k], least + row[levels_[k].node]);
        for (Index there = 0; there < count_; ++there) reach_[there] = std::min(reach_[there], least + row[there]);
    }
}

void WalkSearch::expand(Level& level) {
    reach_from(depth_);
    level.children.clear();
    for (Index node = 0; node < count_; ++node) {
        const double way = level.length + reach_[node];
        if (visited(node) || way >= length_ - slack_) continue;
        const Index* near = memory_.near(node);
        Index remembered = 0;
        for (Index bit = 0; bit < memory_.bits(); ++bit) remembered |= static_cast<Index>(visited(near[bit])) << bit;
        const double bound = way + rest(std::max<Index>(level.left - sizes_[node], 0), node, remembered);
        if (bound < length_ - slack_) level.children.push_back({bound, node, way});
    }
    std::sort(level.children.begin(), level.children.end(), [](const Child& one, const Child& other) {
        return one.bound != other.bound ? one.bound < other.bound : one.node < other.node;
    });
    level.turn = 0;
    level.expanded = true;
}

void WalkSearch::go_on(Index most_work) {
    Index left = most_work;
    while (depth_ >= 0 && left > 0) {
        Level& level = levels_[depth_];
        if (!level.expanded) {
            --left;
            expand(level);
        }
        if (level.turn >= level.children.size() || level.children[level.turn].bound >= length_ - slack_) {
            if (--depth_ >= 0) flip(levels_[depth_].node);
            continue;
        }
        const Child child = level.children[level.turn++];
        level.node = child.node;
        const Index still = level.left - sizes_[child.node];
        if (still <= 0) {
            length_ = child.length;
            walk_.clear();
            for (Index k = 0; k <= depth_; ++k) walk_.push_back(nodes_[levels_[k].node]);
            continue;
        }
        flip(child.node);
        if (reached_.known(visited_, child.node, child.length)) {
            flip(child.node);
            continue;
        }
        Level& next = levels_[++depth_];
        next.length = child.length;
        next.left = still;
        next.expanded = false;
    }
    work_ += most_work - left;
    done_ = depth_ < 0;
}

double WalkSearch::bound() const {
    if (done_) return best() - slack_;
    const double open = least_open(levels_, depth_);
    return constant_ + std::max(std::min(length_ - slack_, open), least_);
}

std::optional<std::vector<Index>> WalkSearch::walk() const {
    if (!std::isfinite(length_)) return std::nullopt;
    return walk_;
}

void bind_walk(nb::module_& module) {
    nb::class_<WalkSearch>(module, "WalkSearch")
        .def("__init__",
             [](WalkSearch* self, Matrix<double> step, Vector<Index> sizes, Index needed, double constant, double share) {
                 new (self) WalkSearch(Grid<double>(view(step)), copied(sizes), needed, constant, share);
             },
             "step"_a, "sizes"_a, "needed"_a, "constant"_a, "share"_a)
        .def("go_on", &WalkSearch::go_on, "most_work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("done", &WalkSearch::done)
        .def_prop_ro("best", &WalkSearch::best)
        .def_prop_ro("bound", &WalkSearch::bound)
        .def_prop_ro("work", &WalkSearch::work)
        .def_prop_ro("walk", [](const WalkSearch& self) -> std::optional<NumpyArray<Index, 1>> {
            auto walk = self.walk();
            if (!walk) return std::nullopt;
            return to_numpy<Index>(std::move(*walk));
        }, nb::rv_policy::move);
}

}  // namespace berth::exact
