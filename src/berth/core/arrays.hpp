// numpy arrays as C++ sees them, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace berth {

template <typename Value>
using Vector = nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename Value>
using Matrix = nanobind::ndarray<const Value, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
// Arrays that are written to.
template <typename Value>
using MutableVector = nanobind::ndarray<Value, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename Value>
using MutableMatrix = nanobind::ndarray<Value, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <typename Value>
using NumpyVector = nanobind::ndarray<nanobind::numpy, Value, nanobind::ndim<1>>;

template <typename Value>
std::vector<Value> copied(const Vector<Value>& array) {
    return {array.data(), array.data() + array.size()};
}

// A vector as a numpy array that owns its memory.
template <typename Value>
NumpyVector<Value> to_numpy(std::vector<Value> values) {
    auto owned = std::make_unique<std::vector<Value>>(std::move(values));
    Value* data = owned->data();
    const std::size_t shape[1] = {owned->size()};
    nanobind::capsule owner(owned.release(),
                            [](void* memory) noexcept { delete static_cast<std::vector<Value>*>(memory); });
    return NumpyVector<Value>(data, 1, shape, owner);
}

}  // namespace berth
