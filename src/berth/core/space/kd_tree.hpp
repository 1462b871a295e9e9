// A k-d tree over the nodes of a latency space: a node's distance from a point is Euclidean plus its height.
//
// Distances to a box are rounded in the same way as those to the points in it, so a box is never farther than its
// points: what a search skips is never nearer than what it finds, to the last bit. Ties go to the smaller number.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "places.hpp"

namespace berth::space {

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

    KdTree(const Matrix<double>& points, const Vector<double>& heights, const Vector<Number>& numbers);

    std::size_t size() const { return numbers_.size(); }
    std::size_t dimensions() const { return dimensions_; }

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

    // Calls `take(row)` for every point in the parts that `may_hold(part)` what is looked for.
    template <typename MayHold, typename Take>
    void visit(MayHold may_hold, Take take) const {
        std::vector<std::size_t> waiting;
        if (size() > 0) waiting.push_back(0);
        while (!waiting.empty()) {
            const std::size_t part = waiting.back();
            waiting.pop_back();
            if (!may_hold(part)) continue;
            if (is_leaf(part)) {
                for (std::size_t row = parts_[part].start; row < parts_[part].stop; ++row) take(row);
            } else {
                waiting.push_back(2 * part + 2);
                waiting.push_back(2 * part + 1);
            }
        }
    }

    Place point(std::size_t row) const { return {points_.data() + row * dimensions_, dimensions_}; }
    double height(std::size_t row) const { return heights_[row]; }
    Number number(std::size_t row) const { return numbers_[row]; }
    // The corners of the box around a part's points.
    Place low(std::size_t part) const { return {low_.data() + part * dimensions_, dimensions_}; }
    Place high(std::size_t part) const { return {high_.data() + part * dimensions_, dimensions_}; }
    // No point of a part is nearer than this, its height included.
    double at_least(std::size_t part, Place from) const;

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
        double least_height = std::numeric_limits<double>::infinity();
    };

    bool is_leaf(std::size_t part) const { return 2 * part + 1 >= parts_.size(); }
    void bound(std::size_t part, const Places& points, std::span<const double> heights,
               std::span<const std::size_t> order);
    std::size_t widest_axis(std::size_t part) const;

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

}  // namespace berth::space
