// Lists of numbers, stored one after another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::sharing {

// Numbers instances, operators, nodes and so on; `none` where there is no such thing.
using Index = std::int32_t;
constexpr Index none = -1;

class Lists {
  public:
    Lists() : first_{0} {}

    explicit Lists(const std::vector<std::vector<Index>>& lists) : Lists() {
        for (const auto& list : lists) {
            items_.insert(items_.end(), list.begin(), list.end());
            first_.push_back(static_cast<Index>(items_.size()));
        }
    }

    // List `group` has the positions of that value in `group_of`, in ascending order.
    static Lists by_group(const std::vector<Index>& group_of, Index groups) {
        Lists lists;
        lists.first_.assign(groups + 1, 0);
        for (const Index group : group_of) ++lists.first_[group + 1];
        for (Index group = 0; group < groups; ++group) lists.first_[group + 1] += lists.first_[group];
        lists.items_.resize(group_of.size());
        std::vector<Index> next(lists.first_.begin(), lists.first_.end() - 1);
        for (Index position = 0; position < static_cast<Index>(group_of.size()); ++position)
            lists.items_[next[group_of[position]]++] = position;
        return lists;
    }

    std::span<const Index> operator[](Index list) const {
        return {items_.data() + first_[list], static_cast<std::size_t>(first_[list + 1] - first_[list])};
    }

    Index size() const { return static_cast<Index>(first_.size()) - 1; }
    Index items() const { return static_cast<Index>(items_.size()); }

  private:
    std::vector<Index> first_;
    std::vector<Index> items_;
};

// Whole numbers from `first` up to, not including, `last`.
class Range {
  public:
    class Iterator {
      public:
        explicit Iterator(Index at) : at_(at) {}
        Index operator*() const { return at_; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return at_ != other.at_; }

      private:
        Index at_;
    };

    Range(Index first, Index last) : first_(first), last_(last) {}
    Iterator begin() const { return Iterator(first_); }
    Iterator end() const { return Iterator(last_); }
    Index size() const { return last_ - first_; }
    Index operator[](Index position) const { return first_ + position; }

  private:
    Index first_, last_;
};

}  // namespace berth::sharing
