// The cheapest assignment of rows to columns, each column at most once (Jonker and Volgenant, 1987).
#include <nanobind/stl/optional.h>

#include <optional>

#include "module.hpp"

namespace berth::exact {

namespace {

class Assignment {
  public:
    explicit Assignment(const GridView<const double>& cost)
        : cost_(cost), row_price_(cost.rows()), column_price_(cost.columns()), row_at_(cost.columns(), -1) {}

    // The column of every row; nothing where not all rows find one. Infinite costs are forbidden.
    std::optional<std::vector<Index>> run() {
        for (Index row = 0; row < cost_.rows(); ++row)
            if (!add(row)) return std::nullopt;
        std::vector<Index> column_of(cost_.rows());
        for (Index column = 0; column < cost_.columns(); ++column)
            if (row_at_[column] >= 0) column_of[row_at_[column]] = column;
        return column_of;
    }

  private:
    // Find a column for one more row, by the shortest path over columns whose rows would have to move on.
    bool add(Index new_row) {
        std::vector<double> distance(cost_.columns(), INFINITE);
        std::vector<Index> before(cost_.columns(), -1);
        std::vector<Flag> finished(cost_.columns());
        Index row = new_row, last = -1;
        double reached = 0.0;
        while (true) {
            Index nearest = -1;
            for (Index column = 0; column < cost_.columns(); ++column) {
                if (finished[column]) continue;
                const double way = reached + cost_[row][column] - row_price_[row] - column_price_[column];
                if (way < distance[column]) {
                    distance[column] = way;
                    before[column] = last;
                }
                if (nearest < 0 || distance[column] < distance[nearest]) nearest = column;
            }
            if (nearest < 0 || distance[nearest] == INFINITE) return false;
            reached = distance[nearest];
            finished[nearest] = 1;
            last = nearest;
            if (row_at_[nearest] < 0) break;
            row = row_at_[nearest];
        }
        row_price_[new_row] += reached;
        for (Index column = 0; column < cost_.columns(); ++column)
            if (finished[column] && column != last) {
                row_price_[row_at_[column]] += reached - distance[column];
                column_price_[column] -= reached - distance[column];
            }
        for (Index column = last; column >= 0; column = before[column])
            row_at_[column] = before[column] >= 0 ? row_at_[before[column]] : new_row;
        return true;
    }

    GridView<const double> cost_;
    std::vector<double> row_price_, column_price_;
    std::vector<Index> row_at_;
};

}  // namespace

void bind_assignment(nb::module_& module) {
    module.def(
        "cheapest_assignment",
        [](Matrix<double> cost) -> std::optional<NumpyArray<Index, 1>> {
            auto found = Assignment(view(cost)).run();
            if (!found) return std::nullopt;
            return to_numpy<Index>(std::move(*found));
        },
        "cost"_a);
}

}  // namespace berth::exact
