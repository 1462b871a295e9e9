// What is left of every limit while units are put onto nodes.
#pragma once

#include <vector>

#include "places.hpp"

namespace berth::space {

// A limit bounds what the units at one place need together; a place is a node, or several that share a label.
class Room {
  public:
    Room(const Matrix<double>& needed, std::vector<Vector<Number>> place_of_node, std::vector<Vector<double>> room);

    std::size_t limits() const { return limits_.size(); }

    // A node that holds too much already, of what is pinned there, takes nothing more, whatever that needs.
    bool fits(Number unit, Number node) const {
        if (overfull_places_ > 0 && overfull(node)) return false;
        for (const Need& need : needs_[unit]) {
            if (left_at(need.limit, node) < need.amount) return false;
        }
        return true;
    }

    // Whether units that are all on one node now fit onto another one together.
    bool fits_together(std::span<const Number> units, Number node, Number leaving);

    // Whether two units fit onto these nodes, of which either has room for one of them.
    bool fit_both(Number one, Number other, Number node_of_one, Number node_of_other) const;

    void put(Number unit, Number node) { change(unit, node, -1.0); }
    void take(Number unit, Number node) { change(unit, node, 1.0); }

    // Whether a node holds more than a limit allows.
    bool overfull(Number node) const;

  private:
    struct Need {
        std::size_t limit;
        double amount;
    };
    struct Limit {
        Vector<Number> place_of_node;
        std::vector<double> left;
    };

    double left_at(std::size_t limit, Number node) const {
        return limits_[limit].left[limits_[limit].place_of_node.data()[node]];
    }
    void change(Number unit, Number node, double sign) {
        for (const Need& need : needs_[unit]) {
            Limit& limit = limits_[need.limit];
            double& left = limit.left[limit.place_of_node.data()[node]];
            overfull_places_ -= left < 0.0;
            left += sign * need.amount;
            overfull_places_ += left < 0.0;
        }
    }

    std::vector<Limit> limits_;
    // What each unit needs; of most limits a unit needs nothing.
    std::vector<std::vector<Need>> needs_;
    std::vector<double> together_;
    std::size_t overfull_places_ = 0;
};

}  // namespace berth::space
