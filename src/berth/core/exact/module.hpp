// What the files of this module share to say what Python sees of them.
#pragma once

#include <nanobind/nanobind.h>

#include "grid.hpp"

namespace berth::exact {

namespace nb = nanobind;
using namespace nb::literals;

void bind_walk(nb::module_& module);
void bind_runs(nb::module_& module);
void bind_packing(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_forest(nb::module_& module);
void bind_lifted(nb::module_& module);
void bind_tabu(nb::module_& module);
void bind_assignment(nb::module_& module);
void bind_paths(nb::module_& module);

// The least bound on a depth-first search's stack of what was not looked at yet; minus infinity before its start.
template <typename Level>
double least_open(const std::vector<Level>& levels, Index depth) {
    double least = INFINITE;
    for (Index k = 0; k <= depth; ++k) {
        const Level& level = levels[k];
        if (!level.expanded) {
            // reached, not yet looked at
            least = std::min(least, k == 0 ? -INFINITE : levels[k - 1].children[levels[k - 1].turn - 1].bound);
        } else if (level.turn < level.children.size()) {
            least = std::min(least, level.children[level.turn].bound);
        }
    }
    return least;
}

}  // namespace berth::exact
