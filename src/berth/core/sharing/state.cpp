#include "sharing/state.hpp"

#include <numeric>

namespace berth::sharing {

namespace {

std::vector<Index> numbered(Index count) {
    std::vector<Index> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

std::vector<Index> list_sizes(const Lists& lists) {
    std::vector<Index> sizes;
    for (const auto& list : lists) sizes.push_back(static_cast<Index>(list.size()));
    return sizes;
}

}  // namespace

State::State(const Case& problem)
    : problem(problem),
      node_of(problem.instances.count(), none),
      status(problem.operators.count(), Status::wanted),
      provider(numbered(problem.operators.count())),
      uses(list_sizes(problem.operators.consumers)),
      hosted(problem.network.count(), 0),
      throughput(problem.operators.throughput),
      read_rate(problem.objects.read_rate),
      load(problem.loads.count, Load{}),
      held(problem.need.size(), 0.0),
      crossing(problem.pairs.sender.size(), Crossing{}),
      download(static_cast<std::size_t>(problem.objects.count()) * problem.network.count(), Download{}),
      matches(problem.operators.first_match.back(), 0),
      counters_{.unplaced = problem.instances.count()},
      kept_counters_(counters_) {}

bool State::placed(Index op) const {
    for (const Index instance : problem.operators.instances(op))
        if (node_of[instance] == none) return false;
    return true;
}

void State::move(Index instance, Index node) {
    const Index before = node_of[instance];
    if (before == node) return;
    const Index computation = problem.instances.computation[instance];
    if (before != none) uncount_computation(computation, before);
    if (node != none) uncount_computation(computation, node);
    count_rules(instance, before, -1);
    node_of.at(instance) = node;
    if (before != none) {
        --hosted.at(before);
        ++counters_.unplaced;
        count_computation(computation, before);
    }
    if (node != none) {
        ++hosted.at(node);
        --counters_.unplaced;
        count_computation(computation, node);
    }
    count_rules(instance, node, 1);
    recount_inputs(instance);
    recount_outputs(instance);
    for (const Index read : problem.objects.reads(problem.instances.operator_of[instance])) {
        const Index object = problem.objects.read_object[read];
        if (before != none) recount_download(object, before);
        if (node != none) recount_download(object, node);
    }
}

void State::move_operator(Index op, Index node) {
    for (const Index instance : problem.operators.instances(op)) move(instance, node);
}

void State::keep() {
    std::apply([](auto&... field) { (field.keep(), ...); }, tracked());
    kept_counters_ = counters_;
}

void State::undo() {
    std::apply([](auto&... field) { (field.undo(), ...); }, tracked());
    counters_ = kept_counters_;
}

State::Snapshot State::snapshot() {
    return {std::apply([](auto&... field) { return std::make_tuple(field.values()...); }, tracked()), counters_};
}

void State::resume(const Snapshot& snapshot) {
    [&]<std::size_t... Field>(std::index_sequence<Field...>) {
        auto fields = tracked();
        (std::get<Field>(fields).replace(std::get<Field>(snapshot.values)), ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(snapshot.values)>>());
    counters_ = kept_counters_ = snapshot.counters;
}

}  // namespace berth::sharing
