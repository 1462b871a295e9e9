#include "room.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {

Room::Room(const Matrix<double>& needed, std::vector<Vector<Number>> place_of_node,
           std::vector<Vector<double>> room)
    : needs_(needed.shape(1)), together_(needed.shape(0)) {
    const Rows<const double> amounts(needed);
    for (std::size_t limit = 0; limit < amounts.size(); ++limit) {
        limits_.push_back({std::move(place_of_node[limit]), copied(room[limit])});
        overfull_places_ += std::ranges::count_if(limits_.back().left, [](double left) { return left < 0.0; });
        for (std::size_t unit = 0; unit < needs_.size(); ++unit) {
            if (amounts[limit][unit] > 0.0) needs_[unit].push_back({limit, amounts[limit][unit]});
        }
    }
}

bool Room::fits_together(std::span<const Number> units, Number node, Number leaving) {
    if (overfull_places_ > 0 && overfull(node)) return false;
    std::fill(together_.begin(), together_.end(), 0.0);
    for (const Number unit : units) {
        for (const Need& need : needs_[unit]) together_[need.limit] += need.amount;
    }
    for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
        const Number* places = limits_[limit].place_of_node.data();
        // within one place nothing changes
        if (together_[limit] > 0.0 && places[node] != places[leaving] && left_at(limit, node) < together_[limit]) {
            return false;
        }
    }
    return true;
}

bool Room::fit_both(Number one, Number other, Number node_of_one, Number node_of_other) const {
    for (const Need& need : needs_[one]) {
        const Number* places = limits_[need.limit].place_of_node.data();
        if (places[node_of_one] != places[node_of_other]) continue;
        double together = need.amount;
        for (const Need& second : needs_[other]) {
            if (second.limit == need.limit) together += second.amount;
        }
        if (left_at(need.limit, node_of_one) < together) return false;
    }
    return true;
}

bool Room::overfull(Number node) const {
    for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
        if (left_at(limit, node) < 0.0) return true;
    }
    return false;
}

namespace {

NumpyVector<bool> fits_on(const Room& room, Number unit, const Vector<Number>& nodes) {
    std::vector<char> found;
    for (const Number node : view(nodes)) found.push_back(room.fits(unit, node));
    return owning<NumpyVector<bool>>(std::move(found), {nodes.size()});
}

NumpyMatrix<bool> fit_pairs(const Room& room, Number one, Number other, const Vector<Number>& nodes_of_one,
                            const Vector<Number>& nodes_of_other) {
    std::vector<char> found;
    for (const Number here : view(nodes_of_one)) {
        for (const Number there : view(nodes_of_other)) found.push_back(room.fit_both(one, other, here, there));
    }
    return owning<NumpyMatrix<bool>>(std::move(found), {nodes_of_one.size(), nodes_of_other.size()});
}

}  // namespace

void bind_room(nb::module_& module) {
    nb::class_<Room>(module, "Room")
        .def(nb::init<const Matrix<double>&, std::vector<Vector<Number>>, std::vector<Vector<double>>>(), "needed"_a,
             "place_of_node"_a, "room"_a)
        .def_prop_ro("limits", &Room::limits)
        .def("put", &Room::put, "unit"_a, "node"_a)
        .def("take", &Room::take, "unit"_a, "node"_a)
        .def("fits", &fits_on, "unit"_a, "nodes"_a)
        .def("fit_pairs", &fit_pairs, "one"_a, "other"_a, "nodes_of_one"_a, "nodes_of_other"_a)
        .def("overfull", &Room::overfull, "node"_a)
        .def("copy", [](const Room& room) { return Room(room); });
}

}  // namespace berth::space
