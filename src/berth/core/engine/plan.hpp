// A plan and everything that follows from it, kept up to date with every move.
//
// A move goes through three stages. `change_of` says what it would add to sums and broken limits, without making
// it. `make` makes it: sums, loads and lists follow, times and the table of costs don't yet. Then either `settle`
// brings these up to date, or `take_back` takes back everything that was made since the plan was settled last.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "case.hpp"
#include "times.hpp"

namespace berth::engine {

// What is broken by less is rounding: the judge decides.
constexpr double WHOLE = 1e-9;

// What a plan adds up to.
struct Totals {
    double cost = 0.0;              // all sums: prices, streams, nodes in use
    double log_availability = 0.0;  // of everything in use
    double broken = 0.0;            // by how much limits are exceeded, in units of what is usual for each
    double response_time = 0.0;     // of the slowest application, ms
    double response_time_sum = 0.0;  // of all applications
    double loaded_response_time = 0.0;
    double busiest_link = 0.0;  // the highest share of a link's bandwidth in use
    double busiest_machine = 0.0;  // the highest utilisation of a node, or of a core by one instance
};

// What a move adds to the totals that are sums.
struct Change {
    double cost = 0.0;
    double log_availability = 0.0;
    double broken = 0.0;
};

struct Move {
    Index block;
    Index node;
};

// What a search pays for the value of a plan and for what it breaks.
struct Prices {
    double value = 1.0;
    double broken = 1.0;
};

// By how much a limit is broken.
inline double beyond(double amount, double limit, double unit) {
    // That it is broken at all counts, too: small excesses shall not hide. Excesses below so many units are dust.
    constexpr double AT_ALL = 0.2, DUST = 1e-12;
    const double excess = amount - limit;
    return excess > DUST * unit ? excess / unit + AT_ALL : 0.0;
}

// costs += rate * (added - taken), by node: a table's row follows a neighbour that has moved.
void add_difference(double* costs, const double* added, const double* taken, double rate, std::size_t nodes);

class Plan {
  public:
    explicit Plan(const Case& problem);
    Plan(const Plan&) = delete;

    const Case& problem() const { return case_; }
    Index node_of(Index block) const { return node_of_[block]; }
    const std::vector<Index>& nodes() const { return node_of_; }
    const Totals& totals() const { return totals_; }
    bool whole() const { return totals_.broken <= WHOLE; }
    // What is minimised.
    double value() const { return value_of(totals_); }
    double energy(const Prices& prices) const { return prices.value * value() + prices.broken * totals_.broken; }

    // The blocks on a node, in a list: the first one, and the next behind one; NOWHERE at its end.
    Index first_on(Index node) const { return first_on_[node]; }
    Index next_on_node(Index block) const { return next_on_node_[block]; }

    // Nothing is placed.
    void clear();
    // Everything anew from the nodes of all blocks: sums of many small changes drift.
    void place(std::span<const Index> nodes);
    // Place a block that is nowhere; for a plan that is being built: times don't follow.
    void place_block(Index block, Index node);
    // Times and the busiest link, once all blocks are placed.
    void complete();

    // What a move would add; times, and what can only be seen in moves that were made, are left out.
    Change change_of(Index block, Index node) const;
    // Between what a move that wasn't made adds to the energy; only times leave anything open.
    Range energy_change(Index block, Index node, const Change& change, const Prices& prices) const;
    void make(Index block, Index node, const Change& change);
    // Between what the moves that were made add to the energy by times, which don't follow yet. Beyond the room that
    // is left, it need not be said by how much.
    Range energy_of_times(const Prices& prices, double room, bool exact);
    void settle();
    void take_back();
    // All three at once.
    void move(Index block, Index node);

    // The movable blocks on the longest path of an application; NOWHERE: of the slowest one.
    void list_critical_blocks(std::vector<Index>& blocks, Index application = NOWHERE) const;

    // What a block costs on a node, by itself and by its streams; only where a table is kept.
    std::span<const double> table_row(Index block) const {
        const std::size_t nodes = static_cast<std::size_t>(case_.nodes());
        return {table_.data() + static_cast<std::size_t>(block) * nodes, nodes};
    }
    std::span<const double> loads_by_node() const { return node_load_; }
    double delays_around(Index block, Index node) const;

  private:
    struct Made {
        Index block;
        Index from;
        double log_availability;
    };
    // What a block's streams add on a node.
    struct Exchange {
        double cost = 0.0;
        double log_availability = 0.0;
        double broken = 0.0;
        double card_balance = 0.0;  // what would cross the node's card less what would no longer do so
    };

    double value_of(const Totals& totals) const;
    double limit_change(Index block, Index from, Index to) const;
    double place_load(const PlaceLimit& limit, Index place) const;
    double place_limit_change(Index block, Index from, Index to) const;
    Exchange exchange(Index block, Index node) const;
    double table_cost(Index block, Index node) const;
    Range time_range(Index block, Index node) const;

    void shift(Index block, Index node, const Change& change);
    void enlist(Index block, Index node);
    void unlist(Index block, Index node);
    void load(Index block, Index node, double sign);
    void load_cards(Index block, Index from, Index to);
    void load_links(Index block, Index node, double sign);
    void load_route(Index sender, Index receiver, double rate);
    void add_load(double& load, double added, double limit, double unit);
    void find_busiest();
    void find_busiest_link();
    void find_busiest_machine();
    void empty_table();
    void follow_table(Index block, Index from);

    double lateness(Index application, double ms) const;
    Index application_of(const Made& made) const { return case_.blocks.application[made.block]; }
    bool is_first_of_application(std::size_t step) const;
    void note_moved_in(Index application);
    void note_neighbours_on_nodes();
    void settle_times();
    void set_longest(Index application, Index slowest);
    void find_longest(Index application);
    void update_longest(Index application, Index slowest_changed);
    void find_worst();
    double longest_of_others() const;
    Range energy_of_response_times(const Prices& prices, double room, bool exact);

    const Case& case_;
    Totals totals_;
    std::vector<Index> node_of_;
    Whereabouts where_;
    std::vector<Index> first_on_, next_on_node_, previous_on_node_;
    std::vector<double> node_load_;   // by node and limit of `Limits::by_node`
    std::vector<double> place_load_;  // of the limits in `Limits::by_place` that keep loads
    std::vector<double> card_load_, sending_, receiving_, link_load_;
    std::vector<double> machine_load_;  // reference processors that are busy, by node
    std::vector<double> log_availability_of_;  // by application
    std::vector<double> table_;
    // Moves that were made and are not settled, and the totals before them.
    std::vector<Made> made_;
    Totals settled_;
    // Response times: the longest path of each application, who is last on it, and the slowest application.
    std::optional<PathTimes<false>> times_;
    std::optional<PathTimes<true>> loaded_times_;
    std::vector<double> longest_;
    std::vector<Index> slowest_;
    Index worst_ = 0;
};

}  // namespace berth::engine
