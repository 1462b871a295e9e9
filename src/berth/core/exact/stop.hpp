// Long loops ask now and then whether time is over or the user wants to stop.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace berth::exact {

// Asks Python at most every 20 ms. Calling into Python also runs its signal handlers, so Ctrl-C is heard.
class Stop {
  public:
    explicit Stop(const nanobind::callable& over) : over_(over), asked_(Clock::now()) {}

    bool operator()() {
        if (answer_ || Clock::now() - asked_ < std::chrono::milliseconds(20)) return answer_;
        nanobind::gil_scoped_acquire gil;
        answer_ = nanobind::cast<bool>(over_());
        asked_ = Clock::now();
        return answer_;
    }

  private:
    using Clock = std::chrono::steady_clock;

    const nanobind::callable& over_;
    Clock::time_point asked_;
    bool answer_ = false;
};

}  // namespace berth::exact
