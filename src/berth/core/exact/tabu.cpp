// Plans by local search: single blocks move, the last ones may not move back at once (tabu search).
#include <nanobind/stl/optional.h>

#include "module.hpp"
#include "stop.hpp"
#include "tables.hpp"

namespace berth::exact {

namespace {

class TabuSearch {
  public:
    // Plans count whose costs are below `best` and not above `largest`; what is too much for a place costs `penalty`.
    TabuSearch(const Tables& tables, std::vector<Index> start, double best, double largest, double penalty)
        : tables_(tables),
          neighbours_(tables.ends, tables.blocks()),
          place_of_(std::move(start)),
          added_(tables.cost),
          taken_(tables.limits(), tables.places()),
          waits_(tables.blocks(), tables.places()),
          leaving_(tables.limits()),
          best_(best),
          largest_(largest),
          penalty_(penalty) {
        for (Index block = 0; block < tables.blocks(); ++block) {
            for (const auto& link : neighbours_.of[block]) {
                const auto pair = tables.pair[link.edge];
                const Index there = place_of_[link.block];
                for (Index place = 0; place < tables.places(); ++place)
                    added_[block][place] += link.first ? pair[place][there] : pair[there][place];
            }
            for (Index limit = 0; limit < tables.limits(); ++limit)
                taken_[limit][tables.group[limit][place_of_[block]]] += tables.demand[limit][block];
            total_ += tables.cost[block][place_of_[block]];
        }
        for (Index edge = 0; edge < tables.edges(); ++edge)
            total_ += tables.pair[edge][place_of_[tables.ends[edge][0]]][place_of_[tables.ends[edge][1]]];
    }

    // A walk through plans, the best neighbour next: as many moves as there are tenures.
    void run(const std::vector<Index>& tenures, Stop& stop) {
        for (Index turn = 0; turn < static_cast<Index>(tenures.size()); ++turn) {
            const double too_much = excess();
            judge(too_much);
            const Move move = best_move(turn, too_much);
            if (move.block >= 0) apply(move, turn + tenures[turn]);
            if (turn % 16 == 0 && stop()) return;
        }
    }

    // The best plan that fits; empty where none was better.
    const std::vector<Index>& plan() const { return plan_; }

  private:
    struct Move {
        Index block = -1, place = -1;
    };

    double excess_at(Index limit, Index place) const {
        return std::max(0.0, taken_[limit][place] - tables_.limit[limit][place]);
    }
    double excess() const {
        double total = 0.0;
        for (Index limit = 0; limit < tables_.limits(); ++limit)
            for (Index place = 0; place < tables_.places(); ++place) total += excess_at(limit, place);
        return total;
    }

    // By how much what is too much gets less where a block leaves its place: at most so much by any of its moves.
    double eased_by_leaving(Index block) {
        double eased = 0.0;
        for (Index limit = 0; limit < tables_.limits(); ++limit) {
            const Index left = tables_.group[limit][place_of_[block]];
            const double over = taken_[limit][left] - tables_.limit[limit][left];
            leaving_[limit] = std::max(0.0, over) - std::max(0.0, over - tables_.demand[limit][block]);
            eased += leaving_[limit];
        }
        return eased;
    }

    // By how much a move makes what is too much less.
    double eased_by(Index block, Index place) const {
        double eased = 0.0;
        for (Index limit = 0; limit < tables_.limits(); ++limit) {
            const Index* group = tables_.group[limit];
            const double size = tables_.demand[limit][block];
            if (group[place_of_[block]] == group[place] || size <= 0.0) continue;
            const double over = taken_[limit][group[place]] - tables_.limit[limit][group[place]];
            eased += leaving_[limit];
            eased += std::max(0.0, over) - std::max(0.0, over + size);
        }
        return eased;
    }

    // Remember the plan if it is the best one; the penalty follows how long plans have been fitting, or not.
    void judge(double excess) {
        if (excess <= 0.0) {
            ++feasible_for_;
            crowded_for_ = 0;
            if (total_ < best_ && total_ <= largest_) {
                best_ = total_;
                plan_ = place_of_;
            }
        } else {
            feasible_for_ = 0;
            ++crowded_for_;
        }
        if (feasible_for_ == 8 || crowded_for_ == 8) {
            penalty_ *= feasible_for_ == 8 ? 0.6 : 1.8;
            feasible_for_ = crowded_for_ = 0;
        }
    }

    Move best_move(Index turn, double excess) {
        Move chosen;
        double lowest = INFINITE;
        for (Index block = 0; block < tables_.blocks(); ++block) {
            const Index here = place_of_[block];
            const bool* allowed = tables_.allowed[block];
            const double at_most_eased = eased_by_leaving(block);
            for (Index place = 0; place < tables_.places(); ++place) {
                if (place == here || !allowed[place]) continue;
                const double change = added_[block][place] - added_[block][here];
                const bool waits = waits_[block][place] > turn;
                if (change - penalty_ * at_most_eased >= lowest || (waits && total_ + change >= best_)) continue;
                const double eased = eased_by(block, place);
                // a move that must wait counts only if it leads to the best plan so far
                if (waits && excess - eased > 1e-15) continue;
                const double value = change - penalty_ * eased;
                if (value < lowest) {
                    lowest = value;
                    chosen = {block, place};
                }
            }
        }
        return chosen;
    }

    void apply(Move move, Index waits_until) {
        const Index left = place_of_[move.block];
        total_ += added_[move.block][move.place] - added_[move.block][left];
        place_of_[move.block] = move.place;
        waits_[move.block][left] = waits_until;
        for (Index limit = 0; limit < tables_.limits(); ++limit) {
            taken_[limit][tables_.group[limit][left]] -= tables_.demand[limit][move.block];
            taken_[limit][tables_.group[limit][move.place]] += tables_.demand[limit][move.block];
        }
        for (const auto& link : neighbours_.of[move.block]) {
            const auto pair = tables_.pair[link.edge];
            double* added = added_[link.block];
            for (Index place = 0; place < tables_.places(); ++place)
                added[place] += link.first ? pair[move.place][place] - pair[left][place]
                                           : pair[place][move.place] - pair[place][left];
        }
    }

    const Tables& tables_;
    Neighbours neighbours_;
    std::vector<Index> place_of_, plan_;
    Grid<double> added_;  // [block][place]: what the block would add there
    Grid<double> taken_;  // [limit][place]
    Grid<Index> waits_;   // [block][place]: the turn from which on it may go back there
    std::vector<double> leaving_;  // [limit]: what gets less where the block that is looked at leaves
    double total_ = 0.0, best_, largest_, penalty_;
    Index feasible_for_ = 0, crowded_for_ = 0;
};

}  // namespace

void bind_tabu(nb::module_& module) {
    module.def(
        "tabu_search",
        [](const Tables& tables, Vector<Index> start, double best, double largest, double penalty,
           Vector<Index> tenures, const nb::callable& over) -> std::optional<NumpyArray<Index, 1>> {
            TabuSearch search(tables, copied(start), best, largest, penalty);
            const auto moves = copied(tenures);
            Stop stop(over);
            {
                nb::gil_scoped_release released;
                search.run(moves, stop);
            }
            if (search.plan().empty()) return std::nullopt;
            return to_numpy<Index>(search.plan());
        },
        "tables"_a, "start"_a, "best"_a, "largest"_a, "penalty"_a, "tenures"_a, "over"_a);
}

}  // namespace berth::exact
