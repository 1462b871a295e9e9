// The inner loop of both tables of costs.
#pragma once

#include <cstddef>

namespace berth::engine {

// costs += rate * (added - taken), elementwise.
void add_difference(double* costs, const double* added, const double* taken, double rate, std::size_t count);

}  // namespace berth::engine
