#include "runs.hpp"

#include <cmath>

#include "module.hpp"

namespace berth::exact {

namespace {

// Price changes without a better bound after which they are halved, and how small they become.
constexpr Index PATIENCE = 4;
constexpr double SMALLEST_SCALE = 0.02;
// Steps between places with memory in the table of bounds, about.
constexpr Index MOST_REMEMBERED = 8'000'000;

}  // namespace

RunSearch::RunSearch(Grid<double> cost, Grid<double> step, Grid<double> demand, Grid<double> limit, double share)
    : cost_(std::move(cost)),
      step_(std::move(step)),
      demand_(std::move(demand)),
      limit_(std::move(limit)),
      price_(limit_.rows(), limit_.columns()),
      nodes_(cost_.columns()),
      share_(share),
      plan_(cost_.rows()) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    runs_.priced.resize(operators());
    runs_.load = Grid<double>(resources(), operators());
}

void RunSearch::list_runs(Index first, Index place, const Grid<double>& room) {
    runs_.length = 0;
    double total = 0.0;
    for (Index last = first; last < operators(); ++last) {
        total += cost_[last][place];
        if (total == INFINITE) return;
        bool fits = true;
        for (Index k = 0; k < resources(); ++k) {
            double* load = runs_.load[k];
            load[runs_.length] = demand_[k][last] + (runs_.length > 0 ? load[runs_.length - 1] : 0.0);
            fits = fits && load[runs_.length] <= room[k][place];
            total += price_[k][place] * demand_[k][last];
        }
        if (!fits) return;
        runs_.priced[runs_.length++] = total;
    }
}

double RunSearch::worth(const Grid<double>& room) const {
    double total = 0.0;
    for (std::size_t k = 0; k < room.values().size(); ++k) total += room.values()[k] * price_.values()[k];
    return total;
}

// From the room that is left everywhere.
Index RunSearch::memory_at(Index place, const Grid<double>& room) const {
    Index memory = 0;
    if (resources() == 0) return memory;
    const Index* near = memory_.near(place);
    for (Index bit = 0; bit < memory_.bits(); ++bit)
        if (over_half(near[bit], limit_[0][near[bit]] - room[0][near[bit]])) memory |= Index{1} << bit;
    return memory;
}

void RunSearch::list_below(double costs) {
    lists_ = true;
    best_ = costs;
}

void RunSearch::prepare(Index memory_bits, Index price_changes, Index beam_width, Stop& stop) {
    drop_useless_places();
    Index bits = std::min(memory_bits, places());
    while (bits > 1 && (operators() * places() * places()) << bits > MOST_REMEMBERED) --bits;
    memory_ = Memory(step_, bits);
    nearest_first_.clear();
    for (Index here = 0; here < places(); ++here) nearest_first_.push_back(ascending(step_[here], places()));
    start_.assign(static_cast<std::size_t>((operators() + 1) * places()) << bits, 0.0);
    onward_ = start_;
    improve_prices(price_changes, stop);
    slack_ = std::isfinite(least_) && !lists_ ? share_ * std::max(least_, 0.0) : 0.0;
    if (std::isfinite(least_)) {
        if (!lists_) beam(beam_width);
        forbid_dear_places();
    }
    const auto& costs = cost_.values();
    done_ = !std::isfinite(least_) ||
            std::none_of(costs.begin(), costs.end(), [](double cost) { return std::isfinite(cost); });
    prefix_.assign(operators(), 0);
    levels_.assign(operators() + 1, Level{});
    levels_[0].room = limit_;
    levels_[0].worth = worth(limit_);
    depth_ = 0;
    listed_.clear();
}

// Leave out places where no operator may go any more.
void RunSearch::drop_useless_places() {
    std::vector<Index> kept, nodes;
    for (Index place = 0; place < places(); ++place)
        for (Index k = 0; k < operators(); ++k)
            if (std::isfinite(cost_[k][place])) {
                kept.push_back(place);
                nodes.push_back(nodes_[place]);
                break;
            }
    nodes_ = std::move(nodes);
    cost_ = cost_.with_columns(kept);
    step_ = step_.with_rows(kept).with_columns(kept);
    limit_ = limit_.with_columns(kept);
    price_ = price_.with_columns(kept);
}

