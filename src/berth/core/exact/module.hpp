// What the files of this module share to say what Python sees of them.
#pragma once

#include <nanobind/nanobind.h>

#include "grid.hpp"

namespace berth::exact {

namespace nb = nanobind;
using namespace nb::literals;

void bind_runs(nb::module_& module);
void bind_packing(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_forest(nb::module_& module);
void bind_lifted(nb::module_& module);
void bind_tabu(nb::module_& module);
void bind_assignment(nb::module_& module);
void bind_paths(nb::module_& module);
void bind_chain_losses(nb::module_& module);

}  // namespace berth::exact
