// What a place remembers of itself, the first bit, and of places near it: one bit for each of them.
#pragma once

#include <numeric>

#include "grid.hpp"

namespace berth::exact {

// The positions of `values`, the least value first, ties by position.
inline std::vector<Index> ascending(const double* values, Index count) {
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index one, Index other) { return values[one] < values[other]; });
    return order;
}

class Memory {
  public:
    Memory() = default;
    Memory(const Grid<double>& step, Index bits) : near_(step.rows(), bits), places_(step.rows()), bits_(bits) {
        std::vector<double> way(static_cast<std::size_t>(places_));
        for (Index place = 0; place < places_; ++place) {
            for (Index other = 0; other < places_; ++other) way[other] = step[place][other] + step[other][place];
            way[place] = -1.0;
            const auto order = ascending(way.data(), places_);
            std::copy(order.begin(), order.begin() + bits, near_[place]);
        }
        pass_on();
    }

    Index bits() const { return bits_; }
    Index states() const { return Index{1} << bits_; }
    const Index* near(Index place) const { return near_[place]; }
    // What is left of a memory on the way to another place.
    const std::uint16_t* passed(Index here, Index there) const {
        return passed_.data() + ((here * places_ + there) << bits_);
    }

  private:
    void pass_on() {
        Grid<std::uint16_t> flag(places_, places_);  // [place][other]: the other one's bit in the place's memory
        for (Index place = 0; place < places_; ++place)
            for (Index bit = 0; bit < bits_; ++bit) flag[place][near_[place][bit]] = static_cast<std::uint16_t>(1 << bit);
        passed_.resize(static_cast<std::size_t>((places_ * places_) << bits_));
        for (Index here = 0; here < places_; ++here)
            for (Index there = 0; there < places_; ++there) {
                std::uint16_t* after = passed_.data() + ((here * places_ + there) << bits_);
                after[0] = 0;
                for (Index bit = 0; bit < bits_; ++bit)
                    for (Index before = 0; before < (Index{1} << bit); ++before)
                        after[before | (Index{1} << bit)] = after[before] | flag[there][near_[here][bit]];
            }
    }

    Grid<Index> near_;
    std::vector<std::uint16_t> passed_;
    Index places_ = 0, bits_ = 0;
};

}  // namespace berth::exact
