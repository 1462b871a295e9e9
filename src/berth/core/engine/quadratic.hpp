// Annealing for generalised quadratic assignment: only prices, streams and limits on nodes count, of not too many
// blocks with many streams. What up to three moves at once change is known from the table of costs, without making
// them; so there are several times as many steps a second as for any plan.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "annealing.hpp"
#include "case.hpp"
#include "plan.hpp"
#include "random.hpp"

namespace berth::engine {

class QuadraticWalk {
  public:
    static bool suits(const Case& problem);

    // From where a plan is.
    QuadraticWalk(const Plan& plan, std::span<const Index> best, double best_cost);

    void anneal(Cycle& cycle, std::int64_t last, BrokenPrice& price, Random& random);

    const std::vector<Index>& nodes() const { return node_of_; }
    const std::vector<Index>& best() const { return best_; }
    double best_cost() const { return best_cost_; }
    void forget_best() { best_cost_ = INFINITE; }
    double cost() const { return cost_; }
    double broken() const { return broken_; }
    const std::vector<double>& table() const { return table_; }
    const std::vector<double>& loads() const { return load_; }
    std::int64_t take_evaluated() { return std::exchange(evaluated_, 0); }

  private:
    static constexpr std::size_t MOST_MOVES = 3;

    // Draw up to three moves; says how many, 0: none this time.
    std::size_t draw(Random& random);
    Index resident_of(Index node, Index other_than, Random& random) const;
    // What the moves that were drawn add to the cost.
    double change_of(std::size_t count) const;
    double together(const Move& one, const Move& other) const;
    bool allowed(std::size_t count) const;
    // Load or unload a node; says what that adds to what is broken.
    double load(Index block, Index node, double sign);
    double load_moves(std::size_t count);
    void unload_moves(std::size_t count);
    void make(const Move& move);
    double table_at(Index block, Index node) const { return table_[block * nodes_ + node]; }

    const Case& case_;
    std::size_t nodes_;
    std::vector<std::uint8_t> allowed_;  // by block and node
    std::vector<double> rate_between_;   // by sending and receiving block
    std::vector<Index> node_of_, best_;
    std::vector<double> table_, load_;
    double cost_, broken_, best_cost_;
    std::int64_t evaluated_ = 0;
    std::array<Move, MOST_MOVES> moves_;
};

}  // namespace berth::engine
