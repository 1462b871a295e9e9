// Tables of two and three dimensions, read as `grid[row][column]`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace berth::exact {

using Index = std::int64_t;
using Flag = std::uint8_t;

constexpr double INFINITE = std::numeric_limits<double>::infinity();

// Rows of a table that somebody else owns.
template <typename Value>
class GridView {
  public:
    GridView(Value* data, Index rows, Index columns) : data_(data), rows_(rows), columns_(columns) {}

    Value* operator[](Index row) const { return data_ + row * columns_; }
    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    Index size() const { return rows_ * columns_; }
    Value* begin() const { return data_; }
    Value* end() const { return data_ + size(); }

  private:
    Value* data_;
    Index rows_, columns_;
};

template <typename Value>
class Grid {
  public:
    Grid() = default;
    Grid(Index rows, Index columns, Value value = Value{})
        : values_(static_cast<std::size_t>(rows * columns), value), rows_(rows), columns_(columns) {}

    template <typename Other>
    explicit Grid(const GridView<Other>& view)
        : values_(view.begin(), view.end()), rows_(view.rows()), columns_(view.columns()) {}

    Value* operator[](Index row) { return values_.data() + row * columns_; }
    const Value* operator[](Index row) const { return values_.data() + row * columns_; }
    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    void fill(Value value) { std::fill(values_.begin(), values_.end(), value); }
    operator GridView<const Value>() const { return {values_.data(), rows_, columns_}; }
    std::vector<Value>& values() { return values_; }
    const std::vector<Value>& values() const { return values_; }

    // The columns in a list, in its order.
    Grid with_columns(const std::vector<Index>& kept) const {
        Grid part(rows_, static_cast<Index>(kept.size()));
        for (Index row = 0; row < rows_; ++row)
            for (std::size_t k = 0; k < kept.size(); ++k) part[row][k] = (*this)[row][kept[k]];
        return part;
    }

    Grid with_rows(const std::vector<Index>& kept) const {
        Grid part(static_cast<Index>(kept.size()), columns_);
        for (std::size_t k = 0; k < kept.size(); ++k)
            std::copy((*this)[kept[k]], (*this)[kept[k]] + columns_, part[static_cast<Index>(k)]);
        return part;
    }

  private:
    std::vector<Value> values_;
    Index rows_ = 0, columns_ = 0;
};

// [layer][row][column]
template <typename Value>
class Cube {
  public:
    Cube() = default;
    Cube(Index layers, Index rows, Index columns, Value value = Value{})
        : values_(static_cast<std::size_t>(layers * rows * columns), value), layers_(layers), rows_(rows), columns_(columns) {}

    GridView<Value> operator[](Index layer) { return {values_.data() + layer * rows_ * columns_, rows_, columns_}; }
    GridView<const Value> operator[](Index layer) const {
        return {values_.data() + layer * rows_ * columns_, rows_, columns_};
    }
    Index layers() const { return layers_; }
    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    void fill(Value value) { std::fill(values_.begin(), values_.end(), value); }
    std::vector<Value>& values() { return values_; }
    const std::vector<Value>& values() const { return values_; }

  private:
    std::vector<Value> values_;
    Index layers_ = 0, rows_ = 0, columns_ = 0;
};

template <typename Value>
using CubeArray = nanobind::ndarray<const Value, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;

template <typename Value>
GridView<const Value> view(const Matrix<Value>& array) {
    return {array.data(), static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1))};
}

// A numpy array that is only read, and kept while it is in use.
template <typename Value>
class SharedGrid : public GridView<const Value> {
  public:
    explicit SharedGrid(Matrix<Value> array) : GridView<const Value>(view(array)), array_(std::move(array)) {}

  private:
    Matrix<Value> array_;
};

template <typename Value>
class SharedCube {
  public:
    explicit SharedCube(CubeArray<Value> array) : array_(std::move(array)) {}

    GridView<const Value> operator[](Index layer) const {
        const auto rows = static_cast<Index>(array_.shape(1)), columns = static_cast<Index>(array_.shape(2));
        return {array_.data() + layer * rows * columns, rows, columns};
    }
    Index layers() const { return static_cast<Index>(array_.shape(0)); }

  private:
    CubeArray<Value> array_;
};

template <typename Value, std::size_t Dimensions>
using NumpyArray = nanobind::ndarray<nanobind::numpy, Value, nanobind::ndim<Dimensions>>;

// A numpy array of any shape that owns its memory; flags become truth values.
template <typename Seen, typename Value, std::size_t Dimensions>
NumpyArray<Seen, Dimensions> shaped(std::vector<Value> values, const std::size_t (&shape)[Dimensions]) {
    static_assert(sizeof(Seen) == sizeof(Value));
    auto owned = std::make_unique<std::vector<Value>>(std::move(values));
    Value* data = owned->data();
    nanobind::capsule owner(owned.release(),
                            [](void* memory) noexcept { delete static_cast<std::vector<Value>*>(memory); });
    return NumpyArray<Seen, Dimensions>(reinterpret_cast<Seen*>(data), Dimensions, shape, owner);
}

template <typename Seen, typename Value>
NumpyArray<Seen, 2> to_numpy(const Grid<Value>& grid) {
    const std::size_t shape[2] = {static_cast<std::size_t>(grid.rows()), static_cast<std::size_t>(grid.columns())};
    return shaped<Seen>(grid.values(), shape);
}

template <typename Seen, typename Value>
NumpyArray<Seen, 1> to_numpy(std::vector<Value> values) {
    const std::size_t shape[1] = {values.size()};
    return shaped<Seen>(std::move(values), shape);
}

}  // namespace berth::exact
