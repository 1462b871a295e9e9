"""Compiled loops of the cheapest walk: a bound that remembers near nodes, and a depth-first search with it.

A walk visits nodes until their sizes sum up to what is needed. `steps` are the delays between nodes,
`shortest` their closure over paths. Nodes that were visited can be passed again: that collects nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
KeyArray = NDArray[np.uint64]


@compiled
def close(steps: FloatArray) -> FloatArray:
    """The length of the shortest path between every two nodes."""
    shortest = steps.copy()
    for middle in range(len(steps)):
        for here in range(len(steps)):
            way = shortest[here, middle]
            if way < np.inf:
                for there in range(len(steps)):
                    if way + shortest[middle, there] < shortest[here, there]:
                        shortest[here, there] = way + shortest[middle, there]
    return shortest


@compiled
def first_walk(steps: FloatArray, sizes: IndexArray, needed: int) -> tuple[float, IndexArray]:
    """From every node on to the nearest new one, until all is collected: the best of these walks."""
    count = len(steps)
    best, best_walk = np.inf, np.zeros(0, dtype=np.int64)
    for start in range(count):
        visited = np.zeros(count, dtype=np.bool_)
        walk = np.zeros(count, dtype=np.int64)
        walk[0] = here = start
        visited[start] = True
        collected, length, visits = sizes[start], 0.0, 1
        while collected < needed and visits < count and length < best:
            nearest = -1
            for node in range(count):
                if not visited[node] and (nearest < 0 or steps[here, node] < steps[here, nearest]):
                    nearest = node
            length += steps[here, nearest]
            visited[nearest] = True
            walk[visits] = here = nearest
            collected += sizes[nearest]
            visits += 1
        if collected >= needed and length < best:
            best, best_walk = length, walk[:visits].copy()
    return best, best_walk


@compiled
def useful_nodes(shortest: FloatArray, sizes: IndexArray, needed: int, most: float) -> NDArray[np.bool_]:
    """The nodes on a walk, with any repetitions, that is at most so long and collects enough."""
    count = len(shortest)
    after = np.full((needed + 1, count), np.inf)
    before = np.full((needed + 1, count), np.inf)
    after[0] = 0.0
    for left in range(1, needed + 1):
        for here in range(count):
            for there in range(count):
                if there != here:
                    way = shortest[here, there] + after[max(left - sizes[there], 0), there]
                    after[left, here] = min(after[left, here], way)
    for node in range(count):
        before[min(sizes[node], needed), node] = 0.0
    useful = np.zeros(count, dtype=np.bool_)
    for collected in range(1, needed + 1):
        for here in range(count):
            if before[collected, here] + after[needed - collected, here] <= most:
                useful[here] = True
                for there in range(count if collected < needed else 0):
                    if there != here:
                        reached = min(collected + sizes[there], needed)
                        way = before[collected, here] + shortest[here, there]
                        before[reached, there] = min(before[reached, there], way)
    return useful


@compiled
def near_sets(shortest: FloatArray, memory: int) -> IndexArray:
    """For every node those that are nearest to it, there and back."""
    count = len(shortest)
    near = np.zeros((count, memory), dtype=np.int64)
    for node in range(count):
        way = shortest[node] + shortest[:, node]
        way[node] = np.inf
        near[node] = np.argsort(way, kind="mergesort")[:memory]
    return near


@compiled
def remembered(near: IndexArray) -> IndexArray:
    """What is left in memory on the way from one node to another: [here, there, memory] -> memory."""
    count, memory = near.shape
    place = np.full((count, count), -1, dtype=np.int64)
    for node in range(count):
        for bit in range(memory):
            place[node, near[node, bit]] = bit
    passed = np.zeros((count, count, 1 << memory), dtype=np.int64)
    for here in range(count):
        for there in range(count):
            own = place[there, here]
            passed[here, there, 0] = 0 if own < 0 else 1 << own
            for bit in range(memory):
                at = place[there, near[here, bit]]
                more = 0 if at < 0 else 1 << at
                for rest in range(1 << bit):
                    passed[here, there, rest | (1 << bit)] = passed[here, there, rest] | more
    return passed


@compiled
def rest_of_walk(
    shortest: FloatArray, sizes: IndexArray, needed: int, near: IndexArray, passed: IndexArray, most: float
) -> FloatArray:
    """A lower bound on what is left of a walk: [still needed, here, which near nodes were visited].

    New nodes only, as far as the memory goes. What is longer than `most` counts as infinite.
    """
    count, memory = near.shape
    rest = np.full((needed + 1, count, 1 << memory), np.inf)
    rest[0] = 0.0
    seen = np.zeros(count, dtype=np.bool_)
    order = np.zeros((count, count), dtype=np.int64)
    for here in range(count):
        order[here] = np.argsort(shortest[here], kind="mergesort")
    least = np.zeros(needed + 1)
    for left in range(1, needed + 1):
        least[left] = np.inf
        for here in range(count):
            for visited in range(1 << memory):
                for bit in range(memory):
                    seen[near[here, bit]] = (visited >> bit) & 1
                best = np.inf
                for there in order[here]:
                    if there == here or seen[there]:
                        continue
                    step = shortest[here, there]
                    if step >= best or step > most:
                        break
                    way = step + rest[max(left - sizes[there], 0), there, passed[here, there, visited]]
                    if way < best:
                        best = way
                rest[left, here, visited] = best
            for bit in range(memory):
                seen[near[here, bit]] = False
    return rest


@compiled
def _known(
    keys: KeyArray, lengths: FloatArray, visited: KeyArray, here: int, length: float, filled: IndexArray
) -> bool:
    """Whether the same nodes and end were reached in no longer a walk; if not, remember this one."""
    slots, words = keys.shape
    words -= 1
    mixed = np.uint64(here + 1) * np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        mixed = (mixed ^ visited[word]) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed & np.uint64(slots - 1))
    while keys[slot, words] != np.uint64(0):
        same = keys[slot, words] == np.uint64(here + 1)
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
        keys[slot, words] = np.uint64(here + 1)
        for word in range(words):
            keys[slot, word] = visited[word]
        lengths[slot] = length
    return False


@compiled
def _ways_on(steps: FloatArray, walk: IndexArray, visits: int, reach: FloatArray) -> None:
    """The cheapest ways from the walk's end to all nodes, through nodes of the walk only."""
    count = len(steps)
    here = walk[visits - 1]
    inside = np.full(visits, np.inf)
    done = np.zeros(visits, dtype=np.bool_)
    inside[visits - 1] = 0.0
    for node in range(count):
        reach[node] = steps[here, node]
    for _ in range(visits):
        nearest = -1
        for k in range(visits):
            if not done[k] and (nearest < 0 or inside[k] < inside[nearest]):
                nearest = k
        done[nearest] = True
        if inside[nearest] == np.inf:
            break
        node = walk[nearest]
        for k in range(visits):
            inside[k] = min(inside[k], inside[nearest] + steps[node, walk[k]])
        for there in range(count):
            reach[there] = min(reach[there], inside[nearest] + steps[node, there])


