// A partial or whole plan of all applications, with everything that it loads. Every operation changes only what
// it touches, and can be taken back.
#pragma once

#include <tuple>
#include <vector>

#include "sharing/case.hpp"
#include "sharing/tracked.hpp"

namespace berth::sharing {

// Of an operator: computed as soon as its instances have nodes; taken from its provider; not needed.
enum class Status : std::uint8_t { wanted, reused, skipped };

// A sum of amounts that come and go. What rounding takes is kept beside it, so that what is added and taken
// away again leaves nothing.
struct Load {
    double amount = 0.0;
    double error = 0.0;
    Index amounts = 0;  // how many amounts other than 0 it is made of

    double total() const { return amount + error; }
    bool operator==(const Load&) const = default;
};

// Where a pair's result crosses the network.
struct Crossing {
    Index from = none, to = none;
    double rate = -1.0;  // what the pair counts for; -1: another pair with the same result does

    bool operator==(const Crossing&) const = default;
};

// How an object gets to a node.
struct Download {
    double rate = -1.0;  // bytes per second; -1: nobody there needs it
    Index source = none;

    bool operator==(const Download&) const = default;
};

struct Counters {
    Index unplaced = 0;      // wanted instances without a node
    Index broken = 0;        // loads above their limit
    Index last_broken = none;  // the load that exceeded its limit last

    bool operator==(const Counters&) const = default;
};

class State {
  public:
    // Nothing is placed, and everything is wanted.
    explicit State(const Case& problem);

    const Case& problem;

    Tracked<Index> node_of;          // by instance; none: it has no node
    Tracked<Status> status;          // by operator
    Tracked<Index> provider;         // by operator: whose result stands for its own; itself unless reused
    Tracked<Index> uses;             // by operator: consumers that are wanted, and takers of its result
    Tracked<Index> hosted;           // by node: instances there
    Tracked<double> throughput;      // by operator, raised by those that take its result; -1: none
    Tracked<double> read_rate;       // by read: bytes per second, raised likewise
    Tracked<Load> load;              // by the numbers of the case
    Tracked<double> held;            // by need: what it counts for among those of its computation on its node
    Tracked<Crossing> crossing;      // by pair
    Tracked<Download> download;      // by object and node
    Tracked<Index> matches;          // by match: in how many ways one operator's needs fall to another
    const Counters& counters() const { return counters_; }
    const Counters& kept_counters() const { return kept_counters_; }

    // Whether the plan so far keeps every constraint that a case knows.
    bool holds() const { return counters_.broken == 0; }
    // Whether all instances of an operator have nodes.
    bool placed(Index op) const;
    // Whether one operator can take another's result: it is equal and computed, and nobody takes its own.
    bool can_reuse(Index taker, Index provider) const;
    bool matched(Index wanting, Index giving) const { return matches[problem.operators.match(wanting, giving)] > 0; }
    // The instance whose result stands for an instance's: that of the provider with the same number.
    Index supplier(Index instance) const;
    // What is left of a load's limit.
    double room(Index number) const { return problem.limit[number] - load[number].total(); }
    // A load above its limit: the last one to become so if it still is, else the first; none: all are within.
    Index exceeded() const;
    std::size_t download_number(Index object, Index node) const {
        return static_cast<std::size_t>(object) * problem.network.count() + node;
    }

    // Computes an instance of a wanted operator on a node, wherever it was; none: nowhere.
    void move(Index instance, Index node);
    void move_operator(Index op, Index node);
    // Takes a result instead of computing it (`can_reuse` first); what nobody needs any more is skipped.
    void reuse(Index taker, Index provider);
    // Takes the result of the first equal operator that is computed; whether there is one.
    bool reuse_any(Index taker);
    // Ends a reuse: the operator needs nodes again, and so does what feeds it.
    void compute(Index op);
    // Downloads an object that a node needs from this holder, which must be linked.
    void set_source(Index object, Index node, Index source);

    // What was done stays: a later `undo` comes back to here.
    void keep();
    // Puts everything back as it was at the last `keep` or `undo`.
    void undo();

  private:
    auto tracked() {
        return std::tie(node_of, status, provider, uses, hosted, throughput, read_rate, load, held, crossing, download,
                        matches);
    }

  public:
    // All values at one time.
    struct Snapshot {
        std::tuple<std::vector<Index>, std::vector<Status>, std::vector<Index>, std::vector<Index>, std::vector<Index>,
                   std::vector<double>, std::vector<double>, std::vector<Load>, std::vector<double>,
                   std::vector<Crossing>, std::vector<Download>, std::vector<Index>>
            values;
        Counters counters;

        bool operator==(const Snapshot&) const = default;
    };

    Snapshot snapshot();
    // Goes on from a plan of before; nothing can be undone then.
    void resume(const Snapshot& snapshot);

  private:
    // loads.cpp
    void add_load(Index number, double amount);
    void add_flow(Index from, Index to, double rate, int sign);
    void add_port_shares(Index from, Index to, double rate, int sign);
    double room_between(Index from, Index to) const;

    // counting.cpp: what counts once. `uncount` takes what a group adds off the loads, `count` puts on what it
    // adds now; in between the group may change.
    void uncount_computation(Index computation, Index node);
    void count_computation(Index computation, Index node);
    double needed(Index instance, const Need& need) const;
    void count_core(Index instance, Index node, int sign);
    void count_rules(Index instance, Index node, int sign);
    double pair_rate(Index pair) const;
    void uncount_result(Index result, Index from, Index to);
    void count_result(Index result, Index from, Index to);
    void recount_pair(Index pair);
    void recount_inputs(Index instance);
    void recount_outputs(Index instance);
    void recount_download(Index object, Index node);
    Index best_source(Index object, Index node) const;

    // reuse.cpp
    Index takers(Index provider) const;
    void withdraw(Index op);
    void use_less(Index op, std::vector<Index>& waiting);
    void set_provider(Index taker, Index provider);
    void add_match(Index wanting, Index giving, int sign);
    void lift(Index op);
    void set_throughput(Index op, double raised);

    Counters counters_, kept_counters_;
};

}  // namespace berth::sharing
