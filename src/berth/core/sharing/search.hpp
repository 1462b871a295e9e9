// Local search over the plans of a state: what it aims at, the changes that it tries, simulated annealing.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sharing/state.hpp"

namespace berth::sharing {

// What a search aims at: limits to keep, and prices.
struct Aims {
    std::vector<double> limit;       // of every load; at most that of the case
    std::vector<double> node_price;  // of every node that hosts anything
    double crossed_price;            // of a byte per second that crosses the network
    double busy_price;               // of a processor that is busy all the time
    std::vector<Index> nodes;        // that are offered
    std::vector<Index> home;         // where every instance was before; none: nowhere
    double stay;                     // the price of an instance that has left its home, or is not computed any more
    std::vector<std::uint8_t> fixed;  // operators that are not to be touched
    std::vector<std::uint8_t> offered{};  // by node

    // What a load counts for: nothing within its limit.
    double excess(const Load& load, Index number) const;
};

// What a plan counts for.
struct Energy {
    double excess = 0.0;  // beyond limits, in shares of them, and instances without a node
    double cost = 0.0;
    double moved = 0.0;  // instances that have left their home

    double total(double stay) const { return excess + cost + stay * moved; }
    Energy& operator+=(const Energy& change);
};

class Search {
  public:
    Search(State& state, std::uint64_t seed) : state_(state), case_(state.problem), random_(seed) {}

    void aim(Aims aims);
    Energy energy() const;

    // Starts a round: worse plans are taken with a chance that falls with the temperature from hot to cold. The round
    // ends early once nothing exceeds a limit and the cost is at most `enough`.
    void start(double hot, double cold, std::int64_t steps, double enough);
    // Goes on with the round for a moment; whether it is at its end.
    bool anneal();
    std::int64_t steps_taken() const { return step_; }

    // Takes everything from nodes that are not offered.
    void clear();
    // Gives wanted instances, from one of them on, the node where least is exceeded and paid; equal results are
    // taken first. Goes on for a moment; returns the instance to go on with.
    Index place_all(Index first);
    // Brings instances back to where they were before, one by one, as far as all constraints stay kept.
    void go_home();

  private:
    Energy change() const;
    bool reuse_gently(Index taker);

    // changes.cpp: each makes one change by chance; false: nothing came of it
    bool try_change();
    bool merge(Index op);
    bool split(Index taker);
    bool change_provider(Index taker);
    bool change_source(Index instance);
    bool swap(Index instance);
    bool move_to_target(Index instance, std::int64_t choice);

    Index touchable_instance();
    bool strained(Index node) const;
    Index neighbour(Index instance);
    Index target(Index instance);
    std::vector<Index> cluster(Index instance, Index size);
    void move_along(Index instance, Index node);
    void empty_node(Index here, Index there, bool swap);
    void compute_at(Index op, Index node);

    bool fixed(Index instance) const { return aims_.fixed[case_.instances.operator_of[instance]]; }
    Index drawn(std::size_t count) { return static_cast<Index>(random_.below(static_cast<std::int64_t>(count))); }
    Index any_node() { return aims_.nodes[drawn(aims_.nodes.size())]; }

    State& state_;
    const Case& case_;
    Random random_;
    Aims aims_{};
    Energy energy_;
    std::int64_t step_ = 0, steps_ = 0;
    double temperature_ = 0.0, cooling_ = 1.0, enough_ = 0.0;
};

}  // namespace berth::sharing
