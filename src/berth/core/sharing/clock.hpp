// Long loops return to Python now and then, so that time limits and interrupts hold.
#pragma once

#include <chrono>

namespace berth::sharing {

class TimeSlice {
  public:
    // Looks at the clock at every 16th call only.
    bool over() { return (++calls_ & 15U) == 0 && std::chrono::steady_clock::now() >= end_; }

  private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    unsigned calls_ = 0;
};

}  // namespace berth::sharing
