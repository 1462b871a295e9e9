// The engine as Python sees it: arrays become the parts of a case; plans and searches are worked with from there.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>

#include "arrays.hpp"
#include "case.hpp"
#include "plan.hpp"
#include "quadratic.hpp"
#include "search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::engine {

namespace {

using Numbers = Vector<std::int64_t>;
using Amounts = Vector<double>;
using Table = Matrix<double>;
// Arrays that properties return are made anew.
constexpr auto OWNED = nb::rv_policy::move;

template <typename Value>
std::span<const Value> view(const Vector<Value>& array) {
    return {array.data(), array.size()};
}

std::vector<Index> indices(const Numbers& array) { return {array.data(), array.data() + array.size()}; }

std::vector<double> amounts(const Table& array) { return {array.data(), array.data() + array.size()}; }

// Rows from where each begins and a function that makes the value at a position.
template <typename Make>
auto rows(const Numbers& first, Make make) {
    Rows<decltype(make(std::size_t{0}))> made;
    made.first.assign(first.data(), first.data() + first.size());
    made.values.reserve(made.first.back());
    for (std::size_t position = 0; position < made.first.back(); ++position) {
        made.values.push_back(make(position));
    }
    return made;
}

Rows<Index> index_rows(const Numbers& first, const Numbers& values) {
    return rows(first, [&](std::size_t position) { return static_cast<Index>(values(position)); });
}

Blocks make_blocks(const Numbers& member_first, const Numbers& members, const Numbers& application,
                   const Numbers& candidate_group, const Numbers& candidate_first, const Numbers& candidates) {
    Blocks made;
    made.members = index_rows(member_first, members);
    made.application = indices(application);
    made.candidate_group = indices(candidate_group);
    made.candidates_by_group = index_rows(candidate_first, candidates);
    for (Index block = 0; block < made.size(); ++block) {
        if (made.candidates(block).size() > 1) {
            made.movable.push_back(block);
        }
    }
    return made;
}

using Streams = Rows<Stream>;

Streams make_streams(const Numbers& first, const Numbers& other, const Vector<bool>& sends, const Amounts& rate,
                     const Amounts& pairs) {
    return rows(first, [&](std::size_t at) {
        return Stream{static_cast<Index>(other(at)), sends(at), rate(at), pairs(at)};
    });
}

OwnCosts make_own_costs(const Amounts& by_work, const Amounts& usual, const Numbers& first, const Numbers& node,
                        const Amounts& cost) {
    auto entries = rows(first, [&](std::size_t at) {
        return OwnCosts::Entry{static_cast<Index>(node(at)), cost(at)};
    });
    return {copied(by_work), copied(usual), std::move(entries)};
}

Links links_of_matrices(Index nodes, bool half_duplex, const Table& flow, const Table& delay_ms,
                        const Table& log_availability, const Matrix<bool>& linked, const Matrix<std::int64_t>& next_hop,
                        const Table& physical_bandwidth, const Table& logical_bandwidth) {
    Links made;
    made.nodes = nodes;
    made.half_duplex = half_duplex;
    made.flow = amounts(flow);
    made.delay_ms = amounts(delay_ms);
    for (Index here = 0; here < nodes && !made.delay_ms.empty(); ++here) {
        for (Index there = 0; there < nodes; ++there) {
            double& ms = made.delay_ms[made.cell(here, there)];
            ms = here == there || std::isnan(ms) ? 0.0 : ms;
        }
    }
    made.log_availability = amounts(log_availability);
    made.linked.assign(linked.data(), linked.data() + linked.size());
    made.next_hop.assign(next_hop.data(), next_hop.data() + next_hop.size());
    made.physical_bandwidth = amounts(physical_bandwidth);
    made.logical_bandwidth = amounts(logical_bandwidth);
    made.counts_flow = flow.size() > 0;
    made.counts_physical = physical_bandwidth.size() > 0;
    made.one_port = logical_bandwidth.size() > 0;
    return made;
}

Links links_of_coordinates(Index nodes, bool half_duplex, const Table& positions, const Amounts& heights,
                           const Amounts& usual_flow, const Numbers& first, const Numbers& to, const Amounts& flow,
                           const Amounts& delay_ms, const Amounts& log_availability, const Amounts& physical_bandwidth,
                           const Amounts& logical_bandwidth, bool counts_flow, bool counts_physical, bool one_port) {
    Links made;
    made.nodes = nodes;
    made.dense = false;
    made.half_duplex = half_duplex;
    made.dimensions = static_cast<Index>(positions.shape(1));
    made.positions = amounts(positions);
    made.heights = copied(heights);
    std::copy_n(usual_flow.data(), 3, made.usual_flow);
    made.own = index_rows(first, to);
    made.own_flow = copied(flow);
    made.own_delay_ms = copied(delay_ms);
    made.own_log_availability = copied(log_availability);
    made.physical_bandwidth = copied(physical_bandwidth);
    made.logical_bandwidth = copied(logical_bandwidth);
    made.counts_flow = counts_flow;
    made.counts_physical = counts_physical;
    made.one_port = one_port;
    return made;
}

Machines make_machines(const Amounts& cost_of_use, const Amounts& log_availability, const Amounts& slowness,
                       const Amounts& card_bytes_per_s, const Amounts& run_queue, const Matrix<std::int64_t>& near,
                       bool cards_count) {
    Machines made;
    made.cost_of_use = copied(cost_of_use);
    made.log_availability = copied(log_availability);
    made.slowness = copied(slowness);
    for (const double speed : view(card_bytes_per_s)) {
        made.card.push_back(speed * (1.0 + TOLERANCE));
        made.ms_per_byte.push_back(std::isfinite(speed) ? 1000.0 / speed : 0.0);
    }
    made.run_queue = copied(run_queue);
    made.near_count = static_cast<Index>(near.shape(1));
    made.near.assign(near.data(), near.data() + near.size());
    made.cards_count = cards_count;
    return made;
}

Rows<Paths::Hop> hops(const Numbers& first, const Numbers& instance, const Amounts& bytes) {
    return rows(first, [&](std::size_t at) { return Paths::Hop{static_cast<Index>(instance(at)), bytes(at)}; });
}

Paths make_paths(const Numbers& block_of, const Amounts& work_ms, const Numbers& input_first, const Numbers& inputs,
                 const Amounts& input_bytes, const Numbers& output_first, const Numbers& outputs,
                 const Amounts& output_bytes, const Numbers& application_first, const Amounts& latest_ms,
                 const Amounts& least_log_availability) {
    Paths made;
    made.block_of = indices(block_of);
    made.work_ms = copied(work_ms);
    made.inputs = hops(input_first, inputs, input_bytes);
    made.outputs = hops(output_first, outputs, output_bytes);
    made.application_first = indices(application_first);
    for (const double ms : view(latest_ms)) {
        made.latest_ms.push_back(ms * (1.0 + TOLERANCE));
    }
    for (const double logarithm : view(least_log_availability)) {
        made.least_log_availability.push_back(logarithm - TOLERANCE);
    }
    return made;
}

NumpyVector<std::int64_t> numpy_nodes(const std::vector<Index>& nodes) {
    return to_numpy(std::vector<std::int64_t>(nodes.begin(), nodes.end()));
}

// A plan for single calls from Python: it takes moves back, one after the other.
class OpenPlan : public Plan {
  public:
    using Plan::Plan;

