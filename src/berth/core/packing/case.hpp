// What a search over partial maps works on: items that go into bins (paper 001).
//
// Both stages are such a case: instances into containers, containers onto servers. Items that can be swapped without
// any change are one kind, and bins that can be swapped are opened in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::packing {

// A matrix in one piece of memory; its rows are spans.
template <typename Value>
class Table {
  public:
    Table() = default;
    Table(std::size_t rows, std::size_t columns, Value value = {})
        : rows_(rows), columns_(columns), values_(rows * columns, value) {}
    template <typename Array>
    explicit Table(const Array& matrix)
        : rows_(matrix.shape(0)), columns_(matrix.shape(1)), values_(matrix.data(), matrix.data() + matrix.size()) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::span<const Value> operator[](std::size_t row) const { return {values_.data() + row * columns_, columns_}; }
    std::span<Value> operator[](std::size_t row) { return {values_.data() + row * columns_, columns_}; }

  private:
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::vector<Value> values_;
};

// What the items in several bins need in sum is limited, too: servers with the same label, for example.
struct SharedLimit {
    std::vector<double> needed;             // by kind
    std::vector<std::int64_t> place_of_bin;
    std::vector<double> room;               // by place
    std::vector<std::vector<int>> bins_at;  // the bins of each place
};

struct Partner {
    int kind;
    double traffic;  // both ways
};

struct Case {
    std::size_t kinds() const { return members.size(); }
    std::size_t bins() const { return room.rows(); }
    std::size_t items() const;
    // Whether actions are ranked by traffic with near bins and by fullness (the second stage).
    bool ranked() const { return share.rows() > 0; }

    std::vector<std::int64_t> members;  // items of each kind
    Table<double> need;                 // [kinds, resources]
    Table<double> room;                 // [bins, resources]
    Table<double> traffic;              // [kinds, kinds], from an item of one kind to one of the other
    std::vector<std::vector<Partner>> partners;  // whom an item of each kind exchanges anything with
    Table<char> allowed;                // [bins, kinds]
    Table<std::uint64_t> hosts;         // [kinds, words]: the hosts of each kind, a bit each
    Table<double> distance;             // [bins, bins]
    std::vector<std::int64_t> following;  // the bin that opens once this one is in use, as it looks the same; -1: none
    Table<double> share;              // [kinds, bins]: what an item adds to a bin's fullness; no rows: it doesn't count
    std::vector<double> fullness;     // by bin
    Table<double> nearness;           // [bins, bins]: 1 within a bin, 0 at the greatest distance
    std::vector<SharedLimit> shared;
    double scale;    // traffic of this amount is worth as much as a full bin
    bool uniform;    // all bins are equally far from each other, by 1
    double per_traffic;
    double per_bin;
};

}  // namespace berth::packing
