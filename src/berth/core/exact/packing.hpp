// Whether different operators side by side fit on places that are allowed to them.
//
// Every operator gets a value. What a place can bear at most is a knapsack; if all places together bear less than the
// values of all operators, these don't fit. The values come from subgradient steps: an operator that is in no knapsack
// becomes dearer. Knapsacks that hold everybody between them are a packing.
#pragma once

#include <optional>

#include "grid.hpp"

namespace berth::exact {

// The fullest filling of one place.
class Knapsack {
  public:
    Knapsack(const Grid<double>& demand) : demand_(demand) {}

    // The most value that fits into the room, or more than it. `allowed` and `value` are by operator.
    double fill(const std::vector<Flag>& allowed, const std::vector<double>& room, const std::vector<double>& value);
    // The operators of that filling.
    const std::vector<Flag>& chosen() const { return chosen_; }

  private:
    struct Item {
        Index number;
        double size;  // its shares of all room together
        double density;
    };

    void list_items(const std::vector<Flag>& allowed, const std::vector<double>& room, const std::vector<double>& value);
    double relaxed(double reached, double free, std::size_t at, const std::vector<double>& value) const;

    const Grid<double>& demand_;  // [resource][operator]
    std::vector<Item> items_;     // the densest first
    std::vector<Flag> taken_;     // by position in `items_`
    std::vector<Flag> chosen_;    // by operator
    std::vector<double> free_;    // [resource]
    std::vector<double> scale_;   // [resource]: 1 / room
    double whole_ = 0.0;          // all shares of room together
};

class PackingSearch {
  public:
    // `value` is where the values start: those that refute a packing often refute the next one, too.
    PackingSearch(Grid<Flag> usable, Grid<double> demand, Grid<double> room, std::vector<double> value);

    // A quick try: whoever has the fewest places left goes where the least room is left.
    std::optional<std::vector<Index>> quick_packing() const;
    // Search for some work; false once it is known whether all fit.
    bool go_on(Index most_work);
    // The place of each operator; nothing where they don't fit.
    const std::optional<std::vector<Index>>& packing() const { return packing_; }
    const std::vector<double>& value() const { return value_; }

  private:
    enum class Found { impossible, packed, open };

    // What is decided at a level of the search.
    struct Level {
        Grid<Flag> allowed;         // [operator][place]
        Grid<double> left;          // [resource][place]
        std::vector<Index> choice;  // [operator], -1: none yet
        Index branch_operator = -1, branch_place = -1;
    };

    bool narrow(Level& level) const;
    Index tightest(const Level& level) const;
    Found improve_values(Level& level, Index steps);
    double fill_places(const Level& level, const std::vector<double>& worth);
    void forget(Level& level, Index operator_, Index place) const;
    void branch(Level& level);
    Index resources() const { return demand_.rows(); }
    Index operators() const { return demand_.columns(); }
    Index places() const { return liked_.columns(); }

    Grid<double> demand_;  // [resource][operator]
    std::vector<double> value_;
    std::vector<Level> levels_;
    Index depth_ = 0;
    bool begun_ = false;
    std::optional<std::vector<Index>> packing_;
    Grid<double> liked_;  // [operator][place]: how often it was in the place's knapsack
    Knapsack knapsack_;
    std::vector<Index> where_, held_;  // [operator]: the last of its places in a filling, and how many there were
};

}  // namespace berth::exact