// Subgradient steps: prices rise where the cheapest sequence takes more than there is.
void RunSearch::improve_prices(Index price_changes, Stop& stop) {
    double highest = -INFINITE, scale = 1.0;
    Index since = 0;
    Grid<double> kept = price_;
    std::vector<Index> plan(operators());
    for (Index turn = 0; turn < price_changes; ++turn) {
        const double bound = price_out();
        if (std::isinf(bound)) {
            least_ = INFINITE;
            return;
        }
        ++since;
        if (bound > highest) {
            if (bound - highest > 1e-3 * (best_ - bound)) since = 0;
            highest = bound;
            kept = price_;
        }
        Grid<double> over(limit_.rows(), places());
        const double total = follow(over, plan);
        bool fits = true;
        double length = 0.0;
        for (std::size_t k = 0; k < over.values().size(); ++k) {
            double& excess = over.values()[k];
            excess -= limit_.values()[k];
            fits = fits && excess <= 0.0;
            // a price of 0 for what is not wanted stays
            if (excess > 0.0 || price_.values()[k] > 0.0) length += excess * excess;
        }
        if (fits) offer(total, plan);
        if (length == 0.0 || highest >= best_ || stop()) break;
        if (since >= PATIENCE) {
            scale /= 2.0;
            since = 0;
            if (scale < SMALLEST_SCALE) break;
        }
        const double goal = std::isfinite(best_) ? best_ : bound + std::abs(bound) * 0.1 + 1e-9;
        const double pace = scale * (goal - bound) / length;
        for (std::size_t k = 0; k < over.values().size(); ++k)
            price_.values()[k] = std::max(0.0, price_.values()[k] + pace * over.values()[k]);
    }
    price_ = std::move(kept);
    price_out();
    least_ = std::max(least_, highest);
}

// Fill the tables of least priced costs, from the last operator back; the bound.
double RunSearch::price_out() {
    for (Index first = operators() - 1; first >= 0; --first) {
        price_starts(first);
        if (first > 0) price_onward(first);
    }
    double least = INFINITE;
    for (Index place = 0; place < places(); ++place) least = std::min(least, start(0, place, 0));
    return least - worth(limit_);
}

void RunSearch::price_starts(Index first) {
    for (Index place = 0; place < places(); ++place) {
        list_runs(first, place, limit_);
        const double half = resources() > 0 ? limit_[0][place] * 0.5 : INFINITE;
        for (Index memory = 0; memory < memory_.states(); ++memory) {
            double best = INFINITE;
            for (Index k = 0; k < runs_.length; ++k) {
                Index left = memory;
                if (resources() > 0) {
                    if (runs_.load[0][k] >= half && (memory & 1)) break;
                    if (runs_.load[0][k] > half) left |= 1;
                }
                best = std::min(best, runs_.priced[k] + onward(first + k + 1, place, left));
            }
            start(first, place, memory) = best;
        }
    }
}

void RunSearch::price_onward(Index next) {
    double least = INFINITE;
    for (Index place = 0; place < places(); ++place) least = std::min(least, start(next, place, 0));
    for (Index here = 0; here < places(); ++here) {
        const double* steps = step_[here];
        Index best_there = -1;
        for (Index memory = 0; memory < memory_.states(); ++memory) {
            if (memory > 0 && best_there >= 0 && memory_.passed(here, best_there)[memory] == 0) {
                // the best way on of an empty memory is still open, and nothing is better
                onward(next, here, memory) = onward(next, here, 0);
                continue;
            }
            double best = INFINITE;
            for (const Index there : nearest_first_[here]) {
                if (steps[there] + least >= best) break;
                const double way = steps[there] + start(next, there, memory_.passed(here, there)[memory]);
                if (way < best && there != here) {
                    best = way;
                    if (memory == 0) best_there = there;
                }
            }
            onward(next, here, memory) = best;
        }
    }
}

// Go along the cheapest sequence: adds what it takes of places, and fills the plan; its true costs.
double RunSearch::follow(Grid<double>& taken, std::vector<Index>& plan) {
    Index here = -1, first = 0, memory = 0;
    double total = 0.0;
    while (first < operators()) {
        Index place = -1;
        double best = INFINITE;
        for (Index there = 0; there < places(); ++there) {
            const Index arriving = here >= 0 ? memory_.passed(here, there)[memory] : 0;
            const double way = start(first, there, arriving) + step_between(here, there);
            if (way < best && there != here) {
                place = there;
                best = way;
            }
        }
        total += step_between(here, place);
        if (here >= 0) memory = memory_.passed(here, place)[memory];
        list_runs(first, place, limit_);
        const double half = resources() > 0 ? limit_[0][place] * 0.5 : INFINITE;
        best = INFINITE;
        Index stop = first, left = memory;
        for (Index k = 0; k < runs_.length; ++k) {
            Index after = memory;
            if (resources() > 0) {
                if (runs_.load[0][k] >= half && (memory & 1)) break;
                if (runs_.load[0][k] > half) after |= 1;
            }
            const double way = runs_.priced[k] + onward(first + k + 1, place, after);
            if (way < best) {
                best = way;
                stop = first + k + 1;
                left = after;
            }
        }
        for (Index k = first; k < stop; ++k) {
            total += cost_[k][place];
            plan[k] = place;
        }
        for (Index k = 0; k < resources(); ++k) taken[k][place] += runs_.load[k][stop - first - 1];
        here = place;
        first = stop;
        memory = left;
    }
    return total;
}

