#include "row_update.hpp"

namespace berth::engine {

// Elementwise, so that wider registers give the same sums on every machine.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx2", "default")))
#endif
void add_difference(double* __restrict costs, const double* __restrict added, const double* __restrict taken,
                    double rate, std::size_t count) {
    for (std::size_t node = 0; node < count; ++node) {
        costs[node] += rate * (added[node] - taken[node]);
    }
}

}  // namespace berth::engine
