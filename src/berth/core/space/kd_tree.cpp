// A k-d tree over the nodes of a latency space: a node's distance from a point is Euclidean plus its height.
//
// Distances to a box are rounded in the same way as those to the points in it, so a box is never farther than its
// points: what a search skips is never nearer than what it finds, to the last bit. Ties go to the smaller number.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "room.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Neighbour {
    Number number;
    double distance;

    bool operator<(const Neighbour& other) const {
        return distance != other.distance ? distance < other.distance : number < other.number;
    }
};

class KdTree {
  public:
    static constexpr std::size_t leaf_size = 12;  // found by measuring

    KdTree(const Matrix<double>& points, const Vector<double>& heights, const Vector<Number>& numbers)
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

    std::size_t size() const { return numbers_.size(); }

    // The `count` nearest points whose numbers are accepted, by distance and number.
    template <typename Accepts>
    void nearest(Place from, std::size_t count, Accepts accepts, std::vector<Neighbour>& found) const {
        found.clear();
        if (size() == 0 || count == 0) return;
        Waiting stack[deepest];
        std::size_t waiting = 1;
        stack[0] = {at_least(0, from), 0};
        while (waiting > 0) {
            const auto [bound, part] = stack[--waiting];
            if (found.size() == count && bound > found.front().distance) continue;
            if (is_leaf(part)) {
                offer_points(part, from, count, accepts, found);
                continue;
            }
            Waiting near{at_least(2 * part + 1, from), 2 * part + 1}, far{at_least(2 * part + 2, from), 2 * part + 2};
            if (far.bound < near.bound) std::swap(near, far);
            stack[waiting++] = far;
            stack[waiting++] = near;
        }
        std::sort_heap(found.begin(), found.end());
    }

    // The points, by number, whose distances from two foci, heights included, sum up to at most a length.
    std::vector<Number> in_ellipse(Place first, Place second, double length) const {
        // The ellipse's bounding box (card 1.7), a hair larger than rounding could make it too small.
        std::vector<double> lowest, highest;
        const double focal = distance(second, first);
        const double share = length > 0.0 ? std::min(focal / length, 1.0) : 1.0;
        for (std::size_t axis = 0; axis < first.size(); ++axis) {
            const double slope = focal > 0.0 ? (second[axis] - first[axis]) / focal : 0.0;
            const double along = slope * slope;
            const double half = length / 2.0 * std::sqrt(along + (1.0 - share * share) * (1.0 - along));
            const double slack = 1e-9 * (length + std::abs(first[axis]) + std::abs(second[axis]));
            const double centre = first[axis] + (second[axis] - first[axis]) / 2.0;
            lowest.push_back(centre - half - slack);
            highest.push_back(centre + half + slack);
        }
        std::vector<Number> found;
        std::vector<std::size_t> waiting;
        if (size() > 0) waiting.push_back(0);
        while (!waiting.empty()) {
            const std::size_t part = waiting.back();
            waiting.pop_back();
            bool meets = true;
            for (std::size_t axis = 0; axis < dimensions_; ++axis) {
                meets = meets && low(part)[axis] <= highest[axis] && high(part)[axis] >= lowest[axis];
            }
            if (!meets) continue;
            if (!is_leaf(part)) {
                waiting.push_back(2 * part + 2);
                waiting.push_back(2 * part + 1);
                continue;
            }
            for (std::size_t row = parts_[part].start; row < parts_[part].stop; ++row) {
                const double legs = distance(point(row), first) + distance(point(row), second);
                if (legs + 2.0 * heights_[row] <= length) found.push_back(numbers_[row]);
            }
        }
        std::ranges::sort(found);
        return found;
    }

  private:
    // Room on a search's stack: two parts for each level of a tree of any size.
    static constexpr std::size_t deepest = 130;

    struct Waiting {
        double bound;  // no point of the part is nearer
        std::size_t part;
    };

    // Part k is halved into parts 2k + 1 and 2k + 2; the points of each are a range of rows.
    struct Part {
        std::size_t start = 0;
        std::size_t stop = 0;
        double least_height = infinity;
    };

    bool is_leaf(std::size_t part) const { return 2 * part + 1 >= parts_.size(); }
    Place point(std::size_t row) const { return {points_.data() + row * dimensions_, dimensions_}; }
    // The corners of the box around a part's points.
    Place low(std::size_t part) const { return {low_.data() + part * dimensions_, dimensions_}; }
    Place high(std::size_t part) const { return {high_.data() + part * dimensions_, dimensions_}; }

    void bound(std::size_t part, const Places& points, std::span<const double> heights,
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

    std::size_t widest_axis(std::size_t part) const {
        std::size_t widest = 0;
        for (std::size_t axis = 1; axis < dimensions_; ++axis) {
            if (high(part)[axis] - low(part)[axis] > high(part)[widest] - low(part)[widest]) widest = axis;
        }
        return widest;
    }

    // No point of a part is nearer than this, its height included.
    double at_least(std::size_t part, Place from) const {
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

    // Keeps the best of a leaf's points in a heap whose first entry is the farthest.
    template <typename Accepts>
    void offer_points(std::size_t leaf, Place from, std::size_t count, Accepts accepts,
                      std::vector<Neighbour>& found) const {
        for (std::size_t row = parts_[leaf].start; row < parts_[leaf].stop; ++row) {
            const Neighbour offered{numbers_[row], distance(point(row), from) + heights_[row]};
            if (found.size() == count) {
                if (!(offered < found.front()) || !accepts(offered.number)) continue;
                std::pop_heap(found.begin(), found.end());
                found.back() = offered;
            } else if (accepts(offered.number)) {
                found.push_back(offered);
            } else {
                continue;
            }
            std::push_heap(found.begin(), found.end());
        }
    }

    std::size_t dimensions_;
    std::vector<double> points_;
    std::vector<double> heights_;
    std::vector<Number> numbers_;
    std::vector<Part> parts_;
    std::vector<double> low_;
    std::vector<double> high_;
};

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

}  // namespace

void bind_kd_tree(nb::module_& module) {
    nb::class_<KdTree>(module, "KdTree")
        .def(nb::init<const Matrix<double>&, const Vector<double>&, const Vector<Number>&>(), "points"_a, "heights"_a,
             "numbers"_a)
        .def("__len__", &KdTree::size)
        .def("nearest", &nearest, "points"_a, "count"_a, "room"_a.none(), "units"_a)
        .def(
            "in_ellipse",
            [](const KdTree& tree, const Vector<double>& first, const Vector<double>& second, double length) {
                return to_numpy(tree.in_ellipse(view(first), view(second), length));
            },
            "first"_a, "second"_a, "length"_a);
    module.attr("LEAF_SIZE") = KdTree::leaf_size;
}

}  // namespace berth::space
