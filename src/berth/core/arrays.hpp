// numpy arrays as C++ sees them, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
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
using NumpyMatrix = nanobind::ndarray<nanobind::numpy, Value, nanobind::ndim<2>>;

template <typename Value>
std::span<const Value> view(const Vector<Value>& array) {
    return {array.data(), array.size()};
}

template <typename Value>
std::span<Value> view(const MutableVector<Value>& array) {
    return {array.data(), array.size()};
}

template <typename Value>
std::vector<Value> copied(const Vector<Value>& array) {
    return {array.data(), array.data() + array.size()};
}

// A vector as a numpy array of any shape that owns its memory; flags are bytes here and bools there.
template <typename Array, typename Stored>
Array owning(std::vector<Stored> values, std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(typename Array::Scalar) == sizeof(Stored));
    auto owned = std::make_unique<std::vector<Stored>>(std::move(values));
    auto* data = reinterpret_cast<typename Array::Scalar*>(owned->data());
    nanobind::capsule owner(owned.release(),
                            [](void* memory) noexcept { delete static_cast<std::vector<Stored>*>(memory); });
    return Array(data, shape, owner);
}

template <typename Value>
NumpyVector<Value> to_numpy(std::vector<Value> values) {
    const std::size_t size = values.size();
    return owning<NumpyVector<Value>>(std::move(values), {size});
}

}  // namespace berth
