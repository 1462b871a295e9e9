#include "tables.hpp"

#include "module.hpp"

namespace berth::exact {

void bind_tables(nb::module_& module) {
    nb::class_<Tables>(module, "Tables")
        .def("__init__",
             [](Tables* self, Matrix<bool> allowed, Matrix<double> cost, Matrix<Index> ends, CubeArray<double> pair,
                Matrix<double> demand, Matrix<double> limit, Matrix<Index> group) {
                 new (self) Tables{SharedGrid<bool>(std::move(allowed)),  SharedGrid<double>(std::move(cost)),
                                   SharedGrid<Index>(std::move(ends)),    SharedCube<double>(std::move(pair)),
                                   SharedGrid<double>(std::move(demand)), SharedGrid<double>(std::move(limit)),
                                   SharedGrid<Index>(std::move(group))};
             },
             "allowed"_a, "cost"_a, "ends"_a, "pair"_a, "demand"_a, "limit"_a, "group"_a);
}

}  // namespace berth::exact