    void place_all(const Numbers& nodes) {
        check_nodes(nodes);
        former_.clear();
        place(indices(nodes));
    }
    // Several moves that are undone together.
    void move_all(const std::vector<std::pair<Index, Index>>& moves) {
        std::vector<Move> former;
        for (const auto& [block, to] : moves) {
            check(block, to);
            former.push_back({block, node_of(block)});
            move(block, to);
        }
        former_.push_back(std::move(former));
    }
    void undo() {
        if (former_.empty()) {
            throw std::out_of_range("there is no move to undo");
        }
        const std::vector<Move> moves = std::move(former_.back());
        former_.pop_back();
        for (auto made = moves.rbegin(); made != moves.rend(); ++made) {
            move(made->block, made->node);
        }
    }
    // What the value and what is broken would be after some moves.
    std::pair<double, double> outcome_of(const std::vector<std::pair<Index, Index>>& moves) {
        move_all(moves);
        const std::pair<double, double> outcome = {value(), totals().broken};
        undo();
        return outcome;
    }
    // The same for some blocks together on each of some nodes.
    std::pair<NumpyVector<double>, NumpyVector<double>> outcomes_on(const std::vector<Index>& blocks,
                                                                    const Numbers& nodes) {
        std::vector<double> values, broken;
        std::vector<std::pair<Index, Index>> moves;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            moves.clear();
            for (const Index block : blocks) {
                moves.emplace_back(block, static_cast<Index>(nodes(k)));
            }
            const auto [value_there, broken_there] = outcome_of(moves);
            values.push_back(value_there);
            broken.push_back(broken_there);
        }
        return {to_numpy(std::move(values)), to_numpy(std::move(broken))};
    }

