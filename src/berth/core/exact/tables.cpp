#include "tables.hpp"

#include "module.hpp"

namespace berth::exact {

namespace {

// What is left of a limit is a difference: a little more than it is allowed, and judged at the end.
constexpr double ROUGH = 1e-12;

class Settling {
  public:
    Settling(const Tables& tables, Grid<Flag> allowed, double beyond) : tables_(tables), beyond_(beyond) {
        rest_.allowed = std::move(allowed);
        rest_.cost = Grid<double>(tables.cost);
        rest_.limit = Grid<double>(tables.limit);
        rest_.blocks.assign(tables.blocks(), 0);
    }

    Settled run() {
        while (rest_.possible) {
            const Index block = decided();
            if (block < 0) break;
            const Flag* row = rest_.allowed[block];
            settle(block, std::find(row, row + tables_.places(), Flag{1}) - row);
        }
        return std::move(rest_);
    }

  private:
    // The first block that has one place only; -1: none. There is no plan where one has none at all.
    Index decided() {
        for (Index block = 0; block < tables_.blocks(); ++block) {
            if (rest_.blocks[block]) continue;
            const Flag* row = rest_.allowed[block];
            const auto count = std::count(row, row + tables_.places(), Flag{1});
            if (count == 0) {
                rest_.possible = false;
                return -1;
            }
            if (count == 1) return block;
        }
        return -1;
    }

    void settle(Index block, Index place) {
        rest_.blocks[block] = 1;
        rest_.constant += rest_.cost[block][place];
        for (Index edge = 0; edge < tables_.edges(); ++edge) {
            const Index first = tables_.ends[edge][0], second = tables_.ends[edge][1];
            const auto pair = tables_.pair[edge];
            if (first == block && !rest_.blocks[second])
                for (Index other = 0; other < tables_.places(); ++other) charge(second, other, pair[place][other]);
            else if (second == block && !rest_.blocks[first])
                for (Index other = 0; other < tables_.places(); ++other) charge(first, other, pair[other][place]);
        }
        for (Index limit = 0; limit < tables_.limits() && rest_.possible; ++limit) take(limit, block, place);
    }

    void charge(Index block, Index place, double costs) {
        rest_.cost[block][place] += costs;
        if (costs >= beyond_) rest_.allowed[block][place] = 0;
    }

    void take(Index limit, Index block, Index place) {
        const Index* group = tables_.group[limit];
        const double* demand = tables_.demand[limit];
        double& left = rest_.limit[limit][group[place]];
        left -= demand[block];
        rest_.possible = left >= -ROUGH;
        for (Index other = 0; other < tables_.blocks(); ++other)
            if (!rest_.blocks[other] && demand[other] > left + ROUGH)
                for (Index spot = 0; spot < tables_.places(); ++spot)
                    if (group[spot] == group[place]) rest_.allowed[other][spot] = 0;
    }

    const Tables& tables_;
    double beyond_;
    Settled rest_;
};

}  // namespace

Settled settle(const Tables& tables, Grid<Flag> allowed, double beyond) {
    return Settling(tables, std::move(allowed), beyond).run();
}

void bind_tables(nb::module_& module) {
    nb::class_<Tables>(module, "Tables")
        .def("__init__",
             [](Tables* self, Matrix<bool> allowed, Matrix<double> cost, Matrix<Index> ends, CubeArray<double> pair,
                Matrix<double> demand, Matrix<double> limit, Matrix<Index> group) {
                 new (self) Tables{SharedGrid<bool>(std::move(allowed)),  SharedGrid<double>(std::move(cost)),
                                   SharedGrid<Index>(std::move(ends)),    SharedCube<double>(std::move(pair)),
                                   SharedGrid<double>(std::move(demand)), SharedGrid<double>(std::move(limit)),
                                   SharedGrid<Index>(std::move(group))};
             },
             "allowed"_a, "cost"_a, "ends"_a, "pair"_a, "demand"_a, "limit"_a, "group"_a);
    nb::class_<Settled>(module, "Settled")
        .def_ro("constant", &Settled::constant)
        .def_ro("possible", &Settled::possible)
        .def_prop_ro("allowed", [](const Settled& self) { return to_numpy<bool>(self.allowed); }, nb::rv_policy::move)
        .def_prop_ro("cost", [](const Settled& self) { return to_numpy<double>(self.cost); }, nb::rv_policy::move)
        .def_prop_ro("limit", [](const Settled& self) { return to_numpy<double>(self.limit); }, nb::rv_policy::move)
        .def_prop_ro("blocks", [](const Settled& self) { return to_numpy<bool>(self.blocks); }, nb::rv_policy::move);
    module.def(
        "settle",
        [](const Tables& tables, Matrix<bool> allowed, double beyond) {
            return settle(tables, Grid<Flag>(view(allowed)), beyond);
        },
        "tables"_a, "allowed"_a, "beyond"_a);
}

}  // namespace berth::exact
