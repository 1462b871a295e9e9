#include "packing.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "module.hpp"

namespace berth::exact {

namespace {

// A share of room by which floating point may be wrong.
constexpr double ROUGH = 1e-12;
// By which share values must be more than what can be borne, to be sure of it.
constexpr double SURE = 1e-9;
// Subgradient steps before the first choice, and after each.
constexpr Index FIRST_STEPS = 120, LATER_STEPS = 6;
// Steps of one knapsack; beyond them, its linear relaxation counts.
constexpr Index MOST_FILLINGS = 1'000;

}  // namespace

void Knapsack::list_items(const std::vector<Flag>& allowed, const std::vector<double>& room,
                          const std::vector<double>& value) {
    whole_ = 0.0;
    scale_.assign(room.size(), 0.0);
    for (std::size_t k = 0; k < room.size(); ++k)
        if (room[k] > 0.0) {
            scale_[k] = 1.0 / room[k];
            whole_ += 1.0 + ROUGH;
        }
    items_.clear();
    for (Index number = 0; number < demand_.columns(); ++number) {
        if (!allowed[number] || value[number] <= 0.0) continue;
        double share = 0.0;
        for (Index k = 0; k < demand_.rows(); ++k) share += demand_[k][number] * scale_[k];
        const Item item{number, share, value[number] / std::max(share, 1e-300)};
        auto spot = items_.end();
        while (spot != items_.begin() && (spot - 1)->density < item.density) --spot;
        items_.insert(spot, item);
    }
}

// What can be reached at most: the densest of the rest first, the last one in part.
double Knapsack::relaxed(double reached, double free, std::size_t at, const std::vector<double>& value) const {
    while (at < items_.size() && items_[at].size <= free) {
        free -= items_[at].size;
        reached += value[items_[at].number];
        ++at;
    }
    if (at < items_.size() && free > 0.0) reached += value[items_[at].number] * free / items_[at].size;
    return reached;
}

double Knapsack::fill(const std::vector<Flag>& allowed, const std::vector<double>& room,
                      const std::vector<double>& value) {
    list_items(allowed, room, value);
    chosen_.assign(demand_.columns(), 0);
    taken_.assign(items_.size(), 0);
    free_ = room;
    double best = -1.0, reached = 0.0, free = whole_;
    std::size_t at = 0;
    const double all_relaxed = relaxed(0.0, whole_, 0, value);
    for (Index step = 0; step < MOST_FILLINGS; ++step) {
        if (relaxed(reached, free, at, value) > best * (1.0 + ROUGH)) {
            for (; at < items_.size(); ++at) {
                const Item& item = items_[at];
                bool fits = true;
                for (Index k = 0; k < demand_.rows(); ++k)
                    fits = fits && demand_[k][item.number] <= free_[k] + ROUGH * room[k];
                if (!fits) continue;
                for (Index k = 0; k < demand_.rows(); ++k) free_[k] -= demand_[k][item.number];
                reached += value[item.number];
                free -= item.size;
                taken_[at] = 1;
            }
            if (reached > best) {
                best = reached;
                for (std::size_t k = 0; k < items_.size(); ++k) chosen_[items_[k].number] = taken_[k];
            }
        }
        while (at > 0 && !taken_[at - 1]) --at;
        if (at == 0) return best;
        // go on without the last one that was taken
        const Item& item = items_[at - 1];
        taken_[at - 1] = 0;
        for (Index k = 0; k < demand_.rows(); ++k) free_[k] += demand_[k][item.number];
        reached -= value[item.number];
        free += item.size;
    }
    return all_relaxed;
}

PackingSearch::PackingSearch(Grid<Flag> usable, Grid<double> demand, Grid<double> room, std::vector<double> value)
    : demand_(std::move(demand)),
      value_(std::move(value)),
      levels_(usable.rows() + 1),
      liked_(usable.rows(), usable.columns()),
      knapsack_(demand_),
      where_(usable.rows()),
      held_(usable.rows()) {
    levels_[0].choice.assign(usable.rows(), -1);
    levels_[0].allowed = std::move(usable);
    levels_[0].left = std::move(room);
}

// Drop places that are too full for an operator; false where one has none left.
bool PackingSearch::narrow(Level& level) const {
    for (Index item = 0; item < operators(); ++item) {
        if (level.choice[item] >= 0) continue;
        bool somewhere = false;
        for (Index place = 0; place < places(); ++place) {
            Flag& allowed = level.allowed[item][place];
            for (Index k = 0; allowed && k < resources(); ++k)
                allowed = demand_[k][item] <= level.left[k][place] * (1.0 + ROUGH);
            somewhere = somewhere || allowed;
        }
        if (!somewhere) return false;
    }
    return true;
}

// Of the operators without a place, one with the fewest places left; the dearest of these.
Index PackingSearch::tightest(const Level& level) const {
    Index tightest = -1, fewest = places() + 1;
    for (Index item = 0; item < operators(); ++item) {
        if (level.choice[item] >= 0) continue;
        const Flag* allowed = level.allowed[item];
        const Index many = std::count(allowed, allowed + places(), Flag{1});
        if (many < fewest || (many == fewest && value_[item] > value_[tightest])) {
            tightest = item;
            fewest = many;
        }
    }
    return tightest;
}

std::optional<std::vector<Index>> PackingSearch::quick_packing() const {
    Level level = levels_[0];
    for (Index turn = 0; turn < operators(); ++turn) {
        if (!narrow(level)) return std::nullopt;
        const Index item = tightest(level);
        Index chosen = -1;
        double least = INFINITE;
        for (Index place = 0; place < places(); ++place) {
            double over = 0.0;
            for (Index k = 0; k < resources(); ++k) over += level.left[k][place];
            if (level.allowed[item][place] && over < least) {
                chosen = place;
                least = over;
            }
        }
        level.choice[item] = chosen;
        for (Index k = 0; k < resources(); ++k) level.left[k][chosen] -= demand_[k][item];
    }
    return level.choice;
}

// Fill every place with what is worth most there; the worth of all fillings.
double PackingSearch::fill_places(const Level& level, const std::vector<double>& worth) {
    std::vector<Flag> allowed(operators());
    std::vector<double> room(resources());
    std::fill(held_.begin(), held_.end(), 0);
    double total = 0.0;
    for (Index place = 0; place < places(); ++place) {
        for (Index item = 0; item < operators(); ++item) allowed[item] = level.allowed[item][place];
        for (Index k = 0; k < resources(); ++k) room[k] = level.left[k][place];
        total += knapsack_.fill(allowed, room, worth);
        for (Index item = 0; item < operators(); ++item)
            if (knapsack_.chosen()[item]) {
                ++held_[item];
                where_[item] = place;
                liked_[item][place] += 1.0;
            }
    }
    return total;
}

// Subgradient steps on the values of the operators that are left.
PackingSearch::Found PackingSearch::improve_values(Level& level, Index steps) {
    std::vector<double> worth(operators());
    liked_.fill(0.0);
    double pace = 1.0;
    for (Index step = 0; step < steps; ++step) {
        double total = 0.0;
        for (Index item = 0; item < operators(); ++item) {
            worth[item] = level.choice[item] < 0 ? value_[item] : 0.0;
            total += worth[item];
        }
        if (total <= 0.0) return Found::open;
        const double rest = total - fill_places(level, worth);
        if (rest > SURE * total) return Found::impossible;
        double length = 0.0;
        bool everybody = true;
        for (Index item = 0; item < operators(); ++item) {
            if (level.choice[item] >= 0) continue;
            length += static_cast<double>((1 - held_[item]) * (1 - held_[item]));
            everybody = everybody && held_[item] > 0;
        }
        if (everybody) {
            for (Index item = 0; item < operators(); ++item)
                if (level.choice[item] < 0) level.choice[item] = where_[item];
            return Found::packed;
        }
        const double change = pace * (0.02 * total - rest) / length;
        pace = std::max(0.3, pace * 0.98);
        for (Index item = 0; item < operators(); ++item)
            if (level.choice[item] < 0)
                value_[item] = std::max(value_[item] + change * static_cast<double>(1 - held_[item]), 1e-6 * total);
    }
    return Found::open;
}

// An operator can't be on a place: nor can operators like it on places like that.
void PackingSearch::forget(Level& level, Index operator_, Index place) const {
    std::vector<Index> same_operators, same_places;
    for (Index other = 0; other < operators(); ++other) {
        bool same = level.choice[other] < 0;
        for (Index k = 0; same && k < resources(); ++k) same = demand_[k][other] == demand_[k][operator_];
        if (same && std::equal(level.allowed[other], level.allowed[other] + places(), level.allowed[operator_]))
            same_operators.push_back(other);
    }
    for (Index spot = 0; spot < places(); ++spot) {
        bool same = true;
        for (Index k = 0; same && k < resources(); ++k) same = level.left[k][spot] == level.left[k][place];
        for (Index other = 0; same && other < operators(); ++other)
            same = level.choice[other] >= 0 || level.allowed[other][spot] == level.allowed[other][place];
        if (same) same_places.push_back(spot);
    }
    for (const Index other : same_operators)
        for (const Index spot : same_places) level.allowed[other][spot] = 0;
}

// The next level: as this one, with the tightest operator on the place that likes it most.
void PackingSearch::branch(Level& level) {
    const Index item = tightest(level);
    Index chosen = -1;
    for (Index place = 0; place < places(); ++place)
        if (level.allowed[item][place] && (chosen < 0 || liked_[item][place] > liked_[item][chosen])) chosen = place;
    level.branch_operator = item;
    level.branch_place = chosen;
    Level& next = levels_[++depth_];
    next.allowed = level.allowed;
    next.left = level.left;
    next.choice = level.choice;
    next.choice[item] = chosen;
    for (Index k = 0; k < resources(); ++k) next.left[k][chosen] -= demand_[k][item];
}

bool PackingSearch::go_on(Index most_work) {
    for (Index work = 0; work < most_work; ++work) {
        Level& level = levels_[depth_];
        const Index steps = begun_ ? LATER_STEPS : FIRST_STEPS;
        begun_ = true;
        const Found found = narrow(level) ? improve_values(level, steps) : Found::impossible;
        if (found == Found::packed || (found == Found::open && depth_ == operators())) {
            packing_ = level.choice;
            return false;
        }
        if (found == Found::impossible) {
            if (--depth_ < 0) return false;
            Level& above = levels_[depth_];
            forget(above, above.branch_operator, above.branch_place);
        } else {
            branch(level);
        }
    }
    return true;
}

void bind_packing(nb::module_& module) {
    using Choice = std::optional<NumpyArray<Index, 1>>;
    const auto as_choice = [](const std::optional<std::vector<Index>>& choice) -> Choice {
        if (!choice) return std::nullopt;
        return to_numpy<Index>(*choice);
    };
    nb::class_<PackingSearch>(module, "PackingSearch")
        .def("__init__",
             [](PackingSearch* self, Matrix<bool> usable, Matrix<double> demand, Matrix<double> room,
                Vector<double> value) {
                 new (self) PackingSearch(Grid<Flag>(view(usable)), Grid<double>(view(demand)), Grid<double>(view(room)),
                                          copied(value));
             },
             "usable"_a, "demand"_a, "room"_a, "value"_a)
        .def("quick_packing", [as_choice](const PackingSearch& self) { return as_choice(self.quick_packing()); })
        .def("go_on", &PackingSearch::go_on, "most_work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("packing", [as_choice](const PackingSearch& self) { return as_choice(self.packing()); }, nb::rv_policy::move)
        .def_prop_ro("value", [](const PackingSearch& self) { return to_numpy<double>(self.value()); }, nb::rv_policy::move);
    module.def(
        "fullest_filling",
        [](Vector<bool> allowed, Matrix<double> demand, Vector<double> room, Vector<double> value) {
            const Grid<double> needs(view(demand));
            Knapsack knapsack(needs);
            const std::vector<Flag> usable(allowed.data(), allowed.data() + allowed.size());
            const double most = knapsack.fill(usable, copied(room), copied(value));
            return std::make_pair(most, to_numpy<bool>(knapsack.chosen()));
        },
        "allowed"_a, "demand"_a, "room"_a, "value"_a);
}

}  // namespace berth::exact
