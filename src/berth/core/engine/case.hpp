// A problem as the engine sees it: what is placed, what nodes are to each other, what is limited and what counts.
// Nothing here changes after it was built; plans refer to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace berth::engine {

using Index = std::int32_t;
constexpr Index NOWHERE = -1;
constexpr double INFINITE = std::numeric_limits<double>::infinity();
// Most of the judge's relative tolerance: what is just allowed there is allowed here.
constexpr double TOLERANCE = 0.9e-9;

// Rows of different lengths in one piece of memory.
template <typename Value>
struct Rows {
    std::vector<std::size_t> first = {0};
    std::vector<Value> values;

    std::span<const Value> operator[](Index row) const {
        return {values.data() + first[row], first[row + 1] - first[row]};
    }
    Index size() const { return static_cast<Index>(first.size()) - 1; }
};

// What is placed as one: an instance, or several that have to be together. Instances are numbered along the
// streams, senders before receivers, one application after the other.
struct Blocks {
    Rows<Index> members;
    std::vector<Index> application;
    // Blocks with the same candidates share them; they are ascending.
    std::vector<Index> candidate_group;
    Rows<Index> candidates_by_group;
    // The blocks that have a choice.
    std::vector<Index> movable;

    Index size() const { return members.size(); }
    Index members_of(Index block) const { return static_cast<Index>(members[block].size()); }
    std::span<const Index> candidates(Index block) const {
        return candidates_by_group[candidate_group[block]];
    }
};

// All that a block sends to another one, or receives from it.
struct Stream {
    Index other;
    bool sends;
    double rate;   // bytes per second
    double pairs;  // of communicating instances
};

// What blocks cost on nodes by themselves.
struct OwnCosts {
    struct Entry {
        Index node;
        double cost;
    };
    std::vector<double> by_work;  // times the node's slowness
    std::vector<double> usual;    // on nodes without an entry
    Rows<Entry> entries;          // by block, nodes ascending
};

// Limits on what nodes bear, for most blocks and every node: a row of all of them for each.
struct NodeLimits {
    Index count = 0;
    std::vector<double> needed;  // by block and limit
    std::vector<double> room;    // by node and limit
    std::vector<double> unit;    // what a block needs on average
};

// A limit on places (a node, or all nodes with the same value of a label) that concerns some blocks.
struct PlaceLimit {
    struct Member {
        Index block;
        double needed;
    };
    std::vector<Member> members;
    Index places = 0;          // which row of `Limits::place_of_node`
    std::vector<double> room;  // by place
    double unit = 1.0;
    // Where loads of its places begin; without, they are summed up over the few members.
    std::size_t first_load = 0;
    bool keeps_loads = false;
};

// Every limit of the form "what the blocks on the nodes of one place need is at most its room".
class Limits {
  public:
    struct Need {
        Index limit;
        double needed;
    };

    Limits(Index blocks, Index nodes) : blocks_(blocks), nodes_(nodes) {}
    // `needed` is aligned with `blocks`, `room` is by place.
    void add(std::span<const std::int64_t> blocks, std::span<const double> needed,
             std::span<const std::int64_t> place_of_node, std::span<const double> room);
    // Choose how loads are kept; call it once, after the last limit.
    void arrange();

    NodeLimits by_node;
    std::vector<PlaceLimit> by_place;
    Rows<Need> needs;  // by block, of the limits in `by_place`
    std::vector<std::vector<Index>> place_of_node;
    std::size_t loads = 0;  // how many are kept for `by_place`

  private:
    bool suits_rows(const PlaceLimit& limit) const;
    void arrange_rows(const std::vector<const PlaceLimit*>& limits);
    Index places_like(std::span<const std::int64_t> place_of_node);

    Index blocks_, nodes_;
    std::vector<PlaceLimit> added_;
};

// What lies between nodes: matrices or, where nodes are many, coordinates and a few links of their own.
struct Links {
    Index nodes = 0;
    bool dense = true;
    bool half_duplex = false;
    // Matrices by sender and receiver; each is empty where it doesn't count.
    std::vector<double> flow;       // what a byte per second adds to the cost
    std::vector<double> flow_back;  // the same by receiver and sender, where a table of costs is kept
    std::vector<double> delay_ms;   // 0 where there is no link: that counts as broken elsewhere
    std::vector<double> log_availability;
    std::vector<std::uint8_t> linked;  // empty: all nodes are
    std::vector<Index> next_hop;       // empty: links are direct
    // Links of their own, instead of matrices.
    Rows<Index> own;  // receivers by sender, ascending; the arrays below are aligned with its values
    std::vector<double> own_flow, own_delay_ms, own_log_availability;
    Index dimensions = 0;
    std::vector<double> positions, heights;
    // What a byte per second costs elsewhere: at once, for a ms, for a ms squared.
    double usual_flow[3] = {0.0, 0.0, 0.0};
    // By matrix cell, or by link of its own; empty where they don't count.
    std::vector<double> physical_bandwidth;
    std::vector<double> logical_bandwidth;
    bool counts_flow = false;
    bool counts_physical = false;
    bool one_port = false;

