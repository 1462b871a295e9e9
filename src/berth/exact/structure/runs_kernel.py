"""Compiled loops for pipelines of any operators: bounds by prices for capacity and a memory of full places.

A run is a row of consecutive operators on one place; a plan is a sequence of runs. A run fits its place by
itself. That all runs of a place fit together is paid for: `price` says what a unit of each resource costs
there, and for any prices the cheapest sequence, less what all room is worth, is a lower bound (Lagrange).
Besides, every place remembers of itself and some near ones whether more than half is taken of the scarcest
resource, the first one: then no run there takes half of it again. A memory is a number with a bit for each of
`near[place]`, bit 0 for the place itself. Arrays are [operator, place] and [resource, place].
Loops are written out: whole rows at once take numba seconds to compile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.structure.sorting import sort_by
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


@compiled
def run_costs(
    first: int,
    place: int,
    cost: FloatArray,
    demand: FloatArray,
    room: FloatArray,
    price: FloatArray,
    sums: FloatArray,
    loads: FloatArray,
) -> int:
    """Runs from an operator on: `sums[k]` and `loads[:, k]` are priced costs and needs of k + 1 operators.

    Returns how many operators fit.
    """
    total, length = 0.0, 0
    for operator in range(first, len(cost)):
        total += cost[operator, place]
        if total == np.inf:
            break
        fits = True
        for k in range(len(demand)):
            loads[k, length] = demand[k, operator] + (loads[k, length - 1] if length else 0.0)
            fits = fits and loads[k, length] <= room[k, place]
            total += price[k, place] * demand[k, operator]
        if not fits:
            break
        sums[length] = total
        length += 1
    return length


@compiled
def price_out(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    near: IndexArray,
    passed: IndexArray,
    order: IndexArray,
    start: FloatArray,
    onward: FloatArray,
    sums: FloatArray,
    loads: FloatArray,
) -> None:
    """Least priced costs from every operator on.

    `start[i, v, m]`: a run begins with i on v, which is reached with memory m; `onward[i, u, m]`: operator
    i - 1 is the last of a run on u, which is left with memory m, for another place; 0 behind the last one.
    """
    count, places = cost.shape
    memories = 1 << near.shape[1]
    bounded = len(demand) > 0
    for operator in range(count - 1, -1, -1):
        least = np.inf
        for place in range(places):
            length = run_costs(operator, place, cost, demand, limit, price, sums, loads)
            half = limit[0, place] * 0.5 if bounded else np.inf
            for memory in range(memories):
                best = np.inf
                for k in range(length):
                    left = memory
                    if bounded:
                        if loads[0, k] >= half and memory & 1:
                            break
                        if loads[0, k] > half:
                            left = memory | 1
                    best = min(best, sums[k] + onward[operator + k + 1, place, left])
                start[operator, place, memory] = best
            least = min(least, start[operator, place, 0])
        if operator == 0:
            break
        for here in range(places):
            best_there = -1
            for memory in range(memories):
                if memory and best_there >= 0 and passed[here, best_there, memory] == 0:
                    # the best way on of an empty memory is still open, and nothing is better
                    onward[operator, here, memory] = onward[operator, here, 0]
                    continue
                best = np.inf
                for rank in range(places):
                    there = order[here, rank]
                    if step[here, there] + least >= best:
                        break
                    way = step[here, there] + start[operator, there, passed[here, there, memory]]
                    if way < best and there != here:
                        best = way
                        if memory == 0:
                            best_there = there
                onward[operator, here, memory] = best


@compiled
def worth(room: FloatArray, price: FloatArray) -> float:
    """What all room is worth at these prices."""
    total = 0.0
    for k in range(room.shape[0]):
        for place in range(room.shape[1]):
            total += room[k, place] * price[k, place]
    return total


@compiled
def follow(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    passed: IndexArray,
    start: FloatArray,
    onward: FloatArray,
    sums: FloatArray,
    loads: FloatArray,
    taken: FloatArray,
    plan: IndexArray,
) -> float:
    """Go along the cheapest sequence: adds what it takes of places, and fills the plan; its true costs."""
    count, places = cost.shape
    here, operator, memory, total = -1, 0, 0, 0.0
    while operator < count:
        place, best = -1, np.inf
        for there in range(places):
            arriving = passed[here, there, memory] if here >= 0 else 0
            way = start[operator, there, arriving] + (step[here, there] if here >= 0 else 0.0)
            if way < best and there != here:
                place, best = there, way
        if here >= 0:
            total += step[here, place]
            memory = passed[here, place, memory]
        length = run_costs(operator, place, cost, demand, limit, price, sums, loads)
        half = limit[0, place] * 0.5 if len(demand) else np.inf
        best, stop, left = np.inf, operator, memory
        for k in range(length):
            after = memory
            if len(demand):
                if loads[0, k] >= half and memory & 1:
                    break
                if loads[0, k] > half:
                    after = memory | 1
            way = sums[k] + onward[operator + k + 1, place, after]
            if way < best:
                best, stop, left = way, operator + k + 1, after
        for k in range(operator, stop):
            total += cost[k, place]
            plan[k] = place
        for resource in range(len(demand)):
            taken[resource, place] += loads[resource, stop - operator - 1]
        here, operator, memory = place, stop, left
    return total


@compiled
def narrow(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    onward: FloatArray,
    most: float,
    sums: FloatArray,
    loads: FloatArray,
    leaving: FloatArray,
    keep: NDArray[np.bool_],
) -> None:
    """Mark places of operators through which a plan may cost less than `most`; `leaving` starts infinite."""
    count, places = cost.shape
    base = worth(limit, price)
    for operator in range(count):
        for place in range(places):
            arriving = 0.0 if operator == 0 else np.inf
            for here in range(places if operator else 0):
                if here != place:
                    arriving = min(arriving, leaving[operator, here] + step[here, place])
            length = run_costs(operator, place, cost, demand, limit, price, sums, loads)
            for k in range(length):
                stop = operator + k + 1
                way = arriving + sums[k]
                leaving[stop, place] = min(leaving[stop, place], way)
                big = 1 if len(demand) > 0 and loads[0, k] > limit[0, place] * 0.5 else 0
                if way + onward[stop, place, big] - base < most:
                    for inside in range(operator, stop):
                        keep[inside, place] = True


@compiled
def taken_of(place: int, limit: FloatArray, room: FloatArray, near: IndexArray) -> int:
    """The memory of a place, from the room that is left everywhere."""
    memory = 0
    if len(limit):
        for bit in range(near.shape[1]):
            other = near[place, bit]
            if limit[0, other] - room[0, other] > limit[0, other] * 0.5:
                memory |= 1 << bit
    return memory


@compiled
def beam(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    near: IndexArray,
    onward: FloatArray,
    sums: FloatArray,
    loads: FloatArray,
    # [operators placed, partial plan]: how many, promise, costs, last place, room, and where it came from
    size: IndexArray,
    score: FloatArray,
    spent: FloatArray,
    last: IndexArray,
    room: FloatArray,
    origin: IndexArray,
    best: float,
) -> None:
    """Several partial plans side by side, the most promising by priced costs: good plans to start with."""
    count, places = cost.shape
    resources, width = len(limit), score.shape[1]
    for operator in range(count):
        for state in range(size[operator]):
            here, left = last[operator, state], room[operator, state]
            base = worth(left, price)
            for place in range(places):
                if place == here:
                    continue
                length = run_costs(operator, place, cost, demand, left, price, sums, loads)
                way = spent[operator, state] + (step[here, place] if here >= 0 else 0.0)
                if length == 0 or way == np.inf:
                    continue
                memory = taken_of(place, limit, left, near)
                for k in range(length):
                    stop = operator + k + 1
                    after, paid = memory, 0.0
                    for resource in range(resources):
                        paid += price[resource, place] * loads[resource, k]
                    if resources and limit[0, place] - left[0, place] + loads[0, k] > limit[0, place] * 0.5:
                        after |= 1
                    rank = way + sums[k] + onward[stop, place, after] - base
                    slot = size[stop]
                    if rank >= best:
                        continue
                    if slot < width:
                        size[stop] += 1
                    else:
                        slot = 0
                        for other in range(width):
                            if score[stop, other] > score[stop, slot]:
                                slot = other
                        if rank >= score[stop, slot]:
                            continue
                    score[stop, slot], spent[stop, slot] = rank, way + sums[k] - paid
                    last[stop, slot] = place
                    origin[stop, slot, 0], origin[stop, slot, 1] = operator, state
                    for resource in range(resources):
                        for other in range(places):
                            room[stop, slot, resource, other] = left[resource, other]
                        room[stop, slot, resource, place] -= loads[resource, k]


@compiled
def search(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    near: IndexArray,
    onward: FloatArray,
    # the stack: operators placed, their last place, their costs, room left and its worth, the plan so far
    position: IndexArray,
    last: IndexArray,
    spent: FloatArray,
    room: FloatArray,
    value: FloatArray,
    prefix: IndexArray,
    # runs that could come next, their order, and whose turn it is
    child_place: IndexArray,
    child_end: IndexArray,
    child_bound: FloatArray,
    order: IndexArray,
    children: IndexArray,
    turn: IndexArray,
    sums: FloatArray,
    loads: FloatArray,
    depth: int,
    best: float,
    best_plan: IndexArray,
    slack: float,
    work: int,
) -> tuple[int, float, int]:
    """Go on with the depth-first search for some work: (depth, costs of the best plan, work left)."""
    count, places = cost.shape
    resources = len(demand)
    while depth >= 0 and work > 0:
        first, here = position[depth], last[depth]
        if children[depth] < 0:
            work -= 1
            found = 0
            left = room[depth]
            base = spent[depth] - value[depth]
            for place in range(places):
                if place == here:
                    continue
                way = base + (step[here, place] if here >= 0 else 0.0)
                if way == np.inf:
                    continue
                length = run_costs(first, place, cost, demand, left, price, sums, loads)
                if length == 0:
                    continue
                memory = taken_of(place, limit, left, near)
                for k in range(length):
                    after = memory
                    if resources and limit[0, place] - left[0, place] + loads[0, k] > limit[0, place] * 0.5:
                        after |= 1
                    bound = way + sums[k] + onward[first + k + 1, place, after]
                    if bound < best - slack:
                        child_place[depth, found] = place
                        child_end[depth, found] = first + k + 1
                        child_bound[depth, found] = bound
                        found += 1
            sort_by(child_bound, order, depth, found)
            children[depth] = found
            turn[depth] = 0
        chosen = order[depth, turn[depth]] if turn[depth] < children[depth] else -1
        if chosen < 0 or child_bound[depth, chosen] >= best - slack:
            depth -= 1
            continue
        place, stop = child_place[depth, chosen], child_end[depth, chosen]
        turn[depth] += 1
        total = spent[depth] + (step[here, place] if here >= 0 else 0.0)
        for operator in range(first, stop):
            total += cost[operator, place]
            prefix[operator] = place
        if stop == count:
            if total < best:
                best = total
                for operator in range(count):
                    best_plan[operator] = prefix[operator]
            continue
        depth += 1
        position[depth], last[depth], spent[depth] = stop, place, total
        for resource in range(resources):
            load = 0.0
            for other in range(places):
                room[depth, resource, other] = room[depth - 1, resource, other]
            for operator in range(first, stop):
                load += demand[resource, operator]
            room[depth, resource, place] -= load
        value[depth] = worth(room[depth], price)
        children[depth] = -1
    return depth, best, work
