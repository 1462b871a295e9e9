#include "kd_tree.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <numeric>

#include "room.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

constexpr double infinity = std::numeric_limits<double>::infinity();

KdTree::KdTree(const Matrix<double>& points, const Vector<double>& heights, const Vector<Number>& numbers)
    : dimensions_(points.shape(1)) {
    const Places given(points);
    std::size_t levels = 0;
    while ((given.size() >> levels) > leaf_size) ++levels;
    parts_.resize((std::size_t{2} << levels) - 1);
    low_.assign(parts_.size() * dimensions_, infinity);
    high_.assign(parts_.size() * dimensions_, -infinity);
    std::vector<std::size_t> order(given.size());
    std::iota(order.begin(), order.end(), 0);
    parts_[0].stop = order.size();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto [start, stop, height] = parts_[part];
        bound(part, given, view(heights), std::span(order).subspan(start, stop - start));
        if (is_leaf(part)) continue;
        const std::size_t middle = (start + stop) / 2, axis = widest_axis(part);
        std::nth_element(order.begin() + start, order.begin() + middle, order.begin() + stop,
                         [&](std::size_t one, std::size_t other) { return given[one][axis] < given[other][axis]; });
        parts_[2 * part + 1].start = start;
        parts_[2 * part + 1].stop = middle;
        parts_[2 * part + 2].start = middle;
        parts_[2 * part + 2].stop = stop;
    }
    for (const std::size_t row : order) {
        points_.insert(points_.end(), given[row].begin(), given[row].end());
        heights_.push_back(heights.data()[row]);
        numbers_.push_back(numbers.data()[row]);
    }
}

void KdTree::bound(std::size_t part, const Places& points, std::span<const double> heights,
                   std::span<const std::size_t> order) {
    for (const std::size_t row : order) {
        parts_[part].least_height = std::min(parts_[part].least_height, heights[row]);
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            double& lowest = low_[part * dimensions_ + axis];
            double& highest = high_[part * dimensions_ + axis];
            lowest = std::min(lowest, points[row][axis]);
            highest = std::max(highest, points[row][axis]);
        }
    }
}

std::size_t KdTree::widest_axis(std::size_t part) const {
    std::size_t widest = 0;
    for (std::size_t axis = 1; axis < dimensions_; ++axis) {
        if (high(part)[axis] - low(part)[axis] > high(part)[widest] - low(part)[widest]) widest = axis;
    }
    return widest;
}

double KdTree::at_least(std::size_t part, Place from) const {
    const Place lowest = low(part), highest = high(part);
    double square = 0.0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        double apart = 0.0;
        if (from[axis] < lowest[axis]) {
            apart = lowest[axis] - from[axis];
        } else if (from[axis] > highest[axis]) {
            apart = from[axis] - highest[axis];
        }
        square += apart * apart;
    }
    return std::sqrt(square) + parts_[part].least_height;
}

namespace {

// The `count` nearest nodes of each point, of those that have room for its unit; -1 where there are no more.
auto nearest(const KdTree& tree, const Matrix<double>& points, std::size_t count, const Room* room,
             const Vector<Number>& units) {
    const Places from(points);
    std::vector<Number> numbers(from.size() * count, -1);
    std::vector<double> distances(from.size() * count, infinity);
    std::vector<Neighbour> found;
    for (std::size_t row = 0; row < from.size(); ++row) {
        if (room == nullptr) {
            tree.nearest(from[row], count, [](Number) { return true; }, found);
        } else {
            tree.nearest(from[row], count, [&](Number node) { return room->fits(units.data()[row], node); }, found);
        }
        for (std::size_t k = 0; k < found.size(); ++k) {
            numbers[row * count + k] = found[k].number;
            distances[row * count + k] = found[k].distance;
        }
    }
    return std::pair(owning<NumpyMatrix<Number>>(std::move(numbers), {from.size(), count}),
                     owning<NumpyMatrix<double>>(std::move(distances), {from.size(), count}));
}

struct Box {
    std::vector<double> low, high;

    bool meets(Place other_low, Place other_high) const {
        for (std::size_t axis = 0; axis < low.size(); ++axis) {
            if (other_low[axis] > high[axis] || other_high[axis] < low[axis]) return false;
        }
        return true;
    }
};

// The bounding box of an ellipse (card 1.7), a hair larger than rounding could make it too small.
Box around_ellipse(Place first, Place second, double length) {
    const double focal = distance(second, first);
    const double share = length > 0.0 ? std::min(focal / length, 1.0) : 1.0;
    Box box;
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
        const double slope = focal > 0.0 ? (second[axis] - first[axis]) / focal : 0.0;
        const double along = slope * slope;
        const double half = length / 2.0 * std::sqrt(along + (1.0 - share * share) * (1.0 - along));
        const double slack = 1e-9 * (length + std::abs(first[axis]) + std::abs(second[axis]));
        const double centre = first[axis] + (second[axis] - first[axis]) / 2.0;
        box.low.push_back(centre - half - slack);
        box.high.push_back(centre + half + slack);
    }
    return box;
}

NumpyVector<Number> in_ellipse(const KdTree& tree, const Vector<double>& first, const Vector<double>& second, double length) {
    const Place one = view(first), other = view(second);
    const Box box = around_ellipse(one, other, length);
    std::vector<Number> found;
    tree.visit([&](std::size_t part) { return box.meets(tree.low(part), tree.high(part)); },
               [&](std::size_t row) {
                   const double legs = distance(tree.point(row), one) + distance(tree.point(row), other);
                   if (legs + 2.0 * tree.height(row) <= length) found.push_back(tree.number(row));
               });
    std::sort(found.begin(), found.end());
    return to_numpy(std::move(found));
}

}  // namespace

void bind_kd_tree(nb::module_& module) {
    nb::class_<KdTree>(module, "KdTree")
        .def(nb::init<const Matrix<double>&, const Vector<double>&, const Vector<Number>&>(), "points"_a, "heights"_a,
             "numbers"_a)
        .def("__len__", &KdTree::size)
        .def("nearest", &nearest, "points"_a, "count"_a, "room"_a.none(), "units"_a)
        .def("in_ellipse", &in_ellipse, "first"_a, "second"_a, "length"_a);
    module.attr("LEAF_SIZE") = KdTree::leaf_size;
}

}  // namespace berth::space
