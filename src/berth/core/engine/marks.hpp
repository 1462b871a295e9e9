// Marked numbers that are visited in order.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "case.hpp"

namespace berth::engine {

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

}  // namespace berth::engine
