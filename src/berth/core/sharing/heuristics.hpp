// The six heuristics of paper 004, section 5: one pass over all operators, without going back.
#pragma once

#include <vector>

#include "sharing/state.hpp"

namespace berth::sharing {

// How a new processor is chosen. The first two are blocking: what was chosen once is never offered again.
enum class ProcessorChoice { fastest, biggest_card, fastest_remaining, biggest_card_remaining };

// What an operator is put beside, and when it may take a result from elsewhere.
enum class Direction {
    any,        // beside consumers, then beside inputs; takes results once all its consumers have nodes
    top_down,   // beside consumers
    bottom_up,  // beside inputs; what can't get there is computed there, too
    climbing,   // beside inputs; takes results as high up as it can, if none of its inputs has a node
};

struct HeuristicOptions {
    Direction direction;
    ProcessorChoice processors;
    bool reuse;
    // Try the next processor where the chosen one can't take an operator.
    bool retry;
    // Only relatives of the operator for which a blocking choice took a processor may join it there.
    bool relatives_of_chosen;
};

class Heuristic {
  public:
    // Goes on from a state; what is taken from others or not needed any more is passed over.
    Heuristic(State& state, std::vector<Index> order, HeuristicOptions options);

    // Goes on for a moment; whether it is at its end.
    bool run();

    Index attempts = 0;
    Index stuck_at = none;  // the operator that found no processor; none: all went well
    Index blocked_by = none;  // the load that was in the way then; none: no processor was left to try

  private:
    bool blocking() const {
        return options_.processors == ProcessorChoice::fastest || options_.processors == ProcessorChoice::biggest_card;
    }
    bool from_above() const {
        return options_.direction == Direction::any || options_.direction == Direction::top_down;
    }

    bool place(Index op);
    bool provided(Index op) const;
    bool may_reuse(Index op) const;
    bool try_reuse(Index op);
    bool try_beside_relatives(Index instance);
    bool open_to_relatives(Index instance) const;
    bool try_new(Index instance);
    Index best_processor(Index instance, const std::vector<bool>& tried) const;
    double worth(Index node) const;
    bool try_node(Index instance, Index node, bool bring);
    void bring_inputs(Index op, Index node);

    State& state_;
    const Case& case_;
    std::vector<Index> order_;
    HeuristicOptions options_;
    bool closed_;  // whether only the relatives of one operator may join a chosen processor
    bool bring_;   // whether reused inputs that can't get to a node are computed there
    std::size_t next_ = 0;
    std::vector<Index> chosen_for_;  // by node: the operator for which it was first chosen
    Index last_blocked_ = none;
};

}  // namespace berth::sharing
