// A numpy Generator as C++ sees it: the same numbers, in the same order, as Python would draw.
#pragma once

#include <nanobind/nanobind.h>
#include <numpy/random/bitgen.h>

#include <cstdint>

// From numpy's own library of distributions (npyrandom).
extern "C" double random_standard_exponential(bitgen_t*);
extern "C" double random_standard_normal(bitgen_t*);

namespace berth {

// Its Generator must stay alive, and nobody else may draw from it at the same time.
class NumpyRandom {
  public:
    explicit NumpyRandom(const nanobind::object& generator)
        : bits_(static_cast<bitgen_t*>(
              nanobind::cast<nanobind::capsule>(generator.attr("bit_generator").attr("capsule"))
                  .data("BitGenerator"))) {}

    // From 0 up to, not including, 1.
    double uniform() { return bits_->next_double(bits_->state); }
    double exponential() { return random_standard_exponential(bits_); }
    double normal() { return random_standard_normal(bits_); }
    // From 0 up to, not including, `count`.
    std::int32_t below(std::int32_t count) { return static_cast<std::int32_t>(uniform() * count); }

  private:
    bitgen_t* bits_;
};

}  // namespace berth
