// The fastest plan of a small graph of any shape: operators are placed one after the other, senders first.
#include "grid.hpp"
#include "module.hpp"

namespace berth::exact {

namespace {

struct PathProblem {
    Grid<double> work;     // [operator][place]: its time there; infinite where it may not go
    Grid<double> tail;     // [operator][place]: from its start there to the end of its longest path, at least
    Grid<double> delay;    // [place][place]: infinite without a link
    Grid<Index> streams;   // [stream][2]: sender and receiver; operators are numbered senders first
    Grid<double> demand;   // [limit][operator]
    Grid<double> limit;    // [limit][place that stands for others]: what fits
    Grid<Index> group;     // [limit][place]: the place whose limit counts
    std::vector<Index> twin;  // [operator]: an earlier one that differs in nothing; -1: none
};

// Depth-first search: an operator's candidates come in the order of their bounds.
class PathSearch {
  public:
    // Plans count that are faster than `best`.
    PathSearch(PathProblem problem, double best)
        : problem_(std::move(problem)),
          best_(best),
          senders_(operators()),
          levels_(operators() + 1),
          room_(problem_.limit) {
        for (Index stream = 0; stream < problem_.streams.rows(); ++stream)
            senders_[problem_.streams[stream][1]].push_back(problem_.streams[stream][0]);
    }

    // Place up to so many operators; false once everything was looked at.
    bool go_on(Index most_work) {
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

    // The time of the best plan, and its places; none where nothing was faster.
    double best() const { return best_; }
    const std::vector<Index>& plan() const { return plan_; }

  private:
    struct Child {
        double bound;
        Index place;
        double start;
    };

    struct Level {
        bool expanded = false;
        std::vector<Child> children;
        std::size_t turn = 0;
        double bound = 0.0;  // of what is placed before
        Index place = -1;
        double done = 0.0;   // when this operator has finished
    };

    Index operators() const { return problem_.work.rows(); }
    Index places() const { return problem_.work.columns(); }
    bool fits(Index operator_, Index place) const {
        for (Index limit = 0; limit < room_.rows(); ++limit)
            if (problem_.demand[limit][operator_] > room_[limit][problem_.group[limit][place]]) return false;
        return true;
    }

    void take(Index operator_, Index place, double sign) {
        for (Index limit = 0; limit < room_.rows(); ++limit)
            room_[limit][problem_.group[limit][place]] -= sign * problem_.demand[limit][operator_];
    }

    // The places of the next operator through which a faster plan may go.
    void expand(Index operator_) {
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

    void keep() {
        best_ = levels_[operators()].bound;
        plan_.clear();
        for (Index k = 0; k < operators(); ++k) plan_.push_back(levels_[k].place);
    }

    PathProblem problem_;
    double best_;
    std::vector<std::vector<Index>> senders_;
    std::vector<Level> levels_;  // by operator, and one behind the last
    Index depth_ = 0;
    Grid<double> room_;
    std::vector<Index> plan_;
};

}  // namespace

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
