// What all loops of simulated annealing share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace berth::engine {

// The price of broken limits rises while any is broken, and falls while none is.
struct BrokenPrice {
    double now = 1.0;
    double least = 1.0;
    double most = 1.0;

    void adapt(bool broken) {
        constexpr double STEP = 1.05;
        now = std::clamp(broken ? now * STEP : now / STEP, least, most);
    }
};

// Steps between two looks at the temperature and at the longest path.
constexpr std::int64_t EPOCH = 64;

// One cycle of annealing: from hot to cold over its whole length.
struct Cycle {
    double hot = 1.0;
    double cold = 1.0;
    std::int64_t length = 0;
    std::int64_t period = 1;   // steps between two changes of the price of broken limits
    bool until_whole = false;  // stop at the first plan that breaks nothing
    std::int64_t step = 0;     // how far it is

    bool over() const { return step >= length; }
    bool at_epoch() const { return step % EPOCH == 0; }
    // Of the epoch that a step belongs to, however often the cycle was interrupted.
    double temperature() const {
        const double share = static_cast<double>(step - step % EPOCH) / static_cast<double>(length);
        return hot * std::pow(cold / hot, share);
    }
};

}  // namespace berth::engine
