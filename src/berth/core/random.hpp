// Random numbers: xoshiro256**, seeded by splitmix64 (Blackman and Vigna, 2021).
#pragma once

#include <cstdint>

namespace berth {

class Random {
  public:
    explicit Random(std::uint64_t seed) {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15ULL;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
            word = mixed ^ (mixed >> 31);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotated(state_[3], 45);
        return result;
    }

    // From 0 up to, not including, 1.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    // From 0 up to, not including, `count`.
    std::int64_t below(std::int64_t count) {
        return static_cast<std::int64_t>((static_cast<unsigned __int128>(next()) * count) >> 64);
    }

  private:
    static std::uint64_t rotated(std::uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }

    std::uint64_t state_[4];
};

}  // namespace berth
