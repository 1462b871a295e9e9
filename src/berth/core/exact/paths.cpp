#include "paths.hpp"

#include "module.hpp"

namespace berth::exact {

PathSearch::PathSearch(PathProblem problem, double best)
    : problem_(std::move(problem)),
      best_(best),
      senders_(operators()),
      levels_(operators() + 1),
      room_(problem_.limit) {
    for (Index stream = 0; stream < problem_.streams.rows(); ++stream)
        senders_[problem_.streams[stream][1]].push_back(problem_.streams[stream][0]);
}

bool PathSearch::fits(Index operator_, Index place) const {
    for (Index limit = 0; limit < room_.rows(); ++limit)
        if (problem_.demand[limit][operator_] > room_[limit][problem_.group[limit][place]]) return false;
    return true;
}

void PathSearch::take(Index operator_, Index place, double sign) {
    for (Index limit = 0; limit < room_.rows(); ++limit)
        room_[limit][problem_.group[limit][place]] -= sign * problem_.demand[limit][operator_];
}

// The places of the next operator through which a faster plan may go.
void PathSearch::expand(Index operator_) {
    Level& level = levels_[operator_];
    const Index twin = problem_.twin[operator_];
    // of operators that differ in nothing, the earlier one takes the earlier place
    const Index first = twin < 0 ? 0 : levels_[twin].place;
    level.children.clear();
    for (Index place = first; place < places(); ++place) {
        double start = 0.0;
        for (const Index sender : senders_[operator_])
            start = std::max(start, levels_[sender].done + problem_.delay[levels_[sender].place][place]);
        const double bound = std::max(level.bound, start + problem_.tail[operator_][place]);
        if (bound < best_ && fits(operator_, place)) level.children.push_back({bound, place, start});
    }
    std::sort(level.children.begin(), level.children.end(), [](const Child& one, const Child& other) {
        return one.bound != other.bound ? one.bound < other.bound : one.place < other.place;
    });
    level.turn = 0;
    level.expanded = true;
}

void PathSearch::keep() {
    best_ = levels_[operators()].bound;
    plan_.clear();
    for (Index k = 0; k < operators(); ++k) plan_.push_back(levels_[k].place);
}

bool PathSearch::go_on(Index most_work) {
    while (depth_ >= 0 && most_work > 0) {
        Level& level = levels_[depth_];
        if (depth_ == operators()) {
            keep();
        } else {
            if (!level.expanded) {
                --most_work;
                expand(depth_);
            }
            if (level.turn < level.children.size() && level.children[level.turn].bound < best_) {
                const Child& child = level.children[level.turn++];
                level.place = child.place;
                level.done = child.start + problem_.work[depth_][child.place];
                take(depth_, child.place, 1.0);
                levels_[++depth_].expanded = false;
                levels_[depth_].bound = child.bound;
                continue;
            }
        }
        if (--depth_ >= 0) take(depth_, levels_[depth_].place, -1.0);
    }
    return depth_ >= 0;
}

void bind_paths(nb::module_& module) {
    nb::class_<PathSearch>(module, "PathSearch")
        .def("__init__",
             [](PathSearch* self, Matrix<double> work, Matrix<double> tail, Matrix<double> delay, Matrix<Index> streams,
                Matrix<double> demand, Matrix<double> limit, Matrix<Index> group, Vector<Index> twin, double best) {
                 PathProblem problem{Grid<double>(view(work)),   Grid<double>(view(tail)),  Grid<double>(view(delay)),
                                     Grid<Index>(view(streams)), Grid<double>(view(demand)), Grid<double>(view(limit)),
                                     Grid<Index>(view(group)),   copied(twin)};
                 new (self) PathSearch(std::move(problem), best);
             },
             "work"_a, "tail"_a, "delay"_a, "streams"_a, "demand"_a, "limit"_a, "group"_a, "twin"_a, "best"_a)
        .def("go_on", &PathSearch::go_on, "most_work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("best", &PathSearch::best)
        .def_prop_ro("plan", [](const PathSearch& self) { return to_numpy<Index>(self.plan()); }, nb::rv_policy::move);
}

}  // namespace berth::exact
