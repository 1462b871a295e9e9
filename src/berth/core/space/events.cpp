// MOPA's events (paper 003, algorithm 1; card 1.3): units move to their Weber points until none wants to.
#include <algorithm>
#include <deque>
#include <numeric>

#include "streams.hpp"
#include "weber.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

// Usage that falls by less than this share has not fallen: sums of floats are not exact.
constexpr double falling = 1.0 - 1e-12;
constexpr double falling_in_all = 1.0 - 1e-9;

}  // namespace

class Events {
  public:
    struct Counters {
        std::size_t events = 0, iterations = 0, messages = 0, moves = 0, non_unique = 0, reopened = 0;
    };
    // How it ended: at a fixed point, after too many events, or with a unit whose printed search doesn't end.
    static constexpr Number fixed_point = -1, too_many_events = -2;

    Events(const Streams& streams, const Vector<double>& weights, const Vector<bool>& free,
           const MutableMatrix<double>& positions, std::size_t log_rows)
        : streams_(streams),
          weights_(view(weights)),
          free_(view(free)),
          positions_(positions),
          cluster_(streams.size()),
          following_(streams.size()),
          queued_(streams.size()),
          search_(positions.shape(1)),
          log_(log_rows, positions.shape(1)) {
        std::iota(cluster_.begin(), cluster_.end(), 0);
        following_ = cluster_;
    }

    // Moves free units until a fixed point; clusters are opened again there until usage stops falling.
    Number run(std::span<const Number> first, double tolerance, std::size_t most_events, bool printed) {
        for (const Number unit : first) {
            if (free_[unit]) wait(unit);
        }
        double before = total_usage();
        while (true) {
            while (!queue_.empty()) {
                if (counters.events >= most_events) return too_many_events;
                const Number unit = queue_.front();
                queue_.pop_front();
                queued_[unit] = false;
                ++counters.events;
                if (!settle(unit, tolerance, printed)) return unit;
            }
            const double usage_now = total_usage();
            const bool fell = usage_now < before * falling_in_all || counters.reopened == 0;
            if (counters.moves == 0 || !fell) return fixed_point;
            before = usage_now;
            ++counters.reopened;
            open_clusters();
        }
    }

    const std::vector<Number>& cluster() const { return cluster_; }
    Log take_log() { return std::move(log_); }

    Counters counters;

  private:
    double total_usage() const {
        return usage(streams_, weights_, Places(positions_[0].data(), positions_.size(), positions_.width()));
    }

    // Calls `visit(member)` for every member of a unit's cluster, itself first.
    template <typename Visit>
    void for_cluster(Number unit, Visit visit) const {
        Number member = unit;
        do {
            visit(member);
            member = following_[member];
        } while (member != unit);
    }

    // Puts a unit into the queue, unless its cluster waits there already, whichever member it is.
    void wait(Number unit) {
        bool waiting = false;
        for_cluster(unit, [&](Number member) { waiting = waiting || queued_[member]; });
        if (waiting) return;
        queue_.push_back(unit);
        queued_[unit] = true;
    }

    // A unit's cluster goes to its Weber point, and joins a free neighbour that is there. False: the printed search
    // for that point has no end.
    bool settle(Number unit, double tolerance, bool printed) {
        gather_neighbours(unit);
        if (owners_.empty()) return true;
        place_.resize(positions_.width());
        const WeberResult found = search_.find(place_, printed);
        counters.iterations += found.rounds;
        counters.non_unique += found.tied;
        if (found.ending == Ending::endless) return false;
        const Number joined = neighbour_at(place_);
        const double way = distance(place_, positions_[unit]);
        if (way > tolerance || (joined >= 0 && way > coincident_ms)) {
            const double here = search_.usage_at(positions_[unit]);
            // As good as here: on ties units would wander without end.
            if (!printed && search_.usage_at(place_) >= here * falling) return true;
            move(unit);
        }
        if (joined >= 0) join(unit, joined);
        return true;
    }

    void gather_neighbours(Number unit) {
        search_.clear();
        owners_.clear();
        for_cluster(unit, [&](Number member) {
            for (const Number entry : streams_.entries(member)) {
                const Number other = streams_.neighbours[entry];
                if (weights_[entry] > 0.0 && cluster_[other] != cluster_[unit]) {
                    search_.add(positions_[other], weights_[entry]);
                    owners_.push_back(other);
                }
            }
        });
    }

    // A free neighbour at a place, which then is that neighbour's to the last bit; -1: there is none.
    Number neighbour_at(std::span<double> place) const {
        for (std::size_t k = 0; k < owners_.size(); ++k) {
            if (free_[owners_[k]] && distance(search_.point(k), place) <= coincident_ms) {
                std::ranges::copy(search_.point(k), place.begin());
                return owners_[k];
            }
        }
        return -1;
    }

    // Brings a unit's cluster to its new place, and tells every free neighbour of each member.
    void move(Number unit) {
        for_cluster(unit, [&](Number member) {
            ++counters.moves;
            std::ranges::copy(place_, positions_[member].begin());
            log_.add(member, place_);
            for (const Number entry : streams_.entries(member)) {
                const Number other = streams_.neighbours[entry];
                if (free_[other] && cluster_[other] != cluster_[unit]) {
                    ++counters.messages;
                    wait(other);
                }
            }
        });
    }

    // Makes two clusters one, which waits for an event of its own.
    void join(Number unit, Number other) {
        for_cluster(unit, [&](Number member) { cluster_[member] = cluster_[other]; });
        std::swap(following_[unit], following_[other]);  // two circles become one
        wait(unit);
    }

    void open_clusters() {
        std::iota(cluster_.begin(), cluster_.end(), 0);
        following_ = cluster_;
        for (std::size_t unit = 0; unit < free_.size(); ++unit) {
            if (free_[unit]) wait(static_cast<Number>(unit));
        }
    }

    const Streams& streams_;
    std::span<const double> weights_;
    std::span<const bool> free_;
    MutablePlaces positions_;
    std::vector<Number> cluster_;    // named by one of its members
    std::vector<Number> following_;  // the next member of the same cluster, in a circle
    std::deque<Number> queue_;
    std::vector<char> queued_;
    WeberSearch search_;
    std::vector<Number> owners_;  // of the search's points
    std::vector<double> place_;
    Log log_;
};

namespace {

// Counters, how it ended, the cluster of each unit and the log.
auto run_events(const Streams& streams, const Vector<double>& weights, const Vector<bool>& free,
                const MutableMatrix<double>& positions, const Vector<Number>& first, double tolerance,
                std::size_t most_events, bool printed, std::size_t log_rows) {
    Events events(streams, weights, free, positions, log_rows);
    const Number stuck = positions.shape(0) > 0 ? events.run(view(first), tolerance, most_events, printed)
                                                : Events::fixed_point;
    const auto& [total, iterations, messages, moves, non_unique, reopened] = events.counters;
    nb::dict counters;
    counters["events"] = total;
    counters["iterations"] = iterations;
    counters["messages"] = messages;
    counters["moves"] = moves;
    counters["non_unique"] = non_unique;
    counters["reopened"] = reopened;
    return nb::make_tuple(counters, stuck, to_numpy(events.cluster()), events.take_log().to_numpy());
}

}  // namespace

void bind_events(nb::module_& module) {
    module.def("run_events", &run_events, "streams"_a, "weights"_a, "free"_a, "positions"_a.noconvert(), "first"_a,
               nb::kw_only(), "tolerance"_a, "most_events"_a, "printed"_a, "log_rows"_a);
    module.attr("TOO_MANY_EVENTS") = Events::too_many_events;
}

}  // namespace berth::space