    // What it adds to the value to move each block to each of its candidates: a row for each block. Infinite where
    // a block can't go without breaking more. Only for values that are plain sums.
    NumpyVector<double> added_by_moves() {
        const auto nodes = static_cast<std::size_t>(problem().nodes());
        std::vector<double> added(problem().blocks.size() * nodes, INFINITE);
        for (Index block = 0; block < problem().blocks.size(); ++block) {
            for (const Index node : problem().blocks.candidates(block)) {
                if (node != node_of(block)) {
                    added[block * nodes + node] = added_by({{block, node}});
                }
            }
        }
        return to_numpy(std::move(added));
    }
    // The same for two blocks that change places: a row for each of them.
    NumpyVector<double> added_by_swaps() {
        const Index blocks = problem().blocks.size();
        std::vector<double> added(static_cast<std::size_t>(blocks) * blocks, INFINITE);
        for (Index one = 0; one < blocks; ++one) {
            for (Index other = one + 1; other < blocks; ++other) {
                if (may_go(one, node_of(other)) && may_go(other, node_of(one)) && node_of(one) != node_of(other)) {
                    const double both = added_by({{one, node_of(other)}, {other, node_of(one)}});
                    added[static_cast<std::size_t>(one) * blocks + other] = both;
                    added[static_cast<std::size_t>(other) * blocks + one] = both;
                }
            }
        }
        return to_numpy(std::move(added));
    }

  private:
    bool may_go(Index block, Index node) const {
        const auto candidates = problem().blocks.candidates(block);
        return std::binary_search(candidates.begin(), candidates.end(), node);
    }
    double added_by(std::initializer_list<Move> moves) {
        const double value_before = value(), broken_before = totals().broken;
        for (const auto& [block, node] : moves) {
            make(block, node, change_of(block, node));
        }
        const bool breaks = totals().broken > broken_before + WHOLE;
        const double added = value() - value_before;
        take_back();
        return breaks ? INFINITE : added;
    }
    void check(Index block, Index node) const {
        if (block < 0 || block >= problem().blocks.size() || node < 0 || node >= problem().nodes()) {
            throw std::out_of_range("no such block or node");
        }
    }
    void check_nodes(const Numbers& nodes) const {
        if (static_cast<Index>(nodes.size()) != problem().blocks.size()) {
            throw std::invalid_argument("there must be a node for every block");
        }
        for (std::size_t block = 0; block < nodes.size(); ++block) {
            check(static_cast<Index>(block), static_cast<Index>(nodes(block)));
        }
    }

    std::vector<std::vector<Move>> former_;
};