void RunSearch::offer(double costs, const std::vector<Index>& plan) {
    if (costs >= best_ || lists_) return;
    best_ = costs;
    for (Index k = 0; k < operators(); ++k) plan_[k] = nodes_[plan[k]];
}

// Several partial plans side by side, the most promising by priced costs: good plans to start with.
void RunSearch::beam(Index width) {
    std::vector<std::vector<Partial>> partials(operators() + 1);  // by the number of operators that are placed
    partials[0].push_back({0.0, 0.0, -1, limit_, 0, 0});
    for (Index placed = 0; placed < operators(); ++placed)
        for (Index state = 0; state < static_cast<Index>(partials[placed].size()); ++state)
            extend(placed, state, width, partials);
    const auto& whole = partials[operators()];
    if (whole.empty()) return;
    const auto best = std::min_element(
        whole.begin(), whole.end(), [](const Partial& one, const Partial& other) { return one.spent < other.spent; });
    std::vector<Index> plan(operators());
    const Partial* partial = &*best;
    for (Index stop = operators(); stop > 0; stop = partial->before, partial = &partials[stop][partial->before_state])
        std::fill(plan.begin() + partial->before, plan.begin() + stop, partial->place);
    offer(best->spent, plan);
}

// A partial plan with every run that could come next.
void RunSearch::extend(Index placed, Index state, Index width, std::vector<std::vector<Partial>>& partials) {
    const Partial& partial = partials[placed][state];
    const double base = worth(partial.room);
    for (Index place = 0; place < places(); ++place) {
        const double way = partial.spent + step_between(partial.place, place);
        if (place == partial.place || way == INFINITE) continue;
        list_runs(placed, place, partial.room);
        if (runs_.length == 0) continue;
        const Index memory = memory_at(place, partial.room);
        for (Index k = 0; k < runs_.length; ++k) {
            const Index stop = placed + k + 1;
            Index after = memory;
            double paid = 0.0;
            for (Index resource = 0; resource < resources(); ++resource)
                paid += price_[resource][place] * runs_.load[resource][k];
            if (resources() > 0 && over_half(place, limit_[0][place] - partial.room[0][place] + runs_.load[0][k])) after |= 1;
            const double promise = way + runs_.priced[k] + onward(stop, place, after) - base;
            if (promise >= best_) continue;
            auto& others = partials[stop];
            Partial* slot = nullptr;
            if (static_cast<Index>(others.size()) < width) {
                slot = &others.emplace_back();
            } else {
                slot = &*std::max_element(others.begin(), others.end(), [](const Partial& one, const Partial& other) {
                    return one.promise < other.promise;
                });
                if (promise >= slot->promise) continue;
            }
            *slot = {promise, way + runs_.priced[k] - paid, place, partial.room, placed, state};
            for (Index resource = 0; resource < resources(); ++resource)
                slot->room[resource][place] -= runs_.load[resource][k];
        }
    }
}

// Forbid operators the places through which no plan is better than the best one.
void RunSearch::forbid_dear_places() {
    const double base = worth(limit_), most = best_ - slack_;
    Grid<Flag> keep(operators(), places());
    Grid<double> leaving(operators() + 1, places(), INFINITE);
    for (Index first = 0; first < operators(); ++first)
        for (Index place = 0; place < places(); ++place) {
            double arriving = first == 0 ? 0.0 : INFINITE;
            if (first > 0)
                for (Index here = 0; here < places(); ++here)
                    if (here != place) arriving = std::min(arriving, leaving[first][here] + step_[here][place]);
            list_runs(first, place, limit_);
            for (Index k = 0; k < runs_.length; ++k) {
                const Index stop = first + k + 1;
                const double way = arriving + runs_.priced[k];
                leaving[stop][place] = std::min(leaving[stop][place], way);
                const Index big = resources() > 0 && over_half(place, runs_.load[0][k]) ? 1 : 0;
                if (way + onward(stop, place, big) - base < most)
                    for (Index inside = first; inside < stop; ++inside) keep[inside][place] = 1;
            }
        }
    for (std::size_t k = 0; k < keep.values().size(); ++k)
        if (!keep.values()[k]) cost_.values()[k] = INFINITE;
}

