"""Compiled loops for pipelines of any operators: bounds by prices for capacity and a memory of full places.

A run is a row of consecutive operators on one place; a plan is a sequence of runs. A run fits its place by
itself. That all runs of a place fit together is paid for: `price` says what a unit of each resource costs
there, and for any prices the cheapest sequence, less what all room is worth, is a lower bound (Lagrange).
Besides, every place remembers of itself and some near ones whether more than half is taken of the scarcest
resource, the first one: then no run there takes half of it again. A memory is a number with a bit for each of
`near[place]`, bit 0 for the place itself. Arrays are [operator, place] and [resource, place].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


@compiled
def near_places(step: FloatArray, memory: int) -> IndexArray:
    """For every place itself and those that are nearest to it, there and back."""
    near = np.zeros((len(step), memory), dtype=np.int64)
    for place in range(len(step)):
        way = step[place] + step[:, place]
        way[place] = -1.0
        near[place] = np.argsort(way, kind="mergesort")[:memory]
    return near


@compiled
def passed_on(near: IndexArray) -> IndexArray:
    """What is left of a memory on the way from one place to another: [here, there, memory] -> memory."""
    places, memory = near.shape
    bit_of = np.full((places, places), -1, dtype=np.int64)
    for place in range(places):
        for bit in range(memory):
            bit_of[place, near[place, bit]] = bit
    passed = np.zeros((places, places, 1 << memory), dtype=np.int64)
    for here in range(places):
        for there in range(places):
            for bit in range(memory):
                at = bit_of[there, near[here, bit]]
                more = 0 if at < 0 else 1 << at
                for rest in range(1 << bit):
                    passed[here, there, rest | (1 << bit)] = passed[here, there, rest] | more
    return passed


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
) -> None:
    """Least priced costs from every operator on.

    `start[i, v, m]`: a run begins with i on v, which is reached with memory m; `onward[i, u, m]`: operator
    i - 1 is the last of a run on u, which is left with memory m, for another place.
    """
    count, places = cost.shape
    memories = 1 << near.shape[1]
    sums, loads = np.zeros(count), np.zeros((len(demand), count))
    onward[count] = 0.0
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
                for there in order[here]:
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
    taken: FloatArray,
    plan: IndexArray,
) -> float:
    """Go along the cheapest sequence: fills what it takes of every place and the plan; its true costs."""
    count, places = cost.shape
    sums, loads = np.zeros(count), np.zeros((len(demand), count))
    taken[:] = 0.0
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
def improve_prices(
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
    best: float,
    best_plan: IndexArray,
    patience: int,
    rounds: int,
) -> tuple[float, float]:
    """Subgradient steps from given prices: (lower bound, costs of the best plan known).

    Leaves the best prices in `price` and their tables behind; a sequence on the way that fits altogether is a
    plan, and goes into `best_plan` if it is better.
    """
    resources, places = limit.shape
    highest, scale, since = -np.inf, 1.0, 0
    kept = price.copy()
    taken, plan = np.zeros((resources, places)), np.zeros(len(cost), dtype=np.int64)
    for _ in range(rounds):
        price_out(cost, step, demand, limit, price, near, passed, order, start, onward)
        way = start[0, :, 0].min()
        if way == np.inf:
            return np.inf, best
        bound = way - worth(limit, price)
        since += 1
        if bound > highest:
            if bound - highest > 1e-3 * (best - bound):
                since = 0
            highest = bound
            kept[:] = price
        total = follow(cost, step, demand, limit, price, passed, start, onward, taken, plan)
        fits, length = True, 0.0
        for k in range(resources):
            for v in range(places):
                over = taken[k, v] - limit[k, v]
                fits = fits and over <= 0.0
                # a price of 0 for what is not wanted stays
                if over > 0.0 or price[k, v] > 0.0:
                    length += over * over
        if fits and total < best:
            best = total
            best_plan[:] = plan
        if length == 0.0 or highest >= best:
            break
        if since >= patience:
            scale, since = scale / 2, 0
            if scale < 0.02:
                break
        goal = best if best < np.inf else bound + abs(bound) * 0.1 + 1e-9
        pace = scale * (goal - bound) / length
        for k in range(resources):
            for v in range(places):
                price[k, v] = max(0.0, price[k, v] + pace * (taken[k, v] - limit[k, v]))
    price[:] = kept
    price_out(cost, step, demand, limit, price, near, passed, order, start, onward)
    return highest, best


@compiled
def narrow(
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    onward: FloatArray,
    most: float,
) -> int:
    """Forbid operators the places through which no plan can cost less than `most`; how many are left."""
    count, places = cost.shape
    sums, loads = np.zeros(count), np.zeros((len(demand), count))
    base = worth(limit, price)
    arriving = np.full((count + 1, places), np.inf)
    arriving[0] = 0.0
    leaving = np.full((count + 1, places), np.inf)
    keep = np.zeros((count, places), dtype=np.bool_)
    for operator in range(count):
        if operator > 0:
            for there in range(places):
                for here in range(places):
                    if here != there:
                        way = leaving[operator, here] + step[here, there]
                        if way < arriving[operator, there]:
                            arriving[operator, there] = way
        for place in range(places):
            length = run_costs(operator, place, cost, demand, limit, price, sums, loads)
            for k in range(length):
                way = arriving[operator, place] + sums[k]
                if way < leaving[operator + k + 1, place]:
                    leaving[operator + k + 1, place] = way
                big = len(demand) > 0 and loads[0, k] > limit[0, place] * 0.5
                if way + onward[operator + k + 1, place, 1 if big else 0] - base < most:
                    keep[operator : operator + k + 1, place] = True
    left = 0
    for operator in range(count):
        for place in range(places):
            if keep[operator, place]:
                left += 1
            else:
                cost[operator, place] = np.inf
    return left


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
    width: int,
    cost: FloatArray,
    step: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    price: FloatArray,
    near: IndexArray,
    onward: FloatArray,
    best: float,
    best_plan: IndexArray,
) -> float:
    """Several partial plans side by side, the most promising by priced costs: a good plan to start with."""
    count, places = cost.shape
    resources = len(limit)
    size = np.zeros(count + 1, dtype=np.int64)
    score = np.full((count + 1, width), np.inf)
    spent = np.zeros((count + 1, width))
    last = np.full((count + 1, width), -1, dtype=np.int64)
    room = np.zeros((count, width, resources, places))
    origin = np.zeros((count + 1, width, 2), dtype=np.int64)
    sums, loads = np.zeros(count), np.zeros((resources, count))
    size[0] = 1
    room[0, 0] = limit
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
                    if rank >= best:
                        continue
                    slot = size[stop]
                    if slot < width:
                        size[stop] += 1
                    else:
                        slot = np.argmax(score[stop])
                        if rank >= score[stop, slot]:
                            continue
                    score[stop, slot], spent[stop, slot] = rank, way + sums[k] - paid
                    last[stop, slot] = place
                    origin[stop, slot, 0], origin[stop, slot, 1] = operator, state
                    if stop < count:
                        room[stop, slot] = left
                        for resource in range(resources):
                            room[stop, slot, resource, place] -= loads[resource, k]
    for state in range(size[count]):
        if spent[count, state] < best:
            best = spent[count, state]
            stop, slot = count, state
            while stop > 0:
                begin, before = origin[stop, slot, 0], origin[stop, slot, 1]
                best_plan[begin:stop] = last[stop, slot]
                stop, slot = begin, before
    return best


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
    # runs that could come next, the best first, and whose turn it is
    child_place: IndexArray,
    child_end: IndexArray,
    child_bound: FloatArray,
    children: IndexArray,
    turn: IndexArray,
    depth: int,
    best: float,
    best_plan: IndexArray,
    slack: float,
    work: int,
) -> tuple[int, float, int]:
    """Go on with the depth-first search for some work: (depth, costs of the best plan, work left)."""
    count, places = cost.shape
    resources = len(demand)
    sums, loads = np.zeros(count), np.zeros((resources, count))
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
            bounds = child_bound[depth, :found].copy()
            rank = np.argsort(bounds, kind="mergesort")
            kept_places, kept_ends = child_place[depth, :found].copy(), child_end[depth, :found].copy()
            for k in range(found):
                child_place[depth, k] = kept_places[rank[k]]
                child_end[depth, k] = kept_ends[rank[k]]
                child_bound[depth, k] = bounds[rank[k]]
            children[depth] = found
            turn[depth] = 0
        if turn[depth] >= children[depth] or child_bound[depth, turn[depth]] >= best - slack:
            depth -= 1
            continue
        place, stop = child_place[depth, turn[depth]], child_end[depth, turn[depth]]
        turn[depth] += 1
        total = spent[depth] + (step[here, place] if here >= 0 else 0.0)
        for operator in range(first, stop):
            total += cost[operator, place]
            prefix[operator] = place
        if stop == count:
            if total < best:
                best = total
                best_plan[:] = prefix
            continue
        depth += 1
        position[depth], last[depth], spent[depth] = stop, place, total
        room[depth] = room[depth - 1]
        for resource in range(resources):
            load = 0.0
            for operator in range(first, stop):
                load += demand[resource, operator]
            room[depth, resource, place] -= load
        value[depth] = worth(room[depth], price)
        children[depth] = -1
    return depth, best, work