void bind_case(nb::module_& module) {
    nb::class_<Blocks>(module, "Blocks")
        .def(nb::new_(&make_blocks), nb::kw_only(), "member_first"_a, "members"_a, "application"_a,
             "candidate_group"_a, "candidate_first"_a, "candidates"_a);
    nb::class_<Streams>(module, "Streams")
        .def(nb::new_(&make_streams), nb::kw_only(), "first"_a, "other"_a, "sends"_a, "rate"_a, "pairs"_a);
    nb::class_<OwnCosts>(module, "OwnCosts")
        .def(nb::new_(&make_own_costs), nb::kw_only(), "by_work"_a, "usual"_a, "first"_a, "node"_a, "cost"_a);
    nb::class_<Limits>(module, "Limits")
        .def(nb::init<Index, Index>(), "blocks"_a, "nodes"_a)
        .def(
            "add",
            [](Limits& limits, const Numbers& blocks, const Amounts& needed, const Numbers& place_of_node,
               const Amounts& room) { limits.add(view(blocks), view(needed), view(place_of_node), view(room)); },
            nb::kw_only(), "blocks"_a, "needed"_a, "place_of_node"_a, "room"_a);
    nb::class_<Links>(module, "Links")
        .def_static("of_matrices", &links_of_matrices, nb::kw_only(), "nodes"_a, "half_duplex"_a, "flow"_a,
                    "delay_ms"_a, "log_availability"_a, "linked"_a, "next_hop"_a, "physical_bandwidth"_a,
                    "logical_bandwidth"_a)
        .def_static("of_coordinates", &links_of_coordinates, nb::kw_only(), "nodes"_a, "half_duplex"_a, "positions"_a,
                    "heights"_a, "usual_flow"_a, "first"_a, "to"_a, "flow"_a, "delay_ms"_a, "log_availability"_a,
                    "physical_bandwidth"_a, "logical_bandwidth"_a, "counts_flow"_a, "counts_physical"_a,
                    "one_port"_a);
    nb::class_<Machines>(module, "Machines")
        .def(nb::new_(&make_machines), nb::kw_only(), "cost_of_use"_a, "log_availability"_a, "slowness"_a,
             "card_bytes_per_s"_a, "run_queue"_a, "near"_a, "cards_count"_a);
    nb::class_<Paths>(module, "Paths")
        .def(nb::new_(&make_paths), nb::kw_only(), "block_of"_a, "work_ms"_a, "input_first"_a, "inputs"_a,
             "input_bytes"_a, "output_first"_a, "outputs"_a, "output_bytes"_a, "application_first"_a, "latest_ms"_a,
             "least_log_availability"_a);
    nb::class_<Processing>(module, "Processing")
        .def(nb::new_([](const Amounts& load, const Amounts& one_core, const Amounts& processors) {
                 return Processing{copied(load), copied(one_core), copied(processors)};
             }),
             nb::kw_only(), "load"_a, "one_core"_a, "processors"_a);
    nb::class_<Weights>(module, "Weights")
        .def(nb::new_([](double response_time, double response_time_sum, double loaded_response_time,
                         double busiest_link, double busiest_machine, double log_availability, double availability) {
                 return Weights{response_time,   response_time_sum, loaded_response_time, busiest_link,
                                busiest_machine, log_availability,  availability};
             }),
             nb::kw_only(), "response_time"_a = 0.0, "response_time_sum"_a = 0.0, "loaded_response_time"_a = 0.0,
             "busiest_link"_a = 0.0, "busiest_machine"_a = 0.0, "log_availability"_a = 0.0, "availability"_a = 0.0);
    nb::class_<Case>(module, "Case")
        .def(nb::init<Blocks, Streams, OwnCosts, Limits, Links, Machines, Paths, Processing, Weights>(),
             nb::kw_only(), "blocks"_a, "streams"_a, "own_costs"_a, "limits"_a, "links"_a, "machines"_a, "paths"_a,
             "processing"_a, "weights"_a)
        .def_prop_ro("movable", [](const Case& self) { return static_cast<Index>(self.blocks.movable.size()); })
        .def_prop_ro("choices",
                     [](const Case& self) {
                         std::vector<std::int64_t> counts;
                         for (Index block = 0; block < self.blocks.size(); ++block) {
                             counts.push_back(static_cast<std::int64_t>(self.blocks.candidates(block).size()));
                         }
                         return to_numpy(std::move(counts));
                     },
                     OWNED)
        .def_prop_ro("only_sums",
                     [](const Case& self) { return !self.counts_response_time && !self.must_make_moves; })
        .def_prop_ro("is_quadratic", &QuadraticWalk::suits);
}

void bind_plan(nb::module_& module) {
    nb::class_<OpenPlan>(module, "Plan")
        .def(nb::init<const Case&>(), "case"_a, nb::keep_alive<1, 2>())
        .def("place", &OpenPlan::place_all, "nodes"_a)
        .def(
            "move", [](OpenPlan& self, Index block, Index node) { self.move_all({{block, node}}); }, "block"_a,
            "node"_a)
        .def(
            "swap",
            [](OpenPlan& self, Index one, Index other) {
                self.move_all({{one, self.nodes().at(other)}, {other, self.nodes().at(one)}});
            },
            "one"_a, "other"_a)
        .def("move_all", &OpenPlan::move_all, "moves"_a)
        .def("undo", &OpenPlan::undo)
        .def("outcome_of", &OpenPlan::outcome_of, "moves"_a)
        .def("added_by_moves", &OpenPlan::added_by_moves)
        .def("added_by_swaps", &OpenPlan::added_by_swaps)
        .def("outcomes_on", &OpenPlan::outcomes_on, "blocks"_a, "nodes"_a)
        .def_prop_ro("nodes", [](const OpenPlan& self) { return numpy_nodes(self.nodes()); }, OWNED)
        .def_prop_ro("value", &OpenPlan::value)
        .def_prop_ro("broken", [](const OpenPlan& self) { return self.totals().broken; })
        .def_prop_ro("whole", &OpenPlan::whole)
        .def_prop_ro("log_availability", [](const OpenPlan& self) { return self.totals().log_availability; })
        .def_prop_ro("response_time", [](const OpenPlan& self) { return self.totals().response_time; })
        .def_prop_ro("loaded_response_time",
                     [](const OpenPlan& self) { return self.totals().loaded_response_time; })
        .def_prop_ro("busiest_link", [](const OpenPlan& self) { return self.totals().busiest_link; });
}