@compiled
def search(
    steps: FloatArray,
    metric: bool,
    sizes: IndexArray,
    needed: int,
    near: IndexArray,
    rest: FloatArray,
    keys: KeyArray,
    lengths: FloatArray,
    filled: IndexArray,
    # the stack: nodes, lengths, what is left, children and which of them is next
    walk: IndexArray,
    length: FloatArray,
    left: IndexArray,
    child: IndexArray,
    child_bound: FloatArray,
    child_length: FloatArray,
    children: IndexArray,
    turn: IndexArray,
    visited: KeyArray,
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
    reach = np.zeros(count)
    bounds = np.zeros(count)
    one = np.uint64(1)
    while depth >= 0 and work > 0:
        if children[depth] < 0:
            work -= 1
            found = 0
            if depth > 0:
                here = walk[depth - 1]
                mask = 0
                if metric:
                    for node in range(count):
                        reach[node] = steps[here, node]
                else:
                    _ways_on(steps, walk, depth, reach)
            for node in range(count):
                if visited[node >> 6] >> np.uint64(node & 63) & one:
                    continue
                way = length[depth] + (reach[node] if depth > 0 else 0.0)
                if way >= best - slack:
                    continue
                still = max(left[depth] - sizes[node], 0)
                mask = 0
                for bit in range(memory):
                    other = near[node, bit]
                    if visited[other >> 6] >> np.uint64(other & 63) & one:
                        mask |= 1 << bit
                bound = way + rest[still, node, mask]
                if bound < best - slack:
                    child[depth, found] = node
                    child_bound[depth, found] = bound
                    child_length[depth, found] = way
                    found += 1
            bounds = child_bound[depth, :found].copy()
            order = np.argsort(bounds, kind="mergesort")
            nodes, ways = child[depth, :found].copy(), child_length[depth, :found].copy()
            for k in range(found):
                child[depth, k] = nodes[order[k]]
                child_bound[depth, k] = bounds[order[k]]
                child_length[depth, k] = ways[order[k]]
            children[depth] = found
            turn[depth] = 0
        if turn[depth] >= children[depth] or child_bound[depth, turn[depth]] >= best - slack:
            depth -= 1
            if depth >= 0:
                node = walk[depth]
                visited[node >> 6] &= ~(one << np.uint64(node & 63))
            continue
        node = child[depth, turn[depth]]
        way = child_length[depth, turn[depth]]
        turn[depth] += 1
        walk[depth] = node
        still = left[depth] - sizes[node]
        if still <= 0:
            best, best_visits = way, depth + 1
            best_walk[: depth + 1] = walk[: depth + 1]
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
