// All plans one after another, but for those that can't be better (card 1.4): for limits, and streams in circles.
#include <algorithm>
#include <numeric>

#include "room.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Depth first over units in the order of a forest; a branch ends where its bound is no better than the best plan.
//
// The bound of a partial plan is what the sums of the forest say for its best completion, plus the circles that are
// closed already. Choosing a node for a unit raises it by the difference to the unit's best one.
class PlanSearch {
  public:
    PlanSearch(const Vector<Number>& units, const Vector<Number>& nodes, const Vector<Number>& parents,
               const Matrix<double>& sums, const Cube& costs, const Vector<Number>& later,
               const Vector<Number>& earlier, const Cube& closing, const Room& room)
        : units_(copied(units)),
          nodes_(copied(nodes)),
          parents_(copied(parents)),
          sums_(sums.data(), sums.data() + sums.size()),
          costs_(costs.data(), costs.data() + costs.size()),
          closing_costs_(closing.data(), closing.data() + closing.size()),
          room_(room),
          levels_(units_.size()),
          closings_(units_.size()) {
        for (std::size_t k = 0; k < later.size(); ++k) closings_[later.data()[k]].push_back({k, earlier.data()[k]});
        for (std::size_t unit = 0; unit < units_.size(); ++unit) {
            const auto first = sums_.begin() + unit * nodes_.size();
            if (parents_[unit] < 0) floor_ += *std::min_element(first, first + nodes_.size());
        }
    }

    // Goes on for so many steps in all; whether it is at its end.
    bool run(std::size_t most_steps) {
        while (depth_ >= 0) {
            if (fresh_) order_nodes();
            if (steps >= most_steps) return false;
            const bool placed = place_next();
            if (placed && depth_ + 1 < size()) {
                room_.put(units_[depth_], nodes_[here().node]);
                ++depth_;
                fresh_ = true;
            } else if (placed) {
                lowest = here().bound;
                best.clear();
                for (const Level& level : levels_) best.push_back(level.node);
            } else if (--depth_ >= 0) {
                room_.take(units_[depth_], nodes_[here().node]);
            }
        }
        return true;
    }

    std::size_t steps = 0;
    double lowest = std::numeric_limits<double>::infinity();
    std::vector<Number> best;  // the node of every unit; empty: there is no plan yet

  private:
    // A plan is better only by more than rounding, relatively.
    static constexpr double better = 1e-12;

    struct Level {
        Number node = -1;
        double bound = 0.0;               // with this unit placed
        std::vector<std::size_t> order;   // nodes by what they add to the bound
        std::vector<double> price;        // what that is
        std::size_t position = 0;         // how many of them were looked at
    };
    struct Closing {
        std::size_t circle;
        Number earlier;
    };

    Number size() const { return static_cast<Number>(units_.size()); }
    Level& here() { return levels_[depth_]; }
    double sum(std::size_t unit, std::size_t node) const { return sums_[unit * nodes_.size() + node]; }
    double between(const std::vector<double>& costs, std::size_t which, std::size_t one, std::size_t other) const {
        return costs[(which * nodes_.size() + one) * nodes_.size() + other];
    }

    // What each node adds to the bound, the least first.
    void order_nodes() {
        Level& level = here();
        const std::size_t unit = depth_;
        level.price.resize(nodes_.size());
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            level.price[node] = sum(unit, node);
            if (parents_[unit] >= 0) level.price[node] += between(costs_, unit, node, levels_[parents_[unit]].node);
        }
        const double least = *std::ranges::min_element(level.price);
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            level.price[node] -= least;
            for (const auto& [circle, earlier] : closings_[unit]) {
                level.price[node] += between(closing_costs_, circle, node, levels_[earlier].node);
            }
        }
        level.order.resize(nodes_.size());
        std::iota(level.order.begin(), level.order.end(), 0);
        std::ranges::stable_sort(level.order, {}, [&](std::size_t node) { return level.price[node]; });
        level.position = 0;
        fresh_ = false;
    }

    // The unit's next node that has room for it and keeps the bound below the best plan; false: there is none.
    bool place_next() {
        Level& level = here();
        const double before = depth_ > 0 ? levels_[depth_ - 1].bound : floor_;
        while (level.position < level.order.size()) {
            const std::size_t node = level.order[level.position++];
            ++steps;
            const double total = before + level.price[node];
            const bool endless = !(total < std::numeric_limits<double>::infinity());
            if (endless || (std::isfinite(lowest) && !(total < lowest * (1.0 - better)))) {
                // Nodes come by price: those behind are no better.
                level.position = level.order.size();
                return false;
            }
            if (room_.fits(units_[depth_], nodes_[node])) {
                level.node = static_cast<Number>(node);
                level.bound = total;
                return true;
            }
        }
        return false;
    }

    std::vector<Number> units_, nodes_;  // in the numbers of the problem
    std::vector<Number> parents_;        // -1: a tree of its own
    std::vector<double> sums_;           // [units, nodes]: the least cost of a unit and all below it
    std::vector<double> costs_;          // [units, nodes, nodes]: of the streams with the parent
    std::vector<double> closing_costs_;  // [circles, nodes, nodes]
    Room room_;
    std::vector<Level> levels_;
    std::vector<std::vector<Closing>> closings_;  // the circles that each unit closes
    double floor_ = 0.0;
    Number depth_ = 0;
    bool fresh_ = true;
};

void bind_branching(nb::module_& module) {
    nb::class_<PlanSearch>(module, "PlanSearch")
        .def(nb::init<const Vector<Number>&, const Vector<Number>&, const Vector<Number>&, const Matrix<double>&,
                      const Cube&, const Vector<Number>&, const Vector<Number>&, const Cube&, const Room&>(),
             nb::kw_only(), "units"_a, "nodes"_a, "parents"_a, "sums"_a, "costs"_a, "later"_a, "earlier"_a,
             "closing"_a, "room"_a)
        .def("run", &PlanSearch::run, "most_steps"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_ro("steps", &PlanSearch::steps)
        .def_ro("lowest", &PlanSearch::lowest)
        .def_prop_ro("best", [](const PlanSearch& search) { return to_numpy(search.best); },
                     nb::rv_policy::automatic);
}

}  // namespace berth::space
