// Values that remember what they were, so that a change can be taken back.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sharing/lists.hpp"

namespace berth::sharing {

class State;

// Everybody may read; only a state writes. Of every value that changes between two calls of `keep` or
// `undo`, the first one is logged.
template <typename Value>
class Tracked {
  public:
    struct Change {
        Index position;
        Value before;
    };

    Tracked(std::size_t count, Value value) : values_(count, value), logged_in_(count, 0) {}
    explicit Tracked(std::vector<Value> values) : values_(std::move(values)), logged_in_(values_.size(), 0) {}

    const Value& operator[](std::size_t position) const { return values_[position]; }
    const std::vector<Value>& values() const { return values_; }
    const std::vector<Change>& changes() const { return changes_; }

  private:
    friend class State;

    // The value for writing.
    Value& at(std::size_t position) {
        if (logged_in_[position] != step_) {
            logged_in_[position] = step_;
            changes_.push_back({static_cast<Index>(position), values_[position]});
        }
        return values_[position];
    }

    void keep() {
        if (changes_.empty()) return;
        changes_.clear();
        if (++step_ == 0) {  // after four thousand million steps: all marks are old
            logged_in_.assign(values_.size(), 0);
            step_ = 1;
        }
    }

    void undo() {
        for (const auto& change : changes_) values_[change.position] = change.before;
        keep();
    }

    void replace(const std::vector<Value>& values) {
        keep();
        values_ = values;
    }

    std::vector<Value> values_;
    std::vector<std::uint32_t> logged_in_;
    std::vector<Change> changes_;
    std::uint32_t step_ = 1;
};

}  // namespace berth::sharing
