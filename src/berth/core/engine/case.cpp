#include "case.hpp"

#include <utility>

namespace berth::engine {

namespace {

// A limit that at least one block in so many needs has a row entry for all of them.
constexpr Index COMMON = 4;
// Loads of a limit's places are kept where there are at most so many places for each member.
constexpr std::size_t PLACES_FOR_EACH_MEMBER = 128;
// Entries of the table of what blocks cost on nodes, at most.
constexpr std::size_t LARGEST_TABLE = std::size_t{1} << 19;

}  // namespace

void Limits::add(std::span<const std::int64_t> blocks, std::span<const double> needed,
                 std::span<const std::int64_t> place_of_node, std::span<const double> room) {
    PlaceLimit limit;
    double total = 0.0;
    for (std::size_t number = 0; number < blocks.size(); ++number) {
        if (needed[number] != 0.0) {
            limit.members.push_back({static_cast<Index>(blocks[number]), needed[number]});
            total += needed[number];
        }
    }
    limit.places = places_like(place_of_node);
    for (const double there : room) {
        limit.room.push_back(there + TOLERANCE * std::abs(there));
    }
    limit.unit = limit.members.empty() ? 1.0 : total / static_cast<double>(limit.members.size());
    added_.push_back(std::move(limit));
}

Index Limits::places_like(std::span<const std::int64_t> wanted) {
    for (std::size_t row = 0; row < place_of_node.size(); ++row) {
        if (std::equal(wanted.begin(), wanted.end(), place_of_node[row].begin())) {
            return static_cast<Index>(row);
        }
    }
    place_of_node.emplace_back(wanted.begin(), wanted.end());
    return static_cast<Index>(place_of_node.size()) - 1;
}

bool Limits::suits_rows(const PlaceLimit& limit) const {
    if (static_cast<Index>(limit.members.size()) * COMMON < blocks_) {
        return false;
    }
    const auto& places = place_of_node[limit.places];
    for (Index node = 0; node < nodes_; ++node) {
        if (places[node] != node) {
            return false;
        }
    }
    return true;
}

void Limits::arrange() {
    std::vector<const PlaceLimit*> in_rows;
    std::vector<std::vector<Need>> by_block(blocks_);
    for (auto& limit : added_) {
        if (limit.members.empty()) {
            continue;
        }
        if (suits_rows(limit)) {
            in_rows.push_back(&limit);
            continue;
        }
        limit.keeps_loads = limit.room.size() <= PLACES_FOR_EACH_MEMBER * limit.members.size();
        if (limit.keeps_loads) {
            limit.first_load = loads;
            loads += limit.room.size();
        }
        for (const auto& member : limit.members) {
            by_block[member.block].push_back({static_cast<Index>(by_place.size()), member.needed});
        }
        by_place.push_back(limit);
    }
    arrange_rows(in_rows);
    for (const auto& row : by_block) {
        needs.values.insert(needs.values.end(), row.begin(), row.end());
        needs.first.push_back(needs.values.size());
    }
    added_.clear();
}

void Limits::arrange_rows(const std::vector<const PlaceLimit*>& limits) {
    const std::size_t count = limits.size();
    by_node.count = static_cast<Index>(count);
    by_node.needed.assign(blocks_ * count, 0.0);
    by_node.room.assign(nodes_ * count, 0.0);
    for (std::size_t number = 0; number < count; ++number) {
        by_node.unit.push_back(limits[number]->unit);
        for (const auto& member : limits[number]->members) {
            by_node.needed[member.block * count + number] = member.needed;
        }
        for (Index node = 0; node < nodes_; ++node) {
            by_node.room[node * count + number] = limits[number]->room[node];
        }
    }
}

std::int64_t Links::own_link(Index here, Index there) const {
    const auto receivers = own[here];
    const auto found = std::lower_bound(receivers.begin(), receivers.end(), there);
    if (found == receivers.end() || *found != there) {
        return -1;
    }
    return static_cast<std::int64_t>(own.first[here]) + (found - receivers.begin());
}

double Links::distance(Index here, Index there) const {
    if (dimensions == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double* one = positions.data() + static_cast<std::size_t>(here) * dimensions;
    const double* other = positions.data() + static_cast<std::size_t>(there) * dimensions;
    double squares = 0.0;
    for (Index axis = 0; axis < dimensions; ++axis) {
        const double difference = one[axis] - other[axis];
        squares += difference * difference;
    }
    return std::sqrt(squares) + heights[here] + heights[there];
}

double Links::scattered_delay(Index here, Index there) const {
    if (here == there) {
        return 0.0;
    }
    const auto link = own_link(here, there);
    return link >= 0 ? own_delay_ms[link] : distance(here, there);
}

double Links::scattered_flow(Index here, Index there) const {
    if (here == there) {
        return 0.0;
    }
    const auto link = own_link(here, there);
    if (link >= 0) {
        return own_flow[link];
    }
    const double ms = distance(here, there);
    return std::isnan(ms) ? 0.0 : usual_flow[0] + usual_flow[1] * ms + usual_flow[2] * ms * ms;
}

double Links::log_availability_between(Index here, Index there) const {
    if (here == there) {
        return 0.0;
    }
    if (dense) {
        return log_availability[cell(here, there)];
    }
    const auto link = own_link(here, there);
    return link >= 0 ? own_log_availability[link] : 0.0;
}

double Links::bandwidth_between(Index here, Index there) const {
    if (dense) {
        return logical_bandwidth[cell(here, there)];
    }
    const auto link = own_link(here, there);
    return link >= 0 ? logical_bandwidth[link] : INFINITE;
}

std::int64_t Links::physical_link(Index here, Index there) const {
    if (half_duplex && here > there) {
        std::swap(here, there);
    }
    return dense ? static_cast<std::int64_t>(cell(here, there)) : own_link(here, there);
}

double Case::own_cost(Index block, Index node) const {
    const double by_work = own_costs.by_work[block] * machines.slowness[node];
    const auto entries = own_costs.entries[block];
    if (static_cast<Index>(entries.size()) == nodes()) {
        return by_work + entries[node].cost;
    }
    const auto found = std::lower_bound(entries.begin(), entries.end(), node,
                                        [](const OwnCosts::Entry& entry, Index wanted) { return entry.node < wanted; });
    const bool listed = found != entries.end() && found->node == node;
    return by_work + (listed ? found->cost : own_costs.usual[block]);
}

Case::Case(Blocks blocks_, Rows<Stream> streams_, OwnCosts own_costs_, Limits limits_, Links links_,
           Machines machines_, Paths paths_, Processing processing_, Weights weights_)
    : blocks(std::move(blocks_)),
      streams(std::move(streams_)),
      own_costs(std::move(own_costs_)),
      limits(std::move(limits_)),
      links(std::move(links_)),
      machines(std::move(machines_)),
      paths(std::move(paths_)),
      processing(std::move(processing_)),
      weights(weights_) {
    limits.arrange();
    double total = 0.0, flowing = 0.0;
    for (const auto& stream : streams.values) {
        total += stream.rate;
        flowing += stream.rate > 0.0;
    }
    rate_unit = flowing > 0.0 ? total / flowing : 1.0;
    const auto is_finite = [](double value) { return std::isfinite(value); };
    const auto& latest = paths.latest_ms;
    const auto& least = paths.least_log_availability;
    counts_response_time = weights.response_time != 0.0 || weights.response_time_sum != 0.0 ||
                           std::any_of(latest.begin(), latest.end(), is_finite);
    counts_loaded = weights.loaded_response_time != 0.0;
    counts_availability = weights.availability != 0.0 || weights.log_availability != 0.0 ||
                          std::any_of(least.begin(), least.end(), is_finite);
    const auto& uses = machines.cost_of_use;
    pays_for_nodes = std::any_of(uses.begin(), uses.end(), [](double cost) { return cost > 0.0; });
    must_make_moves =
        links.counts_physical || links.one_port || counts_loaded || weights.busiest_machine != 0.0;
    const std::size_t entries = static_cast<std::size_t>(blocks.size()) * static_cast<std::size_t>(links.nodes);
    // A table answers for all of a block's streams: nothing else may be asked of them.
    keeps_table = links.dense && links.counts_flow && !links.may_lack() && !counts_availability &&
                  !machines.cards_count && entries <= LARGEST_TABLE;
    if (keeps_table) {
        links.flow_back.resize(links.flow.size());
        for (Index here = 0; here < links.nodes; ++here) {
            for (Index there = 0; there < links.nodes; ++there) {
                links.flow_back[links.cell(there, here)] = links.flow[links.cell(here, there)];
            }
        }
    }
}

}  // namespace berth::engine
