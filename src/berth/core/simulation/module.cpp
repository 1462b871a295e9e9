// What Python sees of the simulation.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "simulation/machine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::simulation {

Processors processors_named(const std::string& name) {
    if (name == "own") return Processors::own;
    if (name == "node") return Processors::node;
    if (name == "shared") return Processors::shared;
    throw std::invalid_argument("no processors named '" + name + "'");
}

// Arrays over instances, `first_output` with one more number at the end, and over outputs.
void make(Machine* self, const nb::object& generator, const Vector<double>& cores,
          const Vector<double>& unit, const Vector<Index>& source_row, const Vector<Index>& sink_column,
          const Vector<Index>& first_output, const Vector<double>& tuple_bytes,
          const Vector<double>& gain, const Vector<Index>& first_receiver,
          const Vector<Index>& receivers, const Vector<Index>& first_route, const Vector<bool>& to_all,
          const std::string& processors, bool regular_arrivals, bool fixed_service, bool split_in_turn,
          double jitter_s, std::int64_t record, std::int64_t most_inside) {
    std::vector<Instance> instances(unit.size());
    for (std::size_t at = 0; at < instances.size(); ++at) {
        instances[at].unit = unit(at);
        instances[at].source_row = source_row(at);
        instances[at].sink_column = sink_column(at);
        instances[at].first_output = first_output(at);
        instances[at].last_output = first_output(at + 1);
    }
    std::vector<Output> outputs;
    for (std::size_t at = 0; at < tuple_bytes.size(); ++at) {
        outputs.push_back({.bytes = tuple_bytes(at),
                           .gain = gain(at),
                           .first_receiver = first_receiver(at),
                           .receivers = receivers(at),
                           .first_route = first_route(at),
                           .to_all = to_all(at)});
    }
    const Settings settings{processors_named(processors), regular_arrivals, fixed_service, split_in_turn,
                            jitter_s, record, most_inside};
    new (self) Machine(NumpyRandom(generator), settings, std::move(instances), std::move(outputs), view(cores));
}

void place(Machine& machine, Vector<Index> node, Vector<double> service_s, Vector<Index> first_hop,
           Vector<Index> last_hop) {
    std::vector<Route> routes;
    for (std::size_t at = 0; at < first_hop.size(); ++at) routes.push_back({first_hop(at), last_hop(at)});
    machine.place(view(node), view(service_s), std::move(routes));
}

void set_network(Machine& machine, Vector<Index> link, Vector<double> delay_s, Vector<double> bandwidth) {
    std::vector<Hop> hops;
    for (std::size_t at = 0; at < link.size(); ++at) hops.push_back({delay_s(at), link(at)});
    machine.set_network(std::move(hops), view(bandwidth));
}

auto results(const Machine& machine) {
    std::vector<double> birth, finish;
    std::vector<Index> source_row, sink;
    for (const Result& result : machine.results()) {
        birth.push_back(result.birth);
        finish.push_back(result.finish);
        source_row.push_back(result.source_row);
        sink.push_back(result.sink);
    }
    return nb::make_tuple(to_numpy(birth), to_numpy(finish), to_numpy(source_row), to_numpy(sink));
}

// A vector of a snapshot as numpy sees it, without a copy: nanobind keeps the snapshot alive for it.
template <typename Value>
NumpyVector<const Value> viewed(const std::vector<Value>& values) {
    return NumpyVector<const Value>(values.data(), {values.size()});
}

template <auto Field>
auto array_of(const Snapshot& snapshot) {
    return viewed(snapshot.*Field);
}

template <auto Field>
auto total_of(const Snapshot& snapshot) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(snapshot.totals.*Field)>>) {
        return snapshot.totals.*Field;
    } else {
        return viewed(snapshot.totals.*Field);
    }
}