void bind_search(nb::module_& module) {
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Search>(module, "Search")
        .def(
            "__init__",
            [](Search* self, const Case& problem, std::uint64_t seed, const std::vector<const Case*>& ceilings,
               const std::vector<double>& most, const std::vector<double>& unit) {
                std::vector<Ceiling> held;
                for (std::size_t number = 0; number < ceilings.size(); ++number) {
                    held.push_back({ceilings[number], most[number], unit[number]});
                }
                new (self) Search(problem, seed, held);
            },
            "case"_a, "seed"_a, nb::kw_only(), "ceilings"_a = std::vector<const Case*>{},
            "most"_a = std::vector<double>{}, "unit"_a = std::vector<double>{}, nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 4>())
        .def(
            "place_in_order",
            [](Search& self, const Numbers& order, const Numbers& wanted) {
                self.place_in_order(indices(order), indices(wanted));
            },
            "order"_a, "wanted"_a, Unlocked())
        .def(
            "go_to", [](Search& self, const Numbers& nodes) { self.go_to(indices(nodes)); }, "nodes"_a, Unlocked())
        .def("go_to_best", &Search::go_to_best, Unlocked())
        .def("forget_best", &Search::forget_best)
        .def("typical_change", &Search::typical_change, "count"_a, Unlocked())
        .def(
            "begin_cycle",
            [](Search& self, double hot, double cold, std::int64_t length, std::int64_t period, bool until_whole,
               double value_price, double broken_price, double least_price, double most_price) {
                self.begin_cycle({hot, cold, length, period, until_whole}, value_price,
                                 {broken_price, least_price, most_price});
            },
            nb::kw_only(), "hot"_a, "cold"_a, "length"_a, "period"_a, "until_whole"_a, "value_price"_a,
            "broken_price"_a, "least_price"_a, "most_price"_a)
        .def("run", &Search::run, "steps"_a, Unlocked())
        .def_prop_ro("cycle_over", &Search::cycle_over)
        .def_prop_ro("evaluated", &Search::evaluated)
        .def_prop_ro("nodes", [](const Search& self) { return numpy_nodes(self.plan.nodes()); }, OWNED)
        .def_prop_ro("value", [](const Search& self) { return self.plan.value(); })
        .def_prop_ro("broken", &Search::broken)
        .def_prop_ro("best_nodes", [](const Search& self) { return numpy_nodes(self.best().nodes); }, OWNED)
        .def_prop_ro("best_value", [](const Search& self) { return self.best().value; })
        .def_prop_ro("best_whole", [](const Search& self) { return self.best().whole(); });

    nb::class_<QuadraticWalk>(module, "QuadraticWalk")
        .def("__init__",
             [](QuadraticWalk* self, const OpenPlan& plan) {
                 if (!QuadraticWalk::suits(plan.problem())) {
                     throw std::invalid_argument("more than prices, streams and capacities counts");
                 }
                 new (self) QuadraticWalk(plan, plan.nodes(), plan.whole() ? plan.value() : INFINITE);
             },
             "plan"_a, nb::keep_alive<1, 2>())
        .def(
            "anneal",
            [](QuadraticWalk& self, std::int64_t steps, std::uint64_t seed, double hot, double cold, double price) {
                Cycle cycle{hot, cold, steps, 20};
                BrokenPrice broken{price, price / 50.0, price * 200.0};
                Random random(seed);
                self.anneal(cycle, steps, broken, random);
                return self.take_evaluated();
            },
            nb::kw_only(), "steps"_a, "seed"_a, "hot"_a, "cold"_a, "price"_a)
        .def_prop_ro("nodes", [](const QuadraticWalk& self) { return numpy_nodes(self.nodes()); }, OWNED)
        .def_prop_ro("best_nodes", [](const QuadraticWalk& self) { return numpy_nodes(self.best()); }, OWNED)
        .def_prop_ro("best_cost", &QuadraticWalk::best_cost)
        .def_prop_ro("cost", &QuadraticWalk::cost)
        .def_prop_ro("broken", &QuadraticWalk::broken)
        .def_prop_ro("table", [](const QuadraticWalk& self) { return to_numpy(self.table()); }, OWNED)
        .def_prop_ro("loads", [](const QuadraticWalk& self) { return to_numpy(self.loads()); }, OWNED);
}

}  // namespace

}  // namespace berth::engine

NB_MODULE(engine, module) {
    berth::engine::bind_case(module);
    berth::engine::bind_plan(module);
    berth::engine::bind_search(module);
}
