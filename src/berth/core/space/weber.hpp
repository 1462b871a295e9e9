// The Weber point: where an operator costs its neighbours least (paper 003, algorithm 2; card 1.2).
//
// The printed loop ends after its first accepted step, or never (errata E3.1 and E3.2). Here it ends at a vertex that
// passes the test of optimality, where the flows cancel out, or when the step is too short to matter. Steps along the
// flow can go to and fro in a narrow valley beside a vertex almost without end; a search that takes long gets Newton
// steps, too.
#pragma once

#include "places.hpp"

namespace berth::space {

// Positions nearer than this, in ms, are one place.
constexpr double coincident_ms = 1e-9;

// How a search ended: on a point, between them or, as printed, not at all within the rounds allowed.
enum class Ending { vertex, interior, endless };

struct WeberResult {
    Ending ending;
    int rounds;
    bool tied;  // other places are as good
};

class WeberSearch {
  public:
    explicit WeberSearch(std::size_t dimensions)
        : dimensions_(dimensions), flow_(dimensions), trial_(dimensions), away_(dimensions), hessian_(dimensions * dimensions) {}

    void clear() {
        points_.clear();
        weights_.clear();
    }
    // Weights are above 0.
    void add(Place point, double weight) {
        points_.insert(points_.end(), point.begin(), point.end());
        weights_.push_back(weight);
    }
    std::size_t size() const { return weights_.size(); }
    Place point(std::size_t k) const { return {points_.data() + k * dimensions_, dimensions_}; }

    // The sum of weight x distance from a place to all points.
    double usage_at(Place place) const;

    // Finds the place of least usage for at least one point; `printed`: by the paper's loop.
    WeberResult find(std::span<double> place, bool printed);

  private:
    struct Pull {
        double strength;
        double here;      // the weight of the points at that very place
        double farthest;  // the largest distance
    };

    Pull pull(Place place);
    double newton_step(Place place);
    bool weighted_medians(std::span<double> place);
    bool collinear() const;
    double start(std::span<double> place);
    WeberResult descend(std::span<double> place, double lowest);
    WeberResult descend_as_printed(std::span<double> place, double lowest);
    double try_along_flow(std::span<const double> place, double length);

    std::size_t dimensions_;
    std::vector<double> points_, weights_;
    // What is used anew in every round: the pull, a place to try, and Newton's matrix.
    std::vector<double> flow_, trial_, away_, hessian_;
    std::vector<std::size_t> order_;
};

}  // namespace berth::space
