// The tree search for packings, as the Python module berth.core.packing.
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "tree_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::packing {
namespace {

// Rows of kind and bin.
NumpyMatrix<std::int64_t> as_rows(std::span<const Action> path) {
    std::vector<std::int64_t> values;
    for (const auto& [kind, bin] : path) {
        values.push_back(kind);
        values.push_back(bin);
    }
    return owning<NumpyMatrix<std::int64_t>>(std::move(values), {path.size(), 2});
}

SharedLimit shared_limit(const Vector<double>& needed, const Vector<std::int64_t>& place_of_bin,
                         const Vector<double>& room) {
    SharedLimit limit{copied(needed), copied(place_of_bin), copied(room), {}};
    limit.bins_at.resize(limit.room.size());
    for (std::size_t bin = 0; bin < limit.place_of_bin.size(); ++bin) {
        limit.bins_at[limit.place_of_bin[bin]].push_back(static_cast<int>(bin));
    }
    return limit;
}

Case make_case(const Vector<std::int64_t>& members, const Matrix<double>& need, const Matrix<double>& room,
               const Matrix<double>& traffic, const Matrix<bool>& allowed, const Matrix<std::uint64_t>& hosts,
               const Matrix<double>& distance, const Vector<std::int64_t>& following, const Matrix<double>& share,
               const Vector<double>& fullness, const Matrix<double>& nearness, std::vector<SharedLimit> shared,
               double scale, bool uniform, double per_traffic, double per_bin) {
    std::vector<std::vector<Partner>> partners(members.size());
    for (std::size_t one = 0; one < partners.size(); ++one) {
        for (std::size_t other = 0; other < partners.size(); ++other) {
            const double both_ways = traffic(one, other) + traffic(other, one);
            if (both_ways > 0.0) partners[one].push_back({static_cast<int>(other), both_ways});
        }
    }
    return {copied(members),   Table<double>(need),
            Table<double>(room), Table<double>(traffic),
            std::move(partners),   Table<char>(allowed),
            Table<std::uint64_t>(hosts), Table<double>(distance),
            copied(following), Table<double>(share),
            copied(fullness),  Table<double>(nearness),
            std::move(shared), scale,
            uniform,           per_traffic,
            per_bin};
}

NumpyMatrix<std::int64_t> statuses(const PartialMap& map, const Case& what) {
    std::vector<std::int64_t> values;
    for (std::size_t bin = 0; bin < what.bins(); ++bin) {
        for (std::size_t kind = 0; kind < what.kinds(); ++kind) values.push_back(map.status(bin, kind));
    }
    return owning<NumpyMatrix<std::int64_t>>(std::move(values), {what.bins(), what.kinds()});
}

}  // namespace
}  // namespace berth::packing

NB_MODULE(packing, module) {
    using namespace berth::packing;
    using berth::to_numpy;
    nb::class_<SharedLimit>(module, "SharedLimit")
        .def(nb::new_(&shared_limit), "needed"_a, "place_of_bin"_a, "room"_a);
    nb::class_<Case>(module, "Case")
        .def(nb::new_(&make_case), nb::kw_only(), "members"_a, "need"_a, "room"_a, "traffic"_a, "allowed"_a, "hosts"_a,
             "distance"_a, "following"_a, "share"_a, "fullness"_a, "nearness"_a, "shared"_a, "scale"_a, "uniform"_a,
             "per_traffic"_a, "per_bin"_a)
        .def_prop_ro("kinds", &Case::kinds)
        .def_prop_ro("bins", &Case::bins)
        .def_prop_ro("items", &Case::items);
    nb::class_<PartialMap>(module, "PartialMap")
        .def(nb::init<const Case&>(), nb::keep_alive<1, 2>(), "case"_a)
        .def("place", [](PartialMap& map, int kind, int bin) { map.place({kind, bin}); }, "kind"_a, "bin"_a)
        .def(
            "roll_out",
            [](PartialMap& map, std::uint64_t seed) {
                berth::Random random(seed);
                map.roll_out(random);
            },
            "seed"_a)
        .def_prop_ro("whole", &PartialMap::whole)
        .def_prop_ro("hopeless_kinds", &PartialMap::hopeless_kinds)
        .def("actions_in", [](const PartialMap& map, int bin, int status) {
            return map.actions_in(bin, static_cast<Status>(status));
        }, "bin"_a, "status"_a)
        .def_prop_ro("path", [](const PartialMap& map) { return as_rows(map.path().first(map.placed())); },
                     nb::rv_policy::automatic)
        .def_prop_ro("left", [](const PartialMap& map) {
            return to_numpy(std::vector<std::int64_t>(map.left().begin(), map.left().end()));
        }, nb::rv_policy::automatic)
        .def("statuses", &statuses, "case"_a);
    nb::class_<TreeSearch>(module, "TreeSearch")
        .def(
            "__init__",
            [](TreeSearch* self, const Case& what, std::uint64_t seed, int samples, int attempts, int patience,
               double exploration, double unit, double worst, double all_traffic, double farthest, bool printed,
               std::size_t most_nodes) {
                const Rules rules{samples, attempts,    patience, exploration, unit,
                                  worst,   all_traffic, farthest, printed,     most_nodes};
                new (self) TreeSearch(what, rules, seed);
            },
            "case"_a, "seed"_a, nb::kw_only(), "samples"_a, "attempts"_a, "patience"_a, "exploration"_a, "unit"_a,
            "worst"_a, "all_traffic"_a, "farthest"_a, "printed"_a, "most_nodes"_a)
        .def("sample", &TreeSearch::sample, "most"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("decide", &TreeSearch::decide)
        .def_prop_ro("rounds", &TreeSearch::rounds)
        .def_prop_ro("nodes", &TreeSearch::size)
        .def_prop_ro("roll_outs", &TreeSearch::roll_outs)
        .def_prop_ro("dead_ends", &TreeSearch::dead_ends)
        .def_prop_ro("best", [](const TreeSearch& search) { return as_rows(search.best()); },
                     nb::rv_policy::automatic)
        .def_prop_ro("decided", [](const TreeSearch& search) {
            return as_rows(search.decided().path().first(search.decided().placed()));
        }, nb::rv_policy::automatic)
        .def_prop_ro("visits", [](const TreeSearch& search) { return search.start().visits; })
        .def_prop_ro("best_action", [](const TreeSearch& search) {
            const int best = search.best_child();
            return best < 0 ? -1 : search.node(best).action;
        })
        // for whoever looks into the tree: action, visits and cost of every child of the node that is searched from
        .def("children", [](const TreeSearch& search) {
            nb::list found;
            for (int child = search.start().child; child >= 0; child = search.node(child).sibling) {
                const TreeSearch::Node& node = search.node(child);
                found.append(nb::make_tuple(node.action, node.visits, node.cost));
            }
            return found;
        });
    module.attr("EQUAL") = equal_costs;
    module.attr("NO") = static_cast<int>(no);
    module.attr("PLAIN") = static_cast<int>(plain);
    module.attr("PREFERRED") = static_cast<int>(preferred);
}
