// Lists of numbers.
#pragma once

#include <cstdint>
#include <ranges>
#include <vector>

namespace berth::sharing {

// Numbers instances, operators, nodes and so on; `none` where there is no such thing.
using Index = std::int32_t;
constexpr Index none = -1;

// Whole numbers from the first up to, not including, the last.
using Range = std::ranges::iota_view<Index, Index>;

using Lists = std::vector<std::vector<Index>>;

// List `group` has the positions of that value in `group_of`, in ascending order.
inline Lists by_group(const std::vector<Index>& group_of, Index groups) {
    Lists lists(groups);
    for (std::size_t position = 0; position < group_of.size(); ++position)
        lists[group_of[position]].push_back(static_cast<Index>(position));
    return lists;
}

}  // namespace berth::sharing
