// A partial map: what is placed, what may come next, and what the preferred policy would do.
#pragma once

#include <bit>

#include "case.hpp"
#include "random.hpp"

namespace berth::packing {

// Whether an item of a kind may go into a bin: not at all; it may; it may, and there is a reason to.
enum Status : std::int8_t { no = 0, plain = 1, preferred = 2 };

struct Action {
    int kind;
    int bin;
};

// Of all actions with about the highest score one at random, each equally likely.
class BestAction {
  public:
    BestAction(Random& random) : random_(random) {}

    void offer(Action action, double score) {
        // scores above this share of the best one are equal to it but for rounding
        constexpr double top = 1.0 - 1e-9;
        if (score * top > best_) {
            best_ = score;
            found_ = 0;
        }
        if (score >= best_ * top && (++found_ == 1 || random_.below(found_) == 0)) chosen = action;
    }

    Action chosen{-1, -1};

  private:
    Random& random_;
    double best_ = -1.0;
    int found_ = 0;
};

class PartialMap {
  public:
    explicit PartialMap(const Case& what);

    std::size_t placed() const { return placed_; }
    bool whole() const { return placed_ == path_.size(); }
    // Something is left that fits nowhere any more.
    bool hopeless() const { return hopeless_kinds_ > 0; }
    int opened() const { return opened_; }
    Status status(int bin, int kind) const {
        const std::uint64_t bit = std::uint64_t{1} << (kind % 64);
        if (plain_[bin][kind / 64] & bit) return plain;
        return preferred_[bin][kind / 64] & bit ? preferred : no;
    }
    int actions(Status wanted) const { return actions_[wanted]; }
    std::span<const Action> path() const { return path_; }
    std::span<const int> left() const { return left_; }
    int hopeless_kinds() const { return hopeless_kinds_; }
    int actions_in(int bin, Status wanted) const { return actions_in_[bin][wanted]; }

    // Traffic with the bin and those nearby, and how full it is.
    double score(int bin, int kind) const { return near_[bin][kind] / case_->scale + fullness_[bin]; }

    void place(Action action);

    // Goes on by the preferred policy while that is possible.
    void roll_out(Random& random);

    // Traffic x distance of a whole map; infinite where traffic has no way.
    double crossing(double all_traffic) const;

  private:
    // Calls `visit(kind)` for every kind that may go into a bin.
    template <typename Visit>
    void for_fitting(int bin, Visit visit) const {
        for (std::size_t word = 0; word < plain_.columns(); ++word) {
            for (std::uint64_t bits = plain_[bin][word] | preferred_[bin][word]; bits != 0; bits &= bits - 1) {
                visit(static_cast<int>(word) * 64 + std::countr_zero(bits));
            }
        }
    }

    Action any_preferred(Random& random) const;
    Action best_ranked(Random& random) const;
    void leave_out(int kind);
    bool fits(int bin, int kind) const {
        const double* need = case_->need[kind].data();
        const std::span<const double> free = room_[bin];
        for (std::size_t resource = 0; resource < free.size(); ++resource) {
            if (need[resource] > free[resource]) return false;
        }
        return resources_only_ || fits_otherwise(bin, kind);
    }
    bool fits_otherwise(int bin, int kind) const;
    // Whether there is a reason to put an item there: traffic with what is in it or, where ranked, its fullness.
    bool liked(int bin, int kind) const {
        return with_[bin][kind] > 0.0 || (case_->ranked() && fullness_[bin] > 0.0);
    }
    void open(int bin);
    void look_again(int bin);
    void set_status(int bin, int kind, Status now);
    void take_shared_room(Action action);

    const Case* case_;
    bool resources_only_;
    std::size_t placed_ = 0;
    int opened_ = 0;
    int hopeless_kinds_ = 0;
    double kept_ = 0.0;  // traffic that stays within bins
    std::vector<int> left_;        // items of each kind that have no bin
    std::vector<int> used_;        // items in each bin
    std::vector<int> fitting_;     // in how many bins an item of each kind may go
    Table<double> room_;           // [bins, resources]
    Table<double> with_;           // [bins, kinds]: traffic between an item of that kind and what the bin holds
    Table<double> near_;           // the same, with what nearby bins hold by how near they are; only where ranked
    Table<std::uint64_t> hosts_;   // [bins, words]: the hosts that all items in a bin have in common
    Table<std::uint64_t> plain_;      // [bins, words]: the kinds that have this status in a bin, a bit each
    Table<std::uint64_t> preferred_;
    Table<int> actions_in_;        // [bins, 3]: how many kinds have each status in a bin
    int actions_[3] = {0, 0, 0};   // the sums of these
    std::vector<double> fullness_;
    std::vector<std::vector<double>> shared_room_;  // by shared limit and place
    std::vector<Action> path_;     // in the order of placement
};

}  // namespace berth::packing
