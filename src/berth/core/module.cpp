// The compiled module: every subject adds its functions and classes to it.
#include <nanobind/nanobind.h>

namespace berth {}  // each subject declares its `void bind_subject(nanobind::module_&)` in core.hpp

NB_MODULE(_core, module) {
    module.doc() = "Compiled loops of berth.";
}