void bind_snapshot(nb::module_& module) {
    nb::class_<Snapshot>(module, "Snapshot")
        .def_ro("time", &Snapshot::time)
        .def_ro("inside", &Snapshot::inside)
        .def_prop_ro("emitted", total_of<&Totals::emitted>)
        .def_prop_ro("sent", total_of<&Totals::sent>)
        .def_prop_ro("served", total_of<&Totals::served>)
        .def_prop_ro("joined", total_of<&Totals::joined>)
        .def_prop_ro("lost", total_of<&Totals::lost>)
        .def_prop_ro("results", total_of<&Totals::results>)
        .def_prop_ro("events", total_of<&Totals::events>)
        .def_prop_ro("latency_s", total_of<&Totals::latency_s>)
        .def_prop_ro("worst_latency_s", total_of<&Totals::worst_latency_s>)
        .def_prop_ro("traffic_bytes", total_of<&Totals::traffic_bytes>)
        .def_prop_ro("byte_seconds", total_of<&Totals::byte_seconds>)
        .def_prop_ro("histogram", total_of<&Totals::histogram>)
        .def_prop_ro("pair_latency_s", total_of<&Totals::pair_latency_s>)
        .def_prop_ro("pair_results", total_of<&Totals::pair_results>)
        .def_prop_ro("output_sent", array_of<&Snapshot::sent>)
        .def_prop_ro("instance_arrived", array_of<&Snapshot::arrived>)
        .def_prop_ro("instance_served", array_of<&Snapshot::served>)
        .def_prop_ro("instance_lost", array_of<&Snapshot::lost>)
        .def_prop_ro("instance_tuple_seconds", array_of<&Snapshot::tuple_seconds>)
        .def_prop_ro("instance_busy", array_of<&Snapshot::instance_busy>)
        .def_prop_ro("node_busy", array_of<&Snapshot::node_busy>)
        .def_prop_ro("link_busy", array_of<&Snapshot::link_busy>)
        .def_prop_ro("link_wait", array_of<&Snapshot::link_wait>)
        .def_prop_ro("link_bytes", array_of<&Snapshot::link_bytes>)
        .def_prop_ro("link_tuples", array_of<&Snapshot::link_tuples>);
}

NB_MODULE(simulation, module) {
    module.attr("BINS_PER_DECADE") = BINS_PER_DECADE;
    module.attr("FIRST_DECADE") = FIRST_DECADE;
    module.attr("DECADES") = DECADES;
    bind_snapshot(module);
    nb::class_<Machine>(module, "Machine")
        .def("__init__", &make, nb::keep_alive<1, 2>(), "generator"_a, "cores"_a, nb::kw_only(), "unit"_a,
             "source_row"_a, "sink_column"_a, "first_output"_a, "tuple_bytes"_a, "gain"_a, "first_receiver"_a, "receivers"_a,
             "first_route"_a, "to_all"_a, "processors"_a, "regular_arrivals"_a, "fixed_service"_a, "split_in_turn"_a,
             "jitter_s"_a, "record"_a, "most_inside"_a)
        .def("place", &place, "node"_a, "service_s"_a, "first_hop"_a, "last_hop"_a)
        .def("set_network", &set_network, "link"_a, "delay_s"_a, "bandwidth"_a)
        .def("set_delays", [](Machine& self, Vector<double> delay_s) { self.set_delays(view(delay_s)); },
             "delay_s"_a)
        .def("set_first_gaps", &Machine::set_first_gaps, "source"_a, "gaps"_a)
        .def("set_gap", &Machine::set_gap, "source"_a, "gap"_a, "now"_a)
        .def("stop", &Machine::stop, "instance"_a, "losing"_a, "now"_a)
        .def("resume", &Machine::resume, "instance"_a, "now"_a)
        .def("advance", &Machine::advance, "until"_a, "most_events"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("snapshot", &Machine::snapshot, "now"_a)
        .def("results", &results)
        .def_prop_ro("full", &Machine::full)
        .def_prop_ro("now", &Machine::now);
}

}  // namespace berth::simulation
