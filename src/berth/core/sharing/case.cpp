#include "sharing/case.hpp"

#include <limits>
#include <utility>

namespace berth::sharing {

namespace {

Index groups_in(const std::vector<Index>& group_of) {
    return group_of.empty() ? 0 : *std::max_element(group_of.begin(), group_of.end()) + 1;
}

}  // namespace

Instances::Instances(std::vector<Index> operator_of, std::vector<Index> computation, std::vector<double> fixed_load)
    : operator_of(std::move(operator_of)),
      computation(std::move(computation)),
      of_computation(by_group(this->computation, groups_in(this->computation))),
      fixed_load(std::move(fixed_load)) {}

Pairs::Pairs(Index instances, std::vector<Index> sender, std::vector<Index> receiver, std::vector<Index> result,
             std::vector<double> fixed_rate, std::vector<double> rate_per_result)
    : sender(std::move(sender)),
      receiver(std::move(receiver)),
      result(std::move(result)),
      of_result(by_group(this->result, groups_in(this->result))),
      fixed_rate(std::move(fixed_rate)),
      rate_per_result(std::move(rate_per_result)),
      to_instance(by_group(this->receiver, instances)),
      from_instance(by_group(this->sender, instances)) {}

Operators::Operators(std::vector<Index> first_instance, std::vector<Index> kind, std::vector<std::uint8_t> shareable,
                     std::vector<double> throughput, Lists inputs, Lists consumers)
    : first_instance(std::move(first_instance)),
      kind(std::move(kind)),
      shareable(std::move(shareable)),
      throughput(std::move(throughput)),
      inputs(std::move(inputs)),
      consumers(std::move(consumers)),
      of_kind(by_group(this->kind, groups_in(this->kind))),
      rank(this->kind.size()),
      first_match{0} {
    for (const auto& equal : of_kind) {
        for (std::size_t position = 0; position < equal.size(); ++position) rank[equal[position]] = position;
        first_match.push_back(first_match.back() + equal.size() * equal.size());
    }
}

Objects::Objects(const Instances& instances, Index nodes, std::vector<Index> first_read,
                 std::vector<Index> read_object, std::vector<double> read_rate, std::vector<std::uint8_t> held)
    : nodes(nodes),
      first_read(std::move(first_read)),
      read_object(std::move(read_object)),
      read_rate(std::move(read_rate)),
      held(std::move(held)),
      holders(nodes > 0 ? this->held.size() / nodes : 0),
      readers(holders.size()) {
    for (const Index object : Range(0, count()))
        for (const Index node : Range(0, nodes))
            if (holds(node, object)) holders[object].push_back(node);
    for (const Index instance : Range(0, instances.count()))
        for (const Index read : reads(instances.operator_of[instance]))
            readers[this->read_object[read]].push_back({instance, read});
}

Case::Case(Instances instances, Pairs pairs, Operators operators, Objects objects, Network network, Rules rules,
           std::vector<PlaceLimit> place_limits, double tolerance)
    : instances(std::move(instances)),
      pairs(std::move(pairs)),
      operators(std::move(operators)),
      objects(std::move(objects)),
      network(std::move(network)),
      rules(std::move(rules)),
      place_limits(std::move(place_limits)),
      tolerance(tolerance) {
    number_loads();
    list_needs();
}

void Case::number_loads() {
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    limit.assign(loads.places, 0.0);
    limit[loads.crossed] = unlimited;
    for (auto& limited : place_limits) {
        limited.first_load = static_cast<Index>(limit.size());
        limit.insert(limit.end(), limited.room.begin(), limited.room.end());
    }
    loads.card = static_cast<Index>(limit.size());
    limit.insert(limit.end(), network.card.begin(), network.card.end());
    loads.send = static_cast<Index>(limit.size());
    loads.receive = loads.send + network.count();
    limit.resize(limit.size() + 2 * network.count(), network.one_port ? 1.0 : unlimited);
    loads.link = static_cast<Index>(limit.size());
    limit.insert(limit.end(), network.link_bandwidth.begin(), network.link_bandwidth.end());
    loads.count = static_cast<Index>(limit.size());
}

void Case::list_needs() {
    std::vector<std::vector<Index>> limits(instances.of_computation.size());
    for (const Index number : Range(0, static_cast<Index>(place_limits.size()))) {
        const auto& needed = place_limits[number].needed;
        for (const Index instance : Range(0, instances.count())) {
            auto& found = limits[instances.computation[instance]];
            if (needed[instance] != 0.0 && (found.empty() || found.back() != number)) found.push_back(number);
        }
    }
    first_need.push_back(0);
    for (const Index instance : Range(0, instances.count())) {
        for (const Index number : limits[instances.computation[instance]])
            need.push_back({number, place_limits[number].needed[instance]});
        first_need.push_back(static_cast<Index>(need.size()));
    }
}

}  // namespace berth::sharing
