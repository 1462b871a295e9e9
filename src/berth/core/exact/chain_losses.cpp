// What a pipeline comes to after losses: for a given plan, the least time after each of them.
//
// Only operators on lost places move. Operators that could run there alone are lost: what is before and behind them are
// pieces that have nothing to do with each other, and the slowest piece counts.
#include <nanobind/stl/pair.h>

#include "grid.hpp"
#include "module.hpp"

namespace berth::exact {

namespace {

class ChainLosses {
  public:
    ChainLosses(Grid<double> cost, SharedCube<double> step, Grid<double> demand, Grid<double> limit, Grid<Flag> gone,
                Grid<Flag> lost)
        : cost_(std::move(cost)),
          step_(std::move(step)),
          demand_(std::move(demand)),
          limit_(std::move(limit)),
          gone_(std::move(gone)),
          lost_(std::move(lost)),
          tail_(cost_.rows(), cost_.columns()),
          options_(cost_.rows()),
          later_(cost_.rows() + 1) {}

    // The time after the worst loss; infinite if that is not below `most`. Work is counted down; below 0 it is unknown.
    double worst(const Index* plan, double most, Index& work) {
        room_ = limit_;
        for (Index k = 0; k < operators(); ++k)
            for (Index r = 0; r < room_.rows(); ++r) room_[r][plan[k]] -= demand_[r][k];
        const bool rerouted = step_.layers() > 1;
        double slowest = rerouted ? 0.0 : whole(plan);
        for (Index loss = 0; loss < gone_.rows() && slowest < most; ++loss) {
            bool touched = rerouted;
            for (Index k = 0; k < operators() && !touched; ++k) touched = gone_[loss][plan[k]];
            if (touched) slowest = std::max(slowest, after(loss, plan, most, work));
        }
        return slowest < most ? slowest : INFINITE;
    }

    Index operators() const { return cost_.rows(); }

  private:
    Index places() const { return cost_.columns(); }

    // As long as nothing is lost.
    double whole(const Index* plan) const {
        double total = 0.0;
        for (Index k = 0; k < operators(); ++k)
            total += cost_[k][plan[k]] + (k > 0 ? step_[0][plan[k - 1]][plan[k]] : 0.0);
        return total;
    }

    double after(Index loss, const Index* plan, double most, Index& work) {
        loss_ = loss;
        const GridView<const double> step = step_[step_.layers() > 1 ? loss : 0];
        for (Index k = 0; k < operators(); ++k) {
            options_[k].clear();
            if (lost_[loss][k]) continue;
            if (!gone_[loss][plan[k]]) {
                options_[k].push_back(plan[k]);
                continue;
            }
            for (Index place = 0; place < places(); ++place)
                if (!gone_[loss][place] && cost_[k][place] < INFINITE && fits(k, place)) options_[k].push_back(place);
            if (options_[k].empty()) return INFINITE;
        }
        // from the end: how long the rest of each piece takes at least, and the slowest of the pieces behind it
        double behind = 0.0;
        for (Index k = operators() - 1; k >= 0; --k) {
            later_[k + 1] = behind;
            if (lost_[loss][k]) continue;
            const bool last = k + 1 == operators() || lost_[loss][k + 1];
            double least = INFINITE;
            for (const Index here : options_[k]) {
                double onward = last ? 0.0 : INFINITE;
                if (!last)
                    for (const Index there : options_[k + 1]) onward = std::min(onward, step[here][there] + tail_[k + 1][there]);
                tail_[k][here] = cost_[k][here] + onward;
                least = std::min(least, tail_[k][here]);
            }
            if (k == 0 || lost_[loss][k - 1]) behind = std::max(behind, least);
        }
        best_ = most;
        place(0, -1, 0.0, 0.0, plan, step, work);
        return best_ < most ? best_ : INFINITE;
    }

    bool fits(Index operator_, Index place) const {
        for (Index r = 0; r < room_.rows(); ++r)
            if (demand_[r][operator_] > room_[r][place]) return false;
        return true;
    }

    // Operators from k on; `before` is the place of the one before in its piece, which has taken `spent` so far.
    void place(Index k, Index before, double spent, double slowest, const Index* plan,
               const GridView<const double>& step, Index& work) {
        for (; k < operators(); ++k) {
            if (lost_[loss_][k]) {
                slowest = std::max(slowest, spent);
                spent = 0.0;
                before = -1;
                continue;
            }
            if (gone_[loss_][plan[k]]) break;
            spent += cost_[k][plan[k]] + (before < 0 ? 0.0 : step[before][plan[k]]);
            before = plan[k];
        }
        if (k == operators()) {
            best_ = std::min(best_, std::max(slowest, spent));
            return;
        }
        for (const Index there : options_[k]) {
            if (--work < 0) return;
            const double way = spent + (before < 0 ? 0.0 : step[before][there]);
            if (std::max({slowest, way + tail_[k][there], later_[k + 1]}) >= best_ || !fits(k, there)) continue;
            for (Index r = 0; r < room_.rows(); ++r) room_[r][there] -= demand_[r][k];
            place(k + 1, there, way + cost_[k][there], slowest, plan, step, work);
            for (Index r = 0; r < room_.rows(); ++r) room_[r][there] += demand_[r][k];
        }
    }

    Grid<double> cost_;        // [operator][place]: infinite where it may not go
    SharedCube<double> step_;  // [1, or loss][place][place]: infinite without a link
    Grid<double> demand_;      // [resource][operator]
    Grid<double> limit_;       // [resource][place]
    Grid<Flag> gone_;          // [loss][place]
    Grid<Flag> lost_;          // [loss][operator]
    Grid<double> room_, tail_;
    std::vector<std::vector<Index>> options_;
    std::vector<double> later_;
    double best_ = INFINITE;
    Index loss_ = 0;
};

Grid<Flag> flags(const Matrix<bool>& array) {
    Grid<Flag> found(static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1)));
    std::copy(array.data(), array.data() + found.values().size(), found.values().begin());
    return found;
}

}  // namespace

void bind_chain_losses(nb::module_& module) {
    nb::class_<ChainLosses>(module, "ChainLosses")
        .def("__init__",
             [](ChainLosses* self, Matrix<double> cost, CubeArray<double> step, Matrix<double> demand, Matrix<double> limit,
                Matrix<bool> gone, Matrix<bool> lost) {
                 new (self) ChainLosses(Grid<double>(view(cost)), SharedCube<double>(step), Grid<double>(view(demand)),
                                        Grid<double>(view(limit)), flags(gone), flags(lost));
             },
             "cost"_a, "step"_a, "demand"_a, "limit"_a, "gone"_a, "lost"_a)
        .def("worst",
             [](ChainLosses& self, Matrix<Index> plans, double most, Index most_work) {
                 const auto rows = view(plans);
                 std::vector<double> times(static_cast<std::size_t>(rows.rows()));
                 {
                     nb::gil_scoped_release released;
                     for (Index row = 0; row < rows.rows(); ++row) times[row] = self.worst(rows[row], most, most_work);
                 }
                 return std::make_pair(to_numpy<double>(std::move(times)), most_work);
             },
             "plans"_a, "most"_a, "most_work"_a);
}

}  // namespace berth::exact