void RunSearch::expand(Level& level) {
    const double base = level.spent - level.worth;
    level.children.clear();
    for (Index place = 0; place < places(); ++place) {
        const double way = base + step_between(level.place, place);
        if (place == level.place || way == INFINITE) continue;
        list_runs(level.position, place, level.room);
        if (runs_.length == 0) continue;
        const Index memory = memory_at(place, level.room);
        for (Index k = 0; k < runs_.length; ++k) {
            const Index stop = level.position + k + 1;
            Index after = memory;
            if (resources() > 0 && over_half(place, limit_[0][place] - level.room[0][place] + runs_.load[0][k])) after |= 1;
            const double bound = way + runs_.priced[k] + onward(stop, place, after);
            if (bound < best_ - slack_) level.children.push_back({bound, place, stop});
        }
    }
    std::sort(level.children.begin(), level.children.end(), [](const Child& one, const Child& other) {
        if (one.bound != other.bound) return one.bound < other.bound;
        return one.place != other.place ? one.place < other.place : one.stop < other.stop;
    });
    level.turn = 0;
    level.expanded = true;
}

void RunSearch::go_on(Index most_work) {
    Index left = most_work;
    while (depth_ >= 0 && left > 0) {
        Level& level = levels_[depth_];
        if (!level.expanded) {
            --left;
            expand(level);
        }
        if (level.turn >= level.children.size() || level.children[level.turn].bound >= best_ - slack_) {
            --depth_;
            continue;
        }
        const Child child = level.children[level.turn++];
        double total = level.spent + step_between(level.place, child.place);
        for (Index k = level.position; k < child.stop; ++k) {
            total += cost_[k][child.place];
            prefix_[k] = child.place;
        }
        if (child.stop < operators())
            descend(level, child, total);
        else if (!lists_)
            offer(total, prefix_);
        else if (total < best_) {
            --left;
            for (const Index place : prefix_) listed_.push_back(nodes_[place]);
        }
    }
    work_ += most_work - left;
    done_ = depth_ < 0;
}

void RunSearch::descend(const Level& level, const Child& child, double spent) {
    Level& next = levels_[++depth_];
    next.position = child.stop;
    next.place = child.place;
    next.spent = spent;
    next.room = level.room;
    for (Index k = 0; k < resources(); ++k) {
        double load = 0.0;
        for (Index operator_ = level.position; operator_ < child.stop; ++operator_) load += demand_[k][operator_];
        next.room[k][child.place] -= load;
    }
    next.worth = worth(next.room);
    next.expanded = false;
}

double RunSearch::bound() const {
    double least = best_ - slack_;
    if (done_) return least;
    for (Index k = 0; k <= depth_; ++k) {
        const Level& level = levels_[k];
        if (!level.expanded)  // reached, not yet looked at
            least = std::min(least, k == 0 ? -INFINITE : levels_[k - 1].children[levels_[k - 1].turn - 1].bound);
        else if (level.turn < level.children.size())
            least = std::min(least, level.children[level.turn].bound);
    }
    return std::max(least, least_);
}

void bind_runs(nb::module_& module) {
    nb::class_<RunSearch>(module, "RunSearch")
        .def("__init__",
             [](RunSearch* self, Matrix<double> cost, Matrix<double> step, Matrix<double> demand, Matrix<double> limit,
                double share) {
                 new (self) RunSearch(Grid<double>(view(cost)), Grid<double>(view(step)), Grid<double>(view(demand)),
                                      Grid<double>(view(limit)), share);
             },
             "cost"_a, "step"_a, "demand"_a, "limit"_a, "share"_a)
        .def("list_below", &RunSearch::list_below, "costs"_a)
        .def("prepare",
             [](RunSearch& self, Index memory_bits, Index price_changes, Index beam_width, const nb::callable& over) {
                 Stop stop(over);
                 nb::gil_scoped_release released;
                 self.prepare(memory_bits, price_changes, beam_width, stop);
             },
             "memory_bits"_a, "price_changes"_a, "beam_width"_a, "over"_a)
        .def("go_on", &RunSearch::go_on, "most_work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("done", &RunSearch::done)
        .def_prop_ro("best", &RunSearch::best)
        .def_prop_ro("bound", &RunSearch::bound)
        .def_prop_ro("work", &RunSearch::work)
        .def_prop_ro("plan", [](const RunSearch& self) { return to_numpy<Index>(self.plan()); }, nb::rv_policy::move)
        .def_prop_ro("listed", [](const RunSearch& self) { return to_numpy<Index>(self.listed()); }, nb::rv_policy::move);
}

}  // namespace berth::exact
