// The latency space's compiled loops, as the Python module berth.core.space.
#include <nanobind/nanobind.h>

namespace berth::space {

void bind_room(nanobind::module_& module);
void bind_kd_tree(nanobind::module_& module);
void bind_vivaldi(nanobind::module_& module);
void bind_springs(nanobind::module_& module);
void bind_weber(nanobind::module_& module);
void bind_events(nanobind::module_& module);
void bind_refinement(nanobind::module_& module);
void bind_branching(nanobind::module_& module);
void bind_paths(nanobind::module_& module);

}  // namespace berth::space

NB_MODULE(space, module) {
    using namespace berth::space;
    bind_room(module);
    bind_kd_tree(module);
    bind_vivaldi(module);
    bind_springs(module);
    bind_weber(module);
    bind_events(module);
    bind_refinement(module);
    bind_branching(module);
    bind_paths(module);
}
