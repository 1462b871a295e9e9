// A problem with many applications that share operators and objects (paper 004), as numbered lists.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sharing/lists.hpp"

namespace berth::sharing {

// What is placed.
struct Instances {
    Instances(std::vector<Index> operator_of, std::vector<Index> computation, std::vector<double> fixed_load);

    Index count() const { return static_cast<Index>(operator_of.size()); }

    std::vector<Index> operator_of;
    // Instances of one computation do the same work: on one node they count once.
    std::vector<Index> computation;
    Lists of_computation;
    // What they take of processors whatever their throughput.
    std::vector<double> fixed_load;
};

// Instances that communicate.
struct Pairs {
    Pairs(Index instances, std::vector<Index> sender, std::vector<Index> receiver, std::vector<Index> result,
          std::vector<double> fixed_rate, std::vector<double> rate_per_result);

    std::vector<Index> sender, receiver;
    // Pairs with the same result cross once between the same two nodes.
    std::vector<Index> result;
    Lists of_result;
    // A pair carries its fixed rate plus so much for every result that its receiver computes.
    std::vector<double> fixed_rate, rate_per_result;
    Lists to_instance, from_instance;
};

// What is computed, reused or skipped as a whole.
struct Operators {
    Operators(std::vector<Index> first_instance, std::vector<Index> kind, std::vector<std::uint8_t> shareable,
              std::vector<double> throughput, Lists inputs, Lists consumers);

    Index count() const { return static_cast<Index>(kind.size()); }
    Range instances(Index op) const { return {first_instance[op], first_instance[op + 1]}; }
    Index parallelism(Index op) const { return static_cast<Index>(instances(op).size()); }
    const std::vector<Index>& equals(Index op) const { return of_kind[kind[op]]; }
    // Where the match of two equal operators is counted.
    std::size_t match(Index wanting, Index giving) const {
        const Index same = kind[giving];
        return first_match[same] + static_cast<std::size_t>(rank[wanting]) * of_kind[same].size() + rank[giving];
    }

    std::vector<Index> first_instance;  // bounds: the instances of an operator follow each other
    std::vector<Index> kind;            // equal operators are of one kind
    std::vector<std::uint8_t> shareable;
    std::vector<double> throughput;  // what its own application needs; -1: none
    Lists inputs, consumers, of_kind;
    std::vector<Index> rank;  // its position among those of its kind
    std::vector<std::size_t> first_match;
};

// What operators read, and which nodes hold it.
struct Objects {
    struct Reader {
        Index instance, read;
    };

    Objects(const Instances& instances, Index nodes, std::vector<Index> first_read, std::vector<Index> read_object,
            std::vector<double> read_rate, std::vector<std::uint8_t> held);

    Index count() const { return static_cast<Index>(holders.size()); }
    Range reads(Index op) const { return {first_read[op], first_read[op + 1]}; }
    bool holds(Index node, Index object) const { return held[static_cast<std::size_t>(object) * nodes + node]; }

    Index nodes;
    std::vector<Index> first_read;  // bounds: the reads of every operator
    std::vector<Index> read_object;  // ascending for each operator: equal operators read in the same order
    std::vector<double> read_rate;   // bytes per second for the operator's own application
    std::vector<std::uint8_t> held;  // by object and node
    Lists holders;
    std::vector<std::vector<Reader>> readers;  // of every object
};

// Nodes, and what lies between them.
struct Network {
    Index count() const { return static_cast<Index>(speed.size()); }
    std::size_t pair(Index from, Index to) const { return static_cast<std::size_t>(from) * speed.size() + to; }

    std::vector<double> speed, card;
    std::vector<double> core;  // what one instance may take of a node's processors
    bool one_port;
    std::vector<std::uint8_t> connected;
    std::vector<double> bandwidth;       // of the logical link
    std::vector<Index> next_hop;         // the next node on the way; none: there is no way
    std::vector<Index> link;             // the (physical) link between two nodes; none: it has no limit
    std::vector<double> link_bandwidth;  // of every link with a limit
};

// Where instances may run, alone and beside each other.
struct Rules {
    bool allows(Index op, Index node) const { return allowed[static_cast<std::size_t>(op) * nodes + node]; }

    Index nodes;
    std::vector<std::uint8_t> allowed;  // by operator and node
    Lists companions;  // of every instance, those that must be on the same node
};

// At most so much of something in one place: a node, or all nodes with the same value of a label.
struct PlaceLimit {
    std::vector<double> needed;  // by instance
    std::vector<Index> place_of_node;
    std::vector<double> room;  // by place
    // Equal computations on one node need it once, at the highest rate; otherwise every instance counts.
    bool once;
    // What is needed is for one result a second.
    bool by_throughput = false;
    Index first_load = none;
};

// An instance's need of a place limit. Instances of one computation have the same limits in the same order.
struct Need {
    Index limit;
    double amount;
};

// The loads that a state keeps, one after another.
struct LoadNumbers {
    // Counts of mistakes, of which none is allowed, and all bytes per second that cross the network.
    Index misplaced = 0, separated = 1, unlinked = 2, unfetched = 3, overworked = 4, crossed = 5;
    Index places = 6;  // of all place limits
    Index card, send, receive, link, count;
};

class Case {
  public:
    // The first place limit is that of processors.
    Case(Instances instances, Pairs pairs, Operators operators, Objects objects, Network network, Rules rules,
         std::vector<PlaceLimit> place_limits, double tolerance);

    Index load_of(Index place_limit, Index node) const {
        const auto& limited = place_limits[place_limit];
        return limited.first_load + limited.place_of_node[node];
    }
    Index processor(Index node) const { return load_of(0, node); }
    Index card(Index node) const { return loads.card + node; }

    Range needs(Index instance) const { return {first_need[instance], first_need[instance + 1]}; }

    // Beyond the tolerance; nothing at all is never too much.
    bool exceeds(double load, Index number) const { return is_above(load, limit[number]); }
    bool is_above(double load, double most) const {
        return load > most && load > 0.0 && load - most > tolerance * std::max(load, std::abs(most));
    }

    Instances instances;
    Pairs pairs;
    Operators operators;
    Objects objects;
    Network network;
    Rules rules;
    std::vector<PlaceLimit> place_limits;
    double tolerance;

    LoadNumbers loads;
    std::vector<double> limit;  // of every load
    std::vector<Index> first_need;
    std::vector<Need> need;

  private:
    void number_loads();
    void list_needs();
};

}  // namespace berth::sharing
