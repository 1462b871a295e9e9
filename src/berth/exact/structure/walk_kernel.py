"""Compiled loops of the cheapest walk: a bound that remembers near nodes, and a depth-first search with it.

A walk visits nodes until their sizes sum up to what is needed. `steps` are the delays between nodes,
`shortest` their closure over paths. Nodes that were visited can be passed again: that collects nothing.
Loops are written out: whole rows at once take numba seconds to compile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.structure.sorting import sort_by
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
KeyArray = NDArray[np.uint64]


@compiled
def close(shortest: FloatArray) -> None:
    """From steps to the length of the shortest path between every two nodes, in place."""
    for middle in range(len(shortest)):
        for here in range(len(shortest)):
            way = shortest[here, middle]
            if way < np.inf:
                for there in range(len(shortest)):
                    if way + shortest[middle, there] < shortest[here, there]:
                        shortest[here, there] = way + shortest[middle, there]


@compiled
def rest_of_walk(
    shortest: FloatArray,
    sizes: IndexArray,
    near: IndexArray,
    passed: IndexArray,
    order: IndexArray,
    seen: NDArray[np.bool_],
    rest: FloatArray,
) -> None:
    """A lower bound on what is left of a walk: [still needed, here, which near nodes were visited].

    New nodes only, as far as the memory goes. `order` has every node's others by distance; `rest[0]` is 0.
    """
    count, memory = near.shape
    for left in range(1, len(rest)):
        for here in range(count):
            for visited in range(1 << memory):
                for bit in range(memory):
                    seen[near[here, bit]] = (visited >> bit) & 1
                best = np.inf
                for rank in range(count):
                    there = order[here, rank]
                    if there == here or seen[there]:
                        continue
                    step = shortest[here, there]
                    if step >= best:
                        break
                    way = step + rest[max(left - sizes[there], 0), there, passed[here, there, visited]]
                    if way < best:
                        best = way
                rest[left, here, visited] = best
            for bit in range(memory):
                seen[near[here, bit]] = False


@compiled
def _known(
    keys: KeyArray, lengths: FloatArray, visited: KeyArray, here: int, length: float, filled: IndexArray
) -> bool:
    """Whether the same nodes and end were reached in no longer a walk; if not, remember this one."""
    slots, words = keys.shape
    words -= 1
    end = np.uint64(here + 1)
    mixed = end * np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        mixed = (mixed ^ visited[word]) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed & np.uint64(slots - 1))
    while keys[slot, words] != np.uint64(0):
        same = keys[slot, words] == end
        for word in range(words):
            same = same and keys[slot, word] == visited[word]
        if same:
            if lengths[slot] <= length:
                return True
            lengths[slot] = length
            return False
        slot = (slot + 1) & (slots - 1)
    if filled[0] < slots // 2:
        filled[0] += 1
        keys[slot, words] = end
        for word in range(words):
            keys[slot, word] = visited[word]
        lengths[slot] = length
    return False


@compiled
def _ways_on(steps: FloatArray, walk: IndexArray, visits: int, inside: FloatArray, reach: FloatArray) -> None:
    """The cheapest ways from the walk's end to all nodes, through nodes of the walk only."""
    count = len(steps)
    for k in range(visits):
        inside[k] = np.inf
    inside[visits - 1] = 0.0
    for node in range(count):
        reach[node] = np.inf
    # those that are done are marked by a length below 0: -1 - length
    for _ in range(visits):
        nearest, least = -1, np.inf
        for k in range(visits):
            if 0.0 <= inside[k] < least:
                nearest, least = k, inside[k]
        if nearest < 0:
            break
        node = walk[nearest]
        inside[nearest] = -1.0 - least
        for k in range(visits):
            if inside[k] >= 0.0:
                inside[k] = min(inside[k], least + steps[node, walk[k]])
        for there in range(count):
            reach[there] = min(reach[there], least + steps[node, there])


@compiled
def search(
    steps: FloatArray,
    metric: bool,
    sizes: IndexArray,
    near: IndexArray,
    rest: FloatArray,
    keys: KeyArray,
    lengths: FloatArray,
    filled: IndexArray,
    # the stack: nodes, lengths, what is left, children in their order and which of them is next
    walk: IndexArray,
    length: FloatArray,
    left: IndexArray,
    child: IndexArray,
    child_bound: FloatArray,
    child_length: FloatArray,
    order: IndexArray,
    children: IndexArray,
    turn: IndexArray,
    visited: KeyArray,
    inside: FloatArray,
    reach: FloatArray,
    depth: int,
    best: float,
    best_walk: IndexArray,
    best_visits: int,
    slack: float,
    work: int,
) -> tuple[int, float, int, int]:
    """Go on with the search for some work: (depth, best length, visits of the best walk, work left).

    Depth 0 is before the first node; -1: done.
    """
    count, memory = near.shape
    one = np.uint64(1)
    while depth >= 0 and work > 0:
        if children[depth] < 0:
            work -= 1
            found = 0
            if depth == 0 or metric:
                for node in range(count):
                    reach[node] = steps[walk[depth - 1], node] if depth else 0.0
            else:
                _ways_on(steps, walk, depth, inside, reach)
            for node in range(count):
                if visited[node >> 6] >> np.uint64(node & 63) & one:
                    continue
                way = length[depth] + reach[node]
                if way >= best - slack:
                    continue
                mask = 0
                for bit in range(memory):
                    other = near[node, bit]
                    if visited[other >> 6] >> np.uint64(other & 63) & one:
                        mask |= 1 << bit
                bound = way + rest[max(left[depth] - sizes[node], 0), node, mask]
                if bound < best - slack:
                    child[depth, found] = node
                    child_bound[depth, found] = bound
                    child_length[depth, found] = way
                    found += 1
            sort_by(child_bound, order, depth, found)
            children[depth] = found
            turn[depth] = 0
        chosen = order[depth, turn[depth]] if turn[depth] < children[depth] else -1
        if chosen < 0 or child_bound[depth, chosen] >= best - slack:
            depth -= 1
            if depth >= 0:
                node = walk[depth]
                visited[node >> 6] &= ~(one << np.uint64(node & 63))
            continue
        node, way = child[depth, chosen], child_length[depth, chosen]
        turn[depth] += 1
        walk[depth] = node
        still = left[depth] - sizes[node]
        if still <= 0:
            best, best_visits = way, depth + 1
            for k in range(depth + 1):
                best_walk[k] = walk[k]
            continue
        visited[node >> 6] |= one << np.uint64(node & 63)
        if _known(keys, lengths, visited, node, way, filled):
            visited[node >> 6] &= ~(one << np.uint64(node & 63))
            continue
        depth += 1
        length[depth] = way
        left[depth] = still
        children[depth] = -1
    return depth, best, best_visits, work
