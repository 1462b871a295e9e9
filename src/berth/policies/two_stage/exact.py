"""Both stages exactly: MIPS finds a first map, CP-SAT a better one or the proof that there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from berth.budget import Budget
from berth.evaluation.goal import OPTIMAL_GAP, gap_between
from berth.exact.minimise import LARGEST_MODEL
from berth.exact.task import Found
from berth.policies.two_stage import mips
from berth.policies.two_stage.mcts_alike import alike
from berth.policies.two_stage.mcts_case import Packing
from berth.policies.two_stage.parameters import TwoStageParameters
from berth.policies.two_stage.stages import Assigned, IndexArray, StageOne, StageTwo, Stuck

FIRST_SHARE = 0.5
"""The first stage takes at most this share of the time, so that the second has some."""
START_SHARE = 0.3
"""The most of a stage's time that the search for a first map may take."""


def first_stage(
    stage: StageOne, generator: np.random.Generator, parameters: mips.MipsParameters, budget: Budget
) -> Assigned | Stuck:
    """Instances into containers: the least alpha x traffic between them + (1 - alpha) x containers used."""
    from berth.policies.two_stage.exact_containers import Instances  # loads the solver

    budget = budget.part(FIRST_SHARE)
    start = mips.first_stage(stage, generator, parameters, budget.part(START_SHARE))
    packing = mips.instances_packing(stage, parameters)
    instances = Instances(stage, packing, swappable(packing))
    known = instances.in_order(start.bins) if isinstance(start, Assigned) else None
    solve = instances.least if instances.size <= LARGEST_MODEL else None
    what = f"the instances into {stage.count} container(s)"
    return _answer(packing, known, solve, budget, generator, what)


def second_stage(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, budget: Budget
) -> Assigned | Stuck:
    """Containers onto servers: the least traffic x link cost."""
    from berth.policies.two_stage.exact_servers import Containers  # loads the solver

    start = mips.second_stage(stage, generator, parameters, budget.part(START_SHARE))
    packing = mips.containers_packing(stage)
    containers = Containers(packing, swappable(packing))
    known = start.bins if isinstance(start, Assigned) else None
    solve = containers.least if containers.size <= LARGEST_MODEL else None
    what = f"the containers onto {len(stage.room)} server(s)"
    return _answer(packing, known, solve, budget, generator, what)


def swappable(packing: Packing) -> list[list[int]]:
    """Items that differ in nothing, in groups of two or more."""
    return groups(alike(packing.traffic, [packing.demand, packing.allowed, packing.hosts]))


def groups(numbers: IndexArray) -> list[list[int]]:
    """What has the same number, where there are several."""
    found = [np.flatnonzero(numbers == number).tolist() for number in range(numbers.max(initial=-1) + 1)]
    return [members for members in found if len(members) > 1]


def _answer(
    packing: Packing,
    start: IndexArray | None,
    solve: Callable[[IndexArray | None, Budget, int], Found] | None,
    budget: Budget,
    generator: np.random.Generator,
    what: str,
) -> Assigned | Stuck:
    """The best map, and in its trace what is proved about it."""
    seed = int(generator.integers(2**31))
    found = Found("unknown", start, 0.0) if solve is None else solve(start, budget, seed)
    if found.nodes is None or found.outcome == "infeasible":
        return Stuck(_why(found, solve is None, budget, what))
    cost = packing.cost(found.nodes)
    # Beyond the cost, and this near to it, there is only rounding.
    gap = 0.0 if cost <= found.bound else gap_between(cost, found.bound)
    proved = gap <= OPTIMAL_GAP
    trace: dict[str, Any] = {
        "proved": proved,
        "cost": cost,
        "bound": cost if proved else found.bound,
        "gap": 0.0 if proved else gap,
    }
    if start is not None:
        trace["start_cost"] = packing.cost(start)
    if not proved:
        trace["ended"] = _too_large(what) if solve is None else budget.reason
    return Assigned(found.nodes, trace)


def _why(found: Found, too_large: bool, budget: Budget, what: str) -> str:
    if too_large:
        return _too_large(what)
    if found.outcome == "infeasible":
        return f"proved that there is no way to map {what}"
    return f"{budget.reason} before {what} were mapped; a longer --time-limit may help"


def _too_large(what: str) -> str:
    return f"too large for an exact model: {what}"
