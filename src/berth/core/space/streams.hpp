// Units (an instance, or instances that stay together) and the streams between them.
#pragma once

#include <ranges>

#include "places.hpp"

namespace berth::space {

// The neighbours of unit k are at offsets[k] to offsets[k + 1]; aligned with these are the bytes per second that it
// sends to each (forward) and receives from it (backward), and whether there is a stream at all in that direction.
struct Streams {
    Streams(const Vector<Number>& offsets, const Vector<Number>& neighbours, const Vector<double>& forward,
            const Vector<double>& backward, const Vector<bool>& sends, const Vector<bool>& receives)
        : offsets(copied(offsets)),
          neighbours(copied(neighbours)),
          forward(copied(forward)),
          backward(copied(backward)),
          sends(sends.data(), sends.data() + sends.size()),
          receives(receives.data(), receives.data() + receives.size()) {}

    std::size_t size() const { return offsets.size() - 1; }
    // The entries of a unit's neighbours.
    auto entries(Number unit) const { return std::views::iota(offsets[unit], offsets[unit + 1]); }

    std::vector<Number> offsets;
    std::vector<Number> neighbours;
    std::vector<double> forward, backward;
    std::vector<char> sends, receives;
};

// The sum of weight x distance over all streams, each once.
inline double usage(const Streams& streams, std::span<const double> weights, const Places& positions) {
    double total = 0.0;
    for (std::size_t unit = 0; unit < streams.size(); ++unit) {
        for (const Number entry : streams.entries(unit)) {
            const Number other = streams.neighbours[entry];
            if (other > static_cast<Number>(unit)) {
                total += weights[entry] * distance(positions[unit], positions[other]);
            }
        }
    }
    return total;
}

// A unit's places on the way, as far as there is room for them: rows of a unit's number and its place.
class Log {
  public:
    Log(std::size_t most_rows, std::size_t dimensions) : most_rows_(most_rows), width_(dimensions + 1) {}

    void add(Number unit, Place place) {
        if (rows_ == most_rows_) return;
        ++rows_;
        values_.push_back(static_cast<double>(unit));
        values_.insert(values_.end(), place.begin(), place.end());
    }
    NumpyMatrix<double> to_numpy() && { return owning<NumpyMatrix<double>>(std::move(values_), {rows_, width_}); }

  private:
    std::size_t most_rows_;
    std::size_t width_;
    std::size_t rows_ = 0;
    std::vector<double> values_;
};

}  // namespace berth::space
