#include "module.hpp"

NB_MODULE(exact, module) {
    module.doc() = "Searches and bounds of the exact methods.";
    berth::exact::bind_runs(module);
    berth::exact::bind_packing(module);
    berth::exact::bind_tables(module);
    berth::exact::bind_forest(module);
    berth::exact::bind_lifted(module);
    berth::exact::bind_tabu(module);
    berth::exact::bind_assignment(module);
    berth::exact::bind_paths(module);
    berth::exact::bind_chain_losses(module);
}
