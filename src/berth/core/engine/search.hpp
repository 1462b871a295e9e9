// Local search over plans: a first plan, then simulated annealing in cycles. Broken limits have a price that follows
// how often they are broken.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "annealing.hpp"
#include "case.hpp"
#include "plan.hpp"
#include "quadratic.hpp"
#include "random.hpp"

namespace berth::engine {

// The best plan so far: what breaks least is better, then what is worth more.
struct Best {
    std::vector<Index> nodes;
    double value = INFINITE;
    double broken = INFINITE;

    bool whole() const { return broken <= WHOLE; }
};

// A value that is not to be exceeded, of the same blocks and nodes as the search has.
struct Ceiling {
    const Case* problem;
    double most;
    double unit;  // so much beyond it counts as one broken limit
};

class Search {
  public:
    Search(const Case& problem, std::uint64_t seed, const std::vector<Ceiling>& ceilings = {});

    Plan plan;
    // By how much limits and ceilings are broken.
    double broken() const { return plan.totals().broken + over_; }
    bool whole() const { return broken() <= WHOLE; }
    const Best& best() const { return best_; }
    std::int64_t evaluated() const { return evaluated_; }
    bool is_quadratic() const { return is_quadratic_; }

    // Place blocks one by one in an order, each where it breaks least and costs least of some nodes that are tried;
    // where a node is wanted for one, there.
    void place_in_order(std::span<const Index> order, std::span<const Index> wanted);
    // Go on from a plan, and keep it if it is the best so far.
    void go_to(std::span<const Index> nodes);
    // Go on from the best plan.
    void go_to_best();
    // The judge doesn't take the best plan: any other one is as good.
    void forget_best();
    // How much a random move changes the value, on average of those that change it; 0: none does.
    double typical_change(Index count);

    void begin_cycle(const Cycle& cycle, double value_price, const BrokenPrice& broken_price);
    // Go on with the cycle for so many steps at most; says how many were done.
    std::int64_t run(std::int64_t steps);
    bool cycle_over() const { return cycle_.over(); }

  private:
    static constexpr std::size_t LARGEST_TRIAL = 16;

    void anneal(std::int64_t last);
    void note_best();

    // Proposals.
    Index any_block();
    Index any_of(std::span<const Index> nodes) { return nodes[random_.below(static_cast<Index>(nodes.size()))]; }
    Index target_for(Index block);
    Index resident_of(Index node, Index other_than);
    bool in_trial(Index block) const;
    void propose_swap();
    void propose_chain();
    void propose_group();
    void propose_emptied_node(Index node);
    // Make the moves of the trial until they add no more than a threshold to the energy; else none of them.
    bool attempt(double threshold);
    bool attempt_under_ceilings(double threshold);
    // By how much ceilings are exceeded, moves that were made and are not settled included.
    double over_ceilings();
    void place_all(std::span<const Index> nodes);
    bool times_stay_within(double room);

    // The first plan.
    void list_options(Index block, Index wanted, std::vector<Index>& options);
    double guess(Index block, Index node, const Change& change) const;

    const Case& case_;
    Random random_;
    Best best_;
    // Blocks that have moved since the best plan was noted, each once.
    std::vector<Index> touched_;
    std::vector<std::uint8_t> is_touched_;
    void touch(Index block);

    struct Held {
        Held(const Case& problem, double most, double unit) : plan(problem), most(most), unit(unit) {}
        Plan plan;
        double most, unit;
    };
    std::vector<std::unique_ptr<Held>> ceilings_;
    double over_ = 0.0;

    Prices prices_;
    BrokenPrice broken_price_;
    Cycle cycle_;
    std::vector<Move> trial_;
    std::vector<Index> critical_;
    std::int64_t evaluated_ = 0;
    bool is_quadratic_;
    std::unique_ptr<QuadraticWalk> walk_;
};

}  // namespace berth::engine
