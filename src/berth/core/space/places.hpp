// Places in the latency space: rows of coordinates in ms, and distances between them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays.hpp"

namespace berth::space {

using Number = std::int64_t;
using Place = std::span<const double>;

// Sums run over the axes in order everywhere, so that the same two places have the same distance to the last bit.
inline double squared_distance(Place one, Place other) {
    double square = 0.0;
    for (std::size_t axis = 0; axis < one.size(); ++axis) {
        const double apart = one[axis] - other[axis];
        square += apart * apart;
    }
    return square;
}

inline double distance(Place one, Place other) { return std::sqrt(squared_distance(one, other)); }

// The rows of a matrix that belongs to somebody else.
template <typename Value>
class Rows {
  public:
    Rows(Value* first, std::size_t count, std::size_t width) : first_(first), count_(count), width_(width) {}
    template <typename Array>
    explicit Rows(const Array& matrix) : Rows(matrix.data(), matrix.shape(0), matrix.shape(1)) {}

    std::span<Value> operator[](std::size_t row) const { return {first_ + row * width_, width_}; }
    std::size_t size() const { return count_; }
    std::size_t width() const { return width_; }

  private:
    Value* first_;
    std::size_t count_;
    std::size_t width_;
};

using Places = Rows<const double>;
using MutablePlaces = Rows<double>;

}  // namespace berth::space
