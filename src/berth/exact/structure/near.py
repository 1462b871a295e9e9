"""Plans that are nearly as fast as can be: few enough to look at all of them for what else is wanted.

With a ceiling on the response time, another goal is minimised. In a pipeline all plans below the ceiling are
listed. In a fan of equal operators, each two places of the ends leave places for the middle that are fast
enough; how many operators go on each is found by a table over places and counts. Candidates, capacities,
processors and links are held. Everything else is left to the judge: of a pipeline it sees plans from the
cheapest on; of a fan the cheapest one, which is a bound where it breaks anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.core import exact as core
from berth.exact.costs import Costs
from berth.exact.placement import Placement, unmodelled
from berth.exact.structure.by_shape import small_enough
from berth.exact.structure.fans import FanArrays, Packing, fan_of, places_for
from berth.exact.structure.pipelines import Room, chain_of, scaled
from berth.exact.structure.shape import Fan, Pipeline, parts_of
from berth.exact.task import ExactTask, Found

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

ROUNDING = 1e-9
"""How far above the ceiling, in ms and as a share, plans are looked at: the judge says which keep it."""
STAGES = ((2, 100, 10_000), (4, 100, 200_000))
"""Ever better bounds: places remembered, price changes, steps of the search."""
AT_ONCE, MOST_PLANS = 5_000, 10_000
"""Steps of the search between looks at the list, and plans in it after which others may try."""
MOST_JUDGED = 200
"""Plans that the judge looks at, at most."""
MOST_ENDS = 2_000
"""Places of the two ends of a fan that are looked at, at most."""
AGREED = 1e-7
"""The share by which the judge may see other costs than these."""


def solve_near(task: ExactTask) -> Found | None:
    """The best plan below a ceiling on the response time.

    None where there is no such ceiling, the graph has another shape, or too many plans are near enough.
    """
    placement = task.placement
    ceilings = placement.setting.ceilings
    limits = [item.limit for item in ceilings if item.goal.single == "response_time"]
    # A plan whose failover was not found in time is no plan that breaks anything.
    if not limits or task.failovers is not None or unmodelled(placement.setting.problem) is not None:
        return None
    parts = parts_of(placement)
    if parts is None or len(parts) > 1 or not small_enough(placement, parts[0]) or not _finite(task.costs):
        return None
    most = min(limits) * (1 + ROUNDING) + ROUNDING
    part = parts[0]
    return _fan(task, part, most) if isinstance(part, Fan) else _pipeline(task, part, most)


def near_candidates(placement: Placement, limit: float) -> list[BoolArray] | None:
    """For each block, its candidates in plans of a fan that are fast enough, by all places of the ends.

    It is for fans of different operators, which `solve_near` leaves to others; None elsewhere.
    """
    parts = parts_of(placement) if unmodelled(placement.setting.problem) is None else None
    if parts is None or len(parts) > 1:
        return None
    part = parts[0]
    if not isinstance(part, Fan) or not small_enough(placement, part):
        return None
    fan = fan_of(placement, part, Room(placement))
    if fan.alike:
        return None
    most, packing = limit * (1 + ROUNDING) + ROUNDING, Packing(fan, 0.0)
    near = np.zeros((len(part.blocks), len(fan.nodes)), dtype=bool)
    for a, b, time in fan.ends():
        if packing.least(a, b, time) < most:
            near[: len(fan.middle)] |= packing.times(a, b, time) < most
            for row, end in enumerate((end for end in (a, b) if end >= 0), len(fan.middle)):
                near[row, end] = True
    rows = dict(zip(part.blocks, near, strict=True))
    keep = [rows[k][np.searchsorted(fan.nodes, nodes)] for k, nodes in enumerate(placement.candidates)]
    return keep if all(row.any() for row in keep) else None


def _finite(costs: Costs) -> bool:
    parts = [*costs.block, *(part for part in costs.edge if part is not None), costs.node]
    return all(bool(np.isfinite(part).all()) for part in parts)


def _is_sum(task: ExactTask) -> bool:
    """Whether costs of blocks, edges and nodes are all there is."""
    goal = task.goal
    # the logarithm of a tiny availability is cut off in a weighted sum
    return not task.costs.factors and (goal.single is not None or "availability" not in goal.weights)


def _pipeline(task: ExactTask, part: Pipeline, most: float) -> Found | None:
    """All plans below the ceiling, the cheapest first."""
    plans = _listed(task, part, most)
    if plans is None:
        return None
    trace: dict[str, object] = {"method": "near plans", "plans": len(plans)}
    if not _is_sum(task):
        if len(plans) > MOST_JUDGED:
            return None
        least, best = min(((task.costs_at(plan), k) for k, plan in enumerate(plans)), default=(np.inf, 0))
        return Found("optimal", plans[best], least, trace=trace) if np.isfinite(least) else None
    totals = _totals(task.costs, plans)
    order = np.argsort(totals, kind="stable")
    for number in order[:MOST_JUDGED].tolist():
        reached = task.costs_at(plans[number])
        if np.isfinite(reached):
            return _agreed(plans[number], float(totals[number]), reached, trace)
    if len(plans) <= MOST_JUDGED:
        return None
    return Found("unknown", None, float(totals[order[MOST_JUDGED]]), trace=trace)


def _agreed(plan: IndexArray, total: float, reached: float, trace: dict[str, object]) -> Found | None:
    """The plan with the least costs of all; None where the judge sees other costs."""
    if abs(reached - total) > AGREED * max(abs(total), abs(reached)) + 1e-12:
        return None
    return Found("optimal", plan, min(total, reached), trace=trace)


def _listed(task: ExactTask, part: Pipeline, most: float) -> IndexArray | None:
    """[plan, block]: the nodes of all plans of a pipeline below a response time; None: they are too many."""
    chain = chain_of(task.placement, part.blocks, Room(task.placement))
    search = core.RunSearch(chain.cost, chain.step, *scaled(chain), 0.0)
    search.list_below(most)
    for memory, price_changes, steps in STAGES:
        search.prepare(memory, price_changes, 0, lambda: task.budget.over)
        stop = search.work + steps
        while not search.done and search.work < stop and len(search.listed) <= MOST_PLANS * len(part.blocks):
            search.go_on(AT_ONCE)
            if task.budget.over:
                return None
        if search.done or len(search.listed) > MOST_PLANS * len(part.blocks):
            break
    if not search.done:
        return None
    places = search.listed.reshape(-1, len(part.blocks))
    plans = np.zeros(places.shape, dtype=np.intp)
    plans[:, list(part.blocks)] = chain.nodes[places]
    return plans


def _totals(costs: Costs, plans: IndexArray) -> FloatArray:
    """The sum of costs of each plan."""
    placement = costs.placement
    chosen = [np.searchsorted(nodes, plans[:, block]) for block, nodes in enumerate(placement.candidates)]
    total = np.zeros(len(plans))
    for block, cost in enumerate(costs.block):
        total += cost[chosen[block]]
    for edge, table in zip(placement.edges, costs.edge, strict=True):
        if table is not None:
            total += table[chosen[edge.first], chosen[edge.second]]
    used = np.zeros((len(plans), len(costs.node)))
    used[np.arange(len(plans))[:, None], plans] = 1.0
    return np.asarray(total + used @ costs.node)


def _fan(task: ExactTask, part: Fan, most: float) -> Found | None:
    """The cheapest plan over all places of the ends and counts on the others."""
    fan = fan_of(task.placement, part, Room(task.placement))
    prices = _prices(task.costs, part, fan.nodes) if fan.alike and _is_sum(task) else None
    if prices is None:
        return None
    waiting = sorted(_ends(fan, prices, most), key=lambda item: item.bound)
    if len(waiting) > MOST_ENDS:
        return None
    count = len(fan.middle)
    best, places = np.inf, np.zeros(0, dtype=np.intp)
    for item in waiting:
        if item.bound >= best:
            break
        if task.budget.over:
            return None
        total, middle = _cheapest_counts(item.each, item.once, item.sizes, count)
        if item.ends + total < best:
            best = item.ends + total
            places = np.array([*middle, *(end for end in (item.a, item.b) if end >= 0)], dtype=np.intp)
    if np.isinf(best):
        return None
    plan = np.zeros(len(task.placement.blocks), dtype=np.intp)
    plan[list(part.blocks)] = fan.nodes[places]
    trace: dict[str, object] = {"method": "near plans", "ends": len(waiting)}
    reached = task.costs_at(plan)
    if np.isinf(reached):
        return Found("unknown", None, float(best), trace=trace)
    return _agreed(plan, float(best), reached, trace)


@dataclass(frozen=True, eq=False)
class _Prices:
    """Costs of a fan on its places; of an end that is missing they are 0."""

    source: FloatArray
    sink: FloatArray
    each: FloatArray
    """[place]: of an operator in the middle."""
    before: FloatArray
    after: FloatArray
    """[place of the end, place]: of the stream from the source, and of that to the sink."""
    node: FloatArray


def _prices(costs: Costs, part: Fan, nodes: IndexArray) -> _Prices | None:
    """Costs by place; None where equal operators cost something else."""
    placement = costs.placement
    count = len(nodes)
    at = [np.searchsorted(nodes, candidates) for candidates in placement.candidates]

    def own(block: int | None) -> FloatArray:
        row = np.zeros(count)
        if block is not None:
            row[at[block]] = costs.block[block]
        return row

    tables = {
        (edge.first, edge.second): table for edge, table in zip(placement.edges, costs.edge, strict=True)
    }

    def between(end: int | None, block: int) -> FloatArray | None:
        if end is None:
            return None
        if (end, block) in tables:
            return tables[end, block]
        table = tables[block, end]
        return None if table is None else table.T

    def same(one: FloatArray | None, other: FloatArray | None) -> bool:
        return one is other or (one is not None and other is not None and np.array_equal(one, other))

    first = part.middle[0]
    sides = [between(end, first) for end in (part.source, part.sink)]
    for block in part.middle[1:]:
        if not np.array_equal(costs.block[first], costs.block[block]):
            return None
        if not all(
            same(side, between(end, block)) for side, end in zip(sides, (part.source, part.sink), strict=True)
        ):
            return None
    before, after = np.zeros((count, count)), np.zeros((count, count))
    for stream, side, end in zip((before, after), sides, (part.source, part.sink), strict=True):
        if side is not None and end is not None:
            stream[np.ix_(at[end], at[first])] = side
    return _Prices(own(part.source), own(part.sink), own(first), before, after, costs.node[nodes])


@dataclass(frozen=True, eq=False)
class _Ends:
    """Both ends on places, and what is left for the middle."""

    bound: float
    a: int
    b: int
    ends: float
    each: FloatArray
    once: FloatArray
    """[place]: the cost of using it, where no end does."""
    sizes: NDArray[np.int64]
    """[place]: how many operators of the middle it bears, where they are fast enough."""


def _ends(fan: FanArrays, prices: _Prices, most: float) -> Iterator[_Ends]:
    """All places of the ends beside which the middle has room where it is fast enough."""
    for a, b, sizes in places_for(fan, most):
        once = prices.node.copy()
        each = prices.each.copy()
        ends = 0.0
        for end, price, stream in ((a, prices.source, prices.before), (b, prices.sink, prices.after)):
            if end >= 0:
                ends += float(price[end] + once[end])
                once[end] = 0.0
                each += stream[end]
        usable = np.flatnonzero(sizes)
        slots = np.sort(np.repeat(each[usable], sizes[usable]))[: len(fan.middle)]
        bound = ends + float(slots.sum() + np.minimum(once[usable], 0.0).sum())
        yield _Ends(bound, a, b, ends, each, once, sizes)


def _cheapest_counts(
    each: FloatArray, once: FloatArray, sizes: NDArray[np.int64], count: int
) -> tuple[float, IndexArray]:
    """The least cost of so many equal operators, and their places."""
    usable = np.flatnonzero(sizes)
    least = np.full(count + 1, np.inf)
    least[0] = 0.0
    taken = np.zeros((len(usable), count + 1), dtype=np.intp)
    for row, place in enumerate(usable.tolist()):
        before = least
        least = before.copy()
        for number in range(1, int(sizes[place]) + 1):
            ways = before[: count + 1 - number] + (number * each[place] + once[place])
            better = ways < least[number:]
            least[number:][better] = ways[better]
            taken[row, number:][better] = number
    left, places = count, []
    for row in range(len(usable) - 1, -1, -1):
        number = int(taken[row, left])
        places += [int(usable[row])] * number
        left -= number
    return float(least[count]), np.array(places, dtype=np.intp)
