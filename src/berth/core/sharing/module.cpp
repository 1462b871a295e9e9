// What Python sees: see sharing.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "sharing/heuristics.hpp"
#include "sharing/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::sharing {

namespace {

template <typename Value>
using View = nb::ndarray<nb::numpy, const Value, nb::ndim<1>>;
// Arrays know who owns their memory.
constexpr auto owned = nb::rv_policy::reference;
using Nogil = nb::call_guard<nb::gil_scoped_release>;

template <typename Value>
View<Value> view(const std::vector<Value>& values, nb::handle owner) {
    return View<Value>(values.data(), {values.size()}, owner);
}

// The present values of a part of a state.
template <typename Value>
auto values(Tracked<Value> State::*field) {
    return [field](nb::handle_t<State> self) { return view((nb::cast<State&>(self).*field).values(), self); };
}

// Copies of what a Python object has under some names: vectors, and matrices row by row.
class Fields {
  public:
    explicit Fields(nb::handle owner) : owner_(owner) {}

    template <typename Value>
    Value value(const char* name) const {
        return nb::cast<Value>(owner_.attr(name));
    }
    std::vector<Index> numbers(const char* name) const { return array<Index>(name); }
    std::vector<double> amounts(const char* name) const { return array<double>(name); }
    std::vector<std::uint8_t> flags(const char* name) const { return array<std::uint8_t>(name); }

  private:
    template <typename Value>
    std::vector<Value> array(const char* name) const {
        const auto found = value<nb::ndarray<const Value, nb::c_contig, nb::device::cpu>>(name);
        return {found.data(), found.data() + found.size()};
    }

    nb::handle owner_;
};

std::vector<PlaceLimit> read_limits(const Fields& from) {
    std::vector<PlaceLimit> limits;
    for (const nb::handle limit : from.value<nb::list>("place_limits")) {
        const Fields one(limit);
        limits.push_back({one.amounts("needed"), one.numbers("place_of"), one.amounts("room"), one.value<bool>("once")});
    }
    // processors come first
    limits[0].needed = from.amounts("work");
    limits[0].by_throughput = true;
    return limits;
}

Case read_case(nb::handle arrays) {
    const Fields from(arrays);
    Instances instances(from.numbers("operator_of"), from.numbers("computation"), from.amounts("fixed_load"));
    Pairs pairs(instances.count(), from.numbers("sender"), from.numbers("receiver"), from.numbers("result"),
                from.amounts("fixed_rate"), from.amounts("rate_per_result"));
    Operators operators(from.numbers("first_instance"), from.numbers("kind"), from.flags("shareable"),
                        from.amounts("throughput"), from.value<Lists>("inputs"), from.value<Lists>("consumers"));
    Network network{.speed = from.amounts("speed"),
                    .card = from.amounts("card"),
                    .core = from.amounts("core_room"),
                    .one_port = from.value<bool>("one_port"),
                    .connected = from.flags("connected"),
                    .bandwidth = from.amounts("bandwidth"),
                    .next_hop = from.numbers("next_hop"),
                    .link = from.numbers("link"),
                    .link_bandwidth = from.amounts("link_bandwidth")};
    Objects objects(instances, network.count(), from.numbers("first_read"), from.numbers("read_object"),
                    from.amounts("read_rate"), from.flags("held"));
    Rules rules{.nodes = network.count(), .allowed = from.flags("allowed"), .companions = from.value<Lists>("companions")};
    return {std::move(instances), std::move(pairs),     std::move(operators), std::move(objects),
            std::move(network),   std::move(rules),     read_limits(from),    from.value<double>("tolerance")};
}

void bind_case(nb::module_& module) {
    nb::class_<LoadNumbers>(module, "LoadNumbers")
        .def_ro("misplaced", &LoadNumbers::misplaced)
        .def_ro("separated", &LoadNumbers::separated)
        .def_ro("unlinked", &LoadNumbers::unlinked)
        .def_ro("unfetched", &LoadNumbers::unfetched)
        .def_ro("overworked", &LoadNumbers::overworked)
        .def_ro("crossed", &LoadNumbers::crossed)
        .def_ro("card", &LoadNumbers::card)
        .def_ro("link", &LoadNumbers::link);
    nb::class_<Case>(module, "Case")
        .def("__init__", [](Case* self, nb::handle arrays) { new (self) Case(read_case(arrays)); }, "arrays"_a)
        .def_prop_ro("first_loads",
                     [](const Case& self) {
                         std::vector<Index> first;
                         for (const auto& limit : self.place_limits) first.push_back(limit.first_load);
                         return first;
                     })
        .def_ro("loads", &Case::loads)
        .def_prop_ro("limit", [](nb::handle_t<Case> self) { return view(nb::cast<Case&>(self).limit, self); }, owned);
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
                new (self) Heuristic(state, copied(order),
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
                self.aim({.limit = copied(limit),
                          .node_price = copied(node_price),
                          .crossed_price = crossed_price,
                          .busy_price = busy_price,
                          .nodes = copied(nodes),
                          .home = copied(home),
                          .stay = stay,
                          .fixed = std::vector<std::uint8_t>(fixed.data(), fixed.data() + fixed.size())});
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