    std::size_t cell(Index here, Index there) const {
        return static_cast<std::size_t>(here) * static_cast<std::size_t>(nodes) + static_cast<std::size_t>(there);
    }
    bool may_lack() const { return !dense || !linked.empty(); }

    // The delay of a path's hop; a missing link counts elsewhere.
    double hop(Index here, Index there) const {
        if (dense) {
            return delay_ms[cell(here, there)];
        }
        const double ms = scattered_delay(here, there);
        return std::isnan(ms) ? 0.0 : ms;
    }
    double flow_between(Index here, Index there) const {
        return dense ? flow[cell(here, there)] : scattered_flow(here, there);
    }
    bool linked_between(Index here, Index there) const {
        if (here == there) {
            return true;
        }
        return dense ? linked.empty() || linked[cell(here, there)] : !std::isnan(scattered_delay(here, there));
    }
    double log_availability_between(Index here, Index there) const;
    double bandwidth_between(Index here, Index there) const;
    // Where the bandwidth and load of a physical link stand; -1: it has no limit.
    std::int64_t physical_link(Index here, Index there) const;
    Index next_towards(Index here, Index goal) const { return next_hop.empty() ? goal : next_hop[cell(here, goal)]; }

  private:
    std::int64_t own_link(Index here, Index there) const;
    double distance(Index here, Index there) const;
    double scattered_delay(Index here, Index there) const;
    double scattered_flow(Index here, Index there) const;
};

struct Machines {
    std::vector<double> cost_of_use;  // while it hosts anything
    std::vector<double> log_availability;
    std::vector<double> slowness;
    std::vector<double> card;        // what it may send and receive, bytes per second
    std::vector<double> ms_per_byte;  // of the card, for a data unit
    std::vector<double> run_queue;
    // Hosts near each node.
    Index near_count = 0;
    std::vector<Index> near;
    bool cards_count = false;

    std::span<const Index> near_to(Index node) const {
        return {near.data() + static_cast<std::size_t>(node) * near_count, static_cast<std::size_t>(near_count)};
    }
};

// Instances and the way of data units through them.
struct Paths {
    struct Hop {
        Index instance;
        double bytes;
    };
    std::vector<Index> block_of;
    std::vector<double> work_ms;
    Rows<Hop> inputs, outputs;
    // Instances of an application are numbered from here to the next one's first.
    std::vector<Index> application_first;
    // What applications ask for.
    std::vector<double> latest_ms;
    std::vector<double> least_log_availability;

    Index instances() const { return static_cast<Index>(block_of.size()); }
    Index applications() const { return static_cast<Index>(latest_ms.size()); }
};

// What a unit of each thing that is no plain sum adds to the value that is minimised.
struct Weights {
    double response_time = 0.0;
    double response_time_sum = 0.0;
    double loaded_response_time = 0.0;
    double busiest_link = 0.0;
    double busiest_machine = 0.0;
    double log_availability = 0.0;
    double availability = 0.0;
};

// What keeps processors busy; empty where that doesn't count.
struct Processing {
    std::vector<double> load;        // of blocks, in reference processors
    std::vector<double> one_core;    // of the busiest instance of a block
    std::vector<double> processors;  // of nodes
};

struct Case {
    Case(Blocks blocks, Rows<Stream> streams, OwnCosts own_costs, Limits limits, Links links, Machines machines,
         Paths paths, Processing processing, Weights weights);

    Blocks blocks;
    Rows<Stream> streams;  // by block
    OwnCosts own_costs;
    Limits limits;
    Links links;
    Machines machines;
    Paths paths;
    Processing processing;
    Weights weights;

    // What follows from these.
    double rate_unit = 1.0;  // the average rate of a stream
    bool counts_response_time = false;
    bool counts_loaded = false;
    bool counts_availability = false;
    bool pays_for_nodes = false;
    // Some things are only known when a move was made.
    bool must_make_moves = false;
    // Whether a table of what every block costs on every node is kept.
    bool keeps_table = false;

    Index nodes() const { return links.nodes; }
    bool may_host(Index block, Index node) const {
        const auto candidates = blocks.candidates(block);
        return static_cast<Index>(candidates.size()) == nodes() ||
               std::binary_search(candidates.begin(), candidates.end(), node);
    }
    double own_cost(Index block, Index node) const;
};

}  // namespace berth::engine
