// What Python sees: see sharing.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "sharing/heuristics.hpp"
#include "sharing/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::sharing {

namespace {

template <typename Value>
using View = nb::ndarray<nb::numpy, const Value, nb::ndim<1>>;
using NestedLists = std::vector<std::vector<Index>>;
// Arrays know who owns their memory.
constexpr auto owned = nb::rv_policy::reference;
using Nogil = nb::call_guard<nb::gil_scoped_release>;

template <typename Value>
View<Value> view(const std::vector<Value>& values, nb::handle owner) {
    return View<Value>(values.data(), {values.size()}, owner);
}

// Flags by row and node.
auto rows_of(const std::vector<std::uint8_t>& flags, std::size_t nodes, nb::handle owner) {
    return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<2>>(flags.data(), {flags.size() / nodes, nodes}, owner);
}

template <typename Value>
std::vector<Value> copied(const Matrix<Value>& matrix) {
    return {matrix.data(), matrix.data() + matrix.size()};
}

std::vector<std::uint8_t> flags(const bool* first, std::size_t count) { return {first, first + count}; }

// A vector of a struct, as an array that Python may read but not write.
template <typename Owner, typename Value>
auto member(std::vector<Value> Owner::*field) {
    return [field](nb::handle_t<Owner> self) { return view(nb::cast<Owner&>(self).*field, self); };
}

// The present values of a part of a state.
template <typename Value>
auto values(Tracked<Value> State::*field) {
    return [field](nb::handle_t<State> self) { return view((nb::cast<State&>(self).*field).values(), self); };
}

void bind_case(nb::module_& module) {
    nb::class_<Instances>(module, "Instances")
        .def(
            "__init__",
            [](Instances* self, Vector<Index> operator_of, Vector<Index> computation) {
                new (self) Instances(berth::copied(operator_of), berth::copied(computation));
            },
            nb::kw_only(), "operator_of"_a, "computation"_a)
        .def_prop_ro("operator_of", member(&Instances::operator_of), owned);
    nb::class_<Pairs>(module, "Pairs")
        .def(
            "__init__",
            [](Pairs* self, Index instances, Vector<Index> sender, Vector<Index> receiver, Vector<Index> result,
               Vector<double> fixed_rate, Vector<double> rate_per_result) {
                new (self) Pairs(instances, berth::copied(sender), berth::copied(receiver), berth::copied(result),
                                 berth::copied(fixed_rate), berth::copied(rate_per_result));
            },
            nb::kw_only(), "instances"_a, "sender"_a, "receiver"_a, "result"_a, "fixed_rate"_a, "rate_per_result"_a)
        .def_prop_ro("receiver", member(&Pairs::receiver), owned)
        .def_prop_ro("fixed_rate", member(&Pairs::fixed_rate), owned)
        .def_prop_ro("rate_per_result", member(&Pairs::rate_per_result), owned);
    nb::class_<Operators>(module, "Operators")
        .def(
            "__init__",
            [](Operators* self, Vector<Index> first_instance, Vector<Index> kind, Vector<bool> shareable,
               Vector<double> throughput, const NestedLists& inputs, const NestedLists& consumers) {
                new (self) Operators(berth::copied(first_instance), berth::copied(kind),
                                     flags(shareable.data(), shareable.size()), berth::copied(throughput), inputs,
                                     consumers);
            },
            nb::kw_only(), "first_instance"_a, "kind"_a, "shareable"_a, "throughput"_a, "inputs"_a, "consumers"_a)
        .def("__len__", &Operators::count)
        .def_prop_ro("first_instance", member(&Operators::first_instance), owned)
        .def_prop_ro("kind", member(&Operators::kind), owned)
        .def_prop_ro("shareable", member(&Operators::shareable), owned)
        .def_prop_ro("throughput", member(&Operators::throughput), owned)
        .def("equals",
             [](const Operators& self, Index op) {
                 const auto equals = self.equals(op);
                 return std::vector<Index>(equals.begin(), equals.end());
             });
    nb::class_<Objects>(module, "Objects")
        .def(
            "__init__",
            [](Objects* self, const Instances& instances, Index nodes, Vector<Index> first_read,
               Vector<Index> read_object, Vector<double> read_rate, const NestedLists& holders) {
                new (self) Objects(instances, nodes, berth::copied(first_read), berth::copied(read_object),
                                   berth::copied(read_rate), holders);
            },
            nb::kw_only(), "instances"_a, "nodes"_a, "first_read"_a, "read_object"_a, "read_rate"_a, "holders"_a)
        .def_prop_ro("read_object", member(&Objects::read_object), owned)
        .def_prop_ro("read_rate", member(&Objects::read_rate), owned)
        .def_prop_ro(
            "held",
            [](nb::handle_t<Objects> self) {
                return rows_of(nb::cast<Objects&>(self).held, nb::cast<Objects&>(self).nodes, self);
            },
            owned);
    nb::class_<Network>(module, "Network")
        .def(
            "__init__",
            [](Network* self, Vector<double> speed, Vector<double> card, bool one_port, Matrix<bool> connected,
               Matrix<double> bandwidth, Matrix<Index> next_hop, Matrix<Index> link, Vector<double> link_bandwidth) {
                new (self) Network{.speed = berth::copied(speed),
                                   .card = berth::copied(card),
                                   .one_port = one_port,
                                   .connected = flags(connected.data(), connected.size()),
                                   .bandwidth = copied(bandwidth),
                                   .next_hop = copied(next_hop),
                                   .link = copied(link),
                                   .link_bandwidth = berth::copied(link_bandwidth)};
            },
            nb::kw_only(), "speed"_a, "card"_a, "one_port"_a, "connected"_a, "bandwidth"_a, "next_hop"_a, "link"_a,
            "link_bandwidth"_a)
        .def("__len__", &Network::count)
        .def_prop_ro("speed", member(&Network::speed), owned)
        .def_prop_ro("card", member(&Network::card), owned)
        .def(
            "connected",
            [](const Network& self, Index from, Index to) { return self.connected[self.pair(from, to)] != 0; })
        .def("link_ends", [](const Network& self, Index link) {
            const auto found = std::find(self.link.begin(), self.link.end(), link) - self.link.begin();
            return std::tuple(found / self.count(), found % self.count());
        });
    nb::class_<Rules>(module, "Rules")
        .def(
            "__init__",
            [](Rules* self, Vector<Index> row, Matrix<bool> allowed, const NestedLists& companions) {
                new (self) Rules{.nodes = static_cast<Index>(allowed.shape(1)),
                                 .row = berth::copied(row),
                                 .allowed = flags(allowed.data(), allowed.size()),
                                 .companions = Lists(companions)};
            },
            nb::kw_only(), "row"_a, "allowed"_a, "companions"_a)
        .def("allows", &Rules::allows)
        .def_prop_ro("row", member(&Rules::row), owned)
        .def_prop_ro(
            "allowed",
            [](nb::handle_t<Rules> self) {
                return rows_of(nb::cast<Rules&>(self).allowed, nb::cast<Rules&>(self).nodes, self);
            },
            owned);
    nb::class_<PlaceLimit>(module, "PlaceLimit")
        .def(
            "__init__",
            [](PlaceLimit* self, Vector<double> needed, Vector<Index> place_of_node, Vector<double> room, bool once,
               bool by_throughput) {
                new (self) PlaceLimit{berth::copied(needed), berth::copied(place_of_node), berth::copied(room), once,
                                      by_throughput};
            },
            nb::kw_only(), "needed"_a, "place_of_node"_a, "room"_a, "once"_a, "by_throughput"_a = false)
        .def_prop_ro("needed", member(&PlaceLimit::needed), owned)
        .def_prop_ro("place_of_node", member(&PlaceLimit::place_of_node), owned)
        .def_prop_ro("room", member(&PlaceLimit::room), owned)
        .def_ro("first_load", &PlaceLimit::first_load);
    nb::class_<LoadNumbers>(module, "LoadNumbers")
        .def_ro("misplaced", &LoadNumbers::misplaced)
        .def_ro("separated", &LoadNumbers::separated)
        .def_ro("unlinked", &LoadNumbers::unlinked)
        .def_ro("unfetched", &LoadNumbers::unfetched)
        .def_ro("crossed", &LoadNumbers::crossed)
        .def_ro("card", &LoadNumbers::card)
        .def_ro("send", &LoadNumbers::send)
        .def_ro("receive", &LoadNumbers::receive)
        .def_ro("link", &LoadNumbers::link)
        .def_ro("count", &LoadNumbers::count);
    nb::class_<Case>(module, "Case")
        .def(nb::init<Instances, Pairs, Operators, Objects, Network, Rules, std::vector<PlaceLimit>, double>(),
             nb::kw_only(), "instances"_a, "pairs"_a, "operators"_a, "objects"_a, "network"_a, "rules"_a,
             "place_limits"_a, "tolerance"_a)
        .def_ro("instances", &Case::instances)
        .def_ro("pairs", &Case::pairs)
        .def_ro("operators", &Case::operators)
        .def_ro("objects", &Case::objects)
        .def_ro("network", &Case::network)
        .def_ro("rules", &Case::rules)
        .def_ro("place_limits", &Case::place_limits)
        .def_ro("loads", &Case::loads)
        .def_prop_ro("limit", member(&Case::limit), owned);
}

std::vector<std::tuple<Index, Index, Index>> downloads(const State& state) {
    std::vector<std::tuple<Index, Index, Index>> found;
    for (const Index object : Range(0, state.problem.objects.count()))
        for (const Index node : Range(0, state.problem.network.count())) {
            const Download& download = state.download[state.download_number(object, node)];
            if (download.rate >= 0.0 && download.source != none) found.emplace_back(object, download.source, node);
        }
    return found;
}

NumpyVector<double> load_totals(const State& state) {
    std::vector<double> totals;
    totals.reserve(state.load.values().size());
    for (const Load& load : state.load.values()) totals.push_back(load.total());
    return to_numpy(std::move(totals));
}

NumpyVector<std::uint8_t> statuses(const State& state) {
    std::vector<std::uint8_t> numbers;
    for (const Status status : state.status.values()) numbers.push_back(static_cast<std::uint8_t>(status));
    return to_numpy(std::move(numbers));
}

void bind_state(nb::module_& module) {
    nb::enum_<Status>(module, "Status")
        .value("WANTED", Status::wanted)
        .value("REUSED", Status::reused)
        .value("SKIPPED", Status::skipped);
    nb::class_<State::Snapshot>(module, "Snapshot").def(nb::self == nb::self);
    nb::class_<State>(module, "State")
        .def(nb::init<const Case&>(), nb::keep_alive<1, 2>())
        .def_prop_ro("node_of", values(&State::node_of), owned)
        .def_prop_ro("provider", values(&State::provider), owned)
        .def_prop_ro("hosted", values(&State::hosted), owned)
        .def_prop_ro("statuses", &statuses, owned)
        .def_prop_ro("loads", &load_totals, owned)
        .def_prop_ro("downloads", &downloads)
        .def_prop_ro("unplaced", [](const State& self) { return self.counters().unplaced; })
        .def_prop_ro("holds", &State::holds)
        .def_prop_ro("complete", [](const State& self) { return self.holds() && self.counters().unplaced == 0; })
        .def("status", [](const State& self, Index op) { return self.status[op]; })
        .def("placed", &State::placed)
        .def("matched", &State::matched)
        .def("can_reuse", &State::can_reuse)
        .def("exceeded", &State::exceeded)
        .def("move", &State::move)
        .def("move_operator", &State::move_operator)
        .def("reuse", &State::reuse)
        .def("reuse_any", &State::reuse_any)
        .def("compute", &State::compute)
        .def("set_source", &State::set_source)
        .def("keep", &State::keep)
        .def("undo", &State::undo)
        .def("snapshot", &State::snapshot)
        .def("resume", &State::resume);
}

void bind_heuristics(nb::module_& module) {
    nb::enum_<ProcessorChoice>(module, "ProcessorChoice")
        .value("FASTEST", ProcessorChoice::fastest)
        .value("BIGGEST_CARD", ProcessorChoice::biggest_card)
        .value("FASTEST_REMAINING", ProcessorChoice::fastest_remaining)
        .value("BIGGEST_CARD_REMAINING", ProcessorChoice::biggest_card_remaining);
    nb::enum_<Direction>(module, "Direction")
        .value("ANY", Direction::any)
        .value("TOP_DOWN", Direction::top_down)
        .value("BOTTOM_UP", Direction::bottom_up)
        .value("CLIMBING", Direction::climbing);
    nb::class_<Heuristic>(module, "Heuristic")
        .def(
            "__init__",
            [](Heuristic* self, State& state, Vector<Index> order, Direction direction, ProcessorChoice processors,
               bool reuse, bool retry, bool relatives_of_chosen) {
                new (self) Heuristic(state, berth::copied(order),
                                     {direction, processors, reuse, retry, relatives_of_chosen});
            },
            nb::keep_alive<1, 2>(), "state"_a, "order"_a, "direction"_a, "processors"_a, nb::kw_only(), "reuse"_a,
            "retry"_a, "relatives_of_chosen"_a)
        .def("run", &Heuristic::run, Nogil())
        .def_ro("attempts", &Heuristic::attempts)
        .def_ro("stuck_at", &Heuristic::stuck_at)
        .def_ro("blocked_by", &Heuristic::blocked_by);
}

void bind_search(nb::module_& module) {
    nb::class_<Energy>(module, "Energy")
        .def_ro("excess", &Energy::excess)
        .def_ro("cost", &Energy::cost)
        .def_ro("moved", &Energy::moved);
    nb::class_<Search>(module, "Search")
        .def(nb::init<State&, std::uint64_t>(), nb::keep_alive<1, 2>(), "state"_a, "seed"_a)
        .def(
            "aim",
            [](Search& self, Vector<double> limit, Vector<double> node_price, double crossed_price, double busy_price,
               Vector<Index> nodes, Vector<Index> home, double stay, Vector<bool> fixed) {
                self.aim({.limit = berth::copied(limit),
                          .node_price = berth::copied(node_price),
                          .crossed_price = crossed_price,
                          .busy_price = busy_price,
                          .nodes = berth::copied(nodes),
                          .home = berth::copied(home),
                          .stay = stay,
                          .fixed = flags(fixed.data(), fixed.size())});
            },
            nb::kw_only(), "limit"_a, "node_price"_a, "crossed_price"_a, "busy_price"_a, "nodes"_a, "home"_a, "stay"_a,
            "fixed"_a)
        .def_prop_ro("energy", &Search::energy)
        .def("start", &Search::start, nb::kw_only(), "hot"_a, "cold"_a, "steps"_a, "enough"_a)
        .def("anneal", &Search::anneal, Nogil())
        .def_prop_ro("steps_taken", &Search::steps_taken)
        .def("clear", &Search::clear)
        .def("place_all", &Search::place_all, "first"_a, Nogil())
        .def("go_home", &Search::go_home, Nogil());
}

}  // namespace

}  // namespace berth::sharing

NB_MODULE(sharing, module) {
    berth::sharing::bind_case(module);
    berth::sharing::bind_state(module);
    berth::sharing::bind_heuristics(module);
    berth::sharing::bind_search(module);
}
