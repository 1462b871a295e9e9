"""Which exact method suits a placement by its shape, and what it proves.

The methods hold candidates, capacities, processors and links. Rules, bandwidth, cards and requirements are
left to the judge: a best plan without them that keeps them is the best plan; otherwise it is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.exact.placement import LOOSE, Placement, unmodelled
from berth.exact.structure.fans import best_fan, fan_of
from berth.exact.structure.pipelines import Room, best_chain, chain_of
from berth.exact.structure.shape import Fan, Part, demanding_path, parts_of
from berth.exact.task import ExactTask, Found

IndexArray = NDArray[np.intp]

LARGEST_TABLE = 20_000_000
"""Steps between places, for all operators of a pipeline or ends of a fan, beyond which it steps aside."""
MOST_PLACES = 1_000
PATH_SHARE = 0.2
"""Of the time limit, for a path of a graph of no known shape."""


@dataclass(frozen=True, eq=False)
class PartFound:
    """What was found for one part alone: nodes of its blocks, costs, bound and how."""

    part: Part
    nodes: IndexArray | None
    costs: float
    bound: float
    proved: bool
    method: str
    work: int


def solve_by_structure(task: ExactTask) -> Found | None:
    """Solve a placement whose parts have known shapes for its response time; None: not the case."""
    placement = task.placement
    if task.goal.single != "response_time" or unmodelled(placement.setting.problem) is not None:
        return None
    parts = parts_of(placement)
    if parts is None:
        return _by_a_path(task)
    if not all(small_enough(placement, part) for part in parts):
        return None
    alone = task if len(parts) == 1 else replace(task, progress=_silent)
    found = [_solved(alone, part, Room(placement)) for part in parts]
    bound = max(item.bound for item in found)
    trace = _trace(found)
    if np.isinf(bound) or _too_late(placement, found):
        return Found("infeasible", None, np.inf, trace=trace)
    nodes, metrics = _together(task, found)
    if metrics is None:
        return Found("unknown", None, bound, trace=trace)
    slowest = max(item.costs for item in found)
    reached = all(item.proved for item in found) and task.goal.costs(metrics) <= slowest * (1 + LOOSE)
    return Found("optimal" if reached else "feasible", nodes, bound, trace=trace)


def _silent(objective: float | None, bound: float | None) -> None:
    """No progress is shown of what is a part of the whole."""


def _by_a_path(task: ExactTask) -> Found | None:
    """Any other graph: what one of its paths shows, a bound; None: nothing."""
    path = demanding_path(task.placement)
    if path is None or task.placement.packings:
        return None
    part = replace(task, budget=task.budget.part(PATH_SHARE), progress=_silent)
    found = _solved(part, path, Room(task.placement))
    if not np.isfinite(found.bound):
        return None
    return Found("unknown", None, found.bound, trace={**_trace([found]), "path": len(path.blocks)})


def small_enough(placement: Placement, part: Part) -> bool:
    """Whether the tables of a part's method fit."""
    most = max(len(placement.candidates[block]) for block in part.blocks)
    table = most**3 if isinstance(part, Fan) else most**2 * len(part.blocks)
    return most <= MOST_PLACES and table <= LARGEST_TABLE


def _solved(task: ExactTask, part: Part, room: Room) -> PartFound:
    """The best plan of a part, with such room."""

    def report(best: float, bound: float) -> None:
        task.progress(best if np.isfinite(best) else None, bound if np.isfinite(bound) else None)

    placement, budget, gap = task.placement, task.budget, task.gap
    if isinstance(part, Fan):
        fan = fan_of(placement, part, room)
        outcome, nodes, method = best_fan(fan, budget, gap, report), fan.nodes, "fan"
    else:
        chain = chain_of(placement, part.blocks, room)
        outcome, nodes, method = best_chain(chain, budget, gap, report), chain.nodes, "pipeline"
    costs, bound = outcome.costs, outcome.bound
    proved = bool(np.isinf(bound) or costs - bound <= max(gap, LOOSE) * abs(costs))
    places = None if outcome.places is None else nodes[outcome.places]
    return PartFound(part, places, costs, bound, proved, method, outcome.work)


def _trace(found: list[PartFound]) -> dict[str, object]:
    names = list(dict.fromkeys(item.method for item in found))
    trace: dict[str, object] = {
        "method": " and ".join(names),
        "bound_by": [_BOUND_BY[name] for name in names],
        "steps": sum(item.work for item in found),
    }
    if len(found) > 1:
        trace["parts"] = len(found)
    return trace


_BOUND_BY = {
    "pipeline": "prices for capacity and a memory of full nodes, search to the end",
    "fan": "every two nodes of the ends, the middle filled",
}


def _too_late(placement: Placement, found: list[PartFound]) -> bool:
    """Whether a part can't be as fast as its application must be."""
    for item in found:
        instance = placement.blocks[item.part.blocks[0]][0]
        application = placement.setting.problem.applications[placement.graph.application_of[instance]]
        latest = application.max_response_time_ms
        if latest is not None and item.bound > latest * (1 + LOOSE):
            return True
    return False


def _together(task: ExactTask, found: list[PartFound]) -> tuple[IndexArray | None, dict[str, float] | None]:
    """A plan for all parts: as each would be alone or, if that breaks anything, the slowest first."""
    if any(item.nodes is None for item in found):
        return None, None
    nodes = _joined(task.placement, found)
    metrics = task.judge(nodes)
    if metrics is not None or len(found) == 1:
        return nodes, metrics
    room = Room(task.placement)
    placed: list[PartFound] = []
    for item in sorted(found, key=lambda item: -item.costs):
        again = _solved(replace(task, progress=_silent), item.part, room) if placed else item
        if again.nodes is None:
            return None, None
        room.take(np.array(again.part.blocks, dtype=np.intp), again.nodes)
        placed.append(again)
    nodes = _joined(task.placement, placed)
    return nodes, task.judge(nodes)


def _joined(placement: Placement, found: list[PartFound]) -> IndexArray:
    nodes = np.zeros(len(placement.blocks), dtype=np.intp)
    for item in found:
        assert item.nodes is not None
        nodes[list(item.part.blocks)] = item.nodes
    return nodes
