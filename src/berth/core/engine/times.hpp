// Times along paths: when instances are done, and how long their results go on from there.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "case.hpp"

namespace berth::engine {

struct Range {
    double least = 0.0;
    double most = 0.0;
};

// Instances that wait for a look, visited in order.
class Marks {
  public:
    explicit Marks(Index size) : words_(static_cast<std::size_t>(size) / 64 + 1, 0) {}

    // Whether it is new.
    bool add(Index number) {
        std::uint64_t& word = words_[number >> 6];
        const std::uint64_t bit = std::uint64_t{1} << (number & 63);
        const bool is_new = (word & bit) == 0;
        word |= bit;
        count_ += is_new;
        return is_new;
    }
    void remove(Index number) {
        words_[number >> 6] &= ~(std::uint64_t{1} << (number & 63));
        --count_;
    }
    bool empty() const { return count_ == 0; }

    // The first one from a number on, and the last one up to it; there must be one.
    Index next(Index from) const {
        Index at = from >> 6;
        std::uint64_t word = words_[at] & (~std::uint64_t{0} << (from & 63));
        while (word == 0) {
            word = words_[++at];
        }
        return (at << 6) + std::countr_zero(word);
    }
    Index previous(Index from) const {
        Index at = from >> 6;
        std::uint64_t word = words_[at] & (~std::uint64_t{0} >> (63 - (from & 63)));
        while (word == 0) {
            word = words_[--at];
        }
        return (at << 6) + 63 - std::countl_zero(word);
    }

  private:
    std::vector<std::uint64_t> words_;
    Index count_ = 0;
};

// Where instances are, and how many each node hosts: what times follow from.
struct Whereabouts {
    std::vector<Index> node_of_instance;
    std::vector<Index> hosted;
};

// Times as they are or, with load, with run queues and transmission (paper 002).
template <bool Loaded>
class PathTimes {
  public:
    PathTimes(const Case& problem, const Whereabouts& where);

    std::vector<double> done;
    std::vector<double> rest;

    // How long a data unit is on its way.
    double passage(Index sender, Index receiver, double bytes) const {
        const Index here = where_.node_of_instance[sender], there = where_.node_of_instance[receiver];
        if (Loaded && here == there) {
            return 0.0;
        }
        const double ms = case_.links.hop(here, there);
        return Loaded ? ms + bytes * case_.machines.ms_per_byte[here] : ms;
    }
    // How long a data unit takes on the instance's node.
    double work(Index instance) const {
        const Index node = where_.node_of_instance[instance];
        const double ms = case_.paths.work_ms[instance] * case_.machines.slowness[node];
        if (!Loaded) {
            return ms;
        }
        // The ends of paths take no time where load counts.
        if (case_.paths.inputs[instance].empty() || case_.paths.outputs[instance].empty()) {
            return 0.0;
        }
        return ms * std::max(1.0, case_.machines.run_queue[node] + where_.hosted[node]);
    }
    // How long an instance's results go on over one of its outputs.
    double onward(Index instance, const Paths::Hop& output) const {
        return passage(instance, output.instance, output.bytes) + work(output.instance) + rest[output.instance];
    }
    // Which of some instances, first to before last, is done last.
    Index slowest(Index first, Index last) const;

    // Everything from the beginning.
    void compute();
    // Note that something about an instance has changed.
    void note(Index instance) {
        if (marks_.add(instance)) {
            changed_.push_back(instance);
        }
    }
    // All times follow what was noted; says which of those with another time is done last, or NOWHERE.
    Index follow();
    // Between what the longest path of instances `first` to before `last` is, given what was noted; `longest` is
    // what it was. No time stays changed. Beyond `enough`, it need not be said by how much.
    Range outlook(double longest, double enough, Index first, Index last, bool exact);

  private:
    double done_at(Index instance) const;
    double rest_from(Index instance) const;
    Index follow_forward();
    void follow_backward();

    const Case& case_;
    const Whereabouts& where_;
    Marks marks_;
    std::vector<Index> changed_;
    struct Former {
        Index instance;
        double done;
    };
    std::vector<Former> former_;
};

extern template class PathTimes<false>;
extern template class PathTimes<true>;

}  // namespace berth::engine
