"""MIPS (paper 001, algorithms 1 and 2; with its errata repaired): both stages by Monte Carlo tree search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import packing as core
from berth.evaluation.goal import Goal
from berth.model.arrays import IndexArray
from berth.model.parameters import Values, parameter
from berth.policies.two_stage.packing import Packing, case_of
from berth.policies.two_stage.polish import polished
from berth.policies.two_stage.stages import (
    Assigned,
    Most,
    SecondStageName,
    StageOne,
    StageTwo,
    Stuck,
    TwoStageParameters,
)

TRICKLE = 1e-100
"""Traffic of streams without any, where links are missing: nothing in a sum, but it needs a link."""
COUNTED = ("container_traffic", "containers_used")
"""What the first stage minimises, by `alpha` and 1 - `alpha`."""
LARGEST_TREE = 1_000_000
"""Nodes; beyond, roll-outs start from the nodes that there are."""
STEPS_AT_ONCE = 10_000_000
"""After about so many steps, a small fraction of a second, dead ends or not, the search looks at the time."""
ATTEMPTS = 10
"""A round ends after so many times its samples in dead ends in a row."""
PATIENCE = 2
"""Once a map is known, it ends after so many times its samples in dead ends altogether."""


@dataclass(frozen=True)
class MipsParameters(TwoStageParameters):
    """What users may set."""

    second_stage: SecondStageName = parameter("mips", "how containers get onto servers")
    alpha: float = parameter(
        0.5,
        "the first stage minimises alpha x traffic + (1 - alpha) x containers used",
        Values(lambda alpha: 0 <= alpha <= 1, "is not from 0 (fewest containers) to 1 (least traffic)"),
    )
    scale: Literal["normalised", "raw"] = parameter(
        "normalised", "both as shares of their most, or as they are; mode=paper: always as they are"
    )
    symmetry: bool = parameter(True, "instances, containers, servers that are alike are one choice")
    polish: bool = parameter(True, "local steps from the best maps seen; mode=paper: never")

    def goal(self, most: Most) -> Goal:
        """What the first stage minimises, for all applications together."""
        weights = zip(COUNTED, (self.alpha, 1.0 - self.alpha), strict=True)
        counted = {name: weight for name, weight in weights if weight > 0}
        if self.scale == "raw" or self.mode == "paper" or len(counted) == 1:
            return Goal(counted, scale="raw")
        bounds = zip(COUNTED, ((0.0, most.traffic), (0.0, float(most.containers))), strict=True)
        return Goal(counted, bounds=dict(bounds))


def first_stage(
    stage: StageOne, generator: np.random.Generator, parameters: MipsParameters, budget: Budget
) -> Assigned | Stuck:
    """Instances into containers: alpha x cross-container traffic + (1 - alpha) x containers used."""
    packing = instances_packing(stage, parameters)
    return _answer(packing, generator, parameters, budget, f"the instances into {stage.count} container(s)")


def instances_packing(stage: StageOne, parameters: MipsParameters) -> Packing:
    """The first stage as items and bins."""
    size, count = len(stage.names), len(stage.room)
    traffic = np.zeros((size, size))
    ends = np.repeat(np.arange(size), np.diff(stage.start))
    # every pair is there from both its ends, so that half of it at each end is all of it
    np.add.at(traffic, (ends, stage.neighbour), stage.rate / 2.0)
    np.fill_diagonal(traffic, 0.0)
    goal = parameters.goal(stage.most)
    per_unit = {name: goal.coefficient(name) if name in goal.weights else 0.0 for name in COUNTED}
    several = len(stage.group_servers) > 1
    return Packing(
        demand=stage.demand,
        room=stage.room,
        traffic=traffic,
        distance=1.0 - np.eye(count),
        allowed=np.ones((size, count), dtype=bool),
        hosts=stage.group_servers[stage.group] if several else np.zeros((size, 0), dtype=bool),
        per_traffic=per_unit["container_traffic"],
        per_bin=per_unit["containers_used"],
    )


def second_stage(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, budget: Budget
) -> Assigned | Stuck:
    """Containers onto servers: traffic x link cost."""
    packing = containers_packing(stage)
    return _answer(packing, generator, parameters, budget, f"the containers onto {len(stage.room)} server(s)")


def containers_packing(stage: StageTwo) -> Packing:
    """The second stage as items and bins."""
    missing = np.isnan(stage.cost)
    silent = stage.sends & (stage.traffic == 0) & missing.any() & ~np.eye(len(stage.names), dtype=bool)
    return Packing(
        demand=stage.size,
        room=stage.room,
        traffic=np.where(silent, TRICKLE, stage.traffic),
        distance=np.where(missing, np.inf, stage.cost),
        allowed=stage.allowed,
        hosts=np.zeros((len(stage.names), 0), dtype=bool),
        capacity=stage.capacity,
        shared=stage.shared,
    )


def _answer(
    packing: Packing,
    generator: np.random.Generator,
    parameters: TwoStageParameters,
    budget: Budget,
    what: str,
) -> Assigned | Stuck:
    printed = parameters.mode == "paper"
    found = search(
        packing,
        int(generator.integers(2**63)),
        samples=parameters.samples,
        exploration=parameters.exploration,
        symmetry=getattr(parameters, "symmetry", True),
        printed=printed,
        polish=not printed and getattr(parameters, "polish", True),
        budget=budget,
    )
    plans = [("committed", found.committed), ("best_leaf", found.best_leaf), ("polished", found.polished)]
    known = {name: bins for name, bins in plans if bins is not None}
    costs = {name: packing.cost(bins) for name, bins in known.items()}
    # the printed form keeps no map but that of its decisions
    choices = [name for name in known if name == "committed" or not printed]
    if not choices:
        return Stuck(_reason(found, printed, what, costs))
    taken = choices[0]
    for name in choices[1:]:
        if packing.better(known[name], known[taken]):
            taken = name
    return Assigned(known[taken], _trace(found, taken, costs))


def _trace(found: Found, taken: str, costs: dict[str, float]) -> dict[str, Any]:
    trace: dict[str, Any] = {"taken": taken, "rounds": found.rounds, **found.figures}
    trace |= {f"{name}_cost": cost for name, cost in costs.items()}
    return trace | ({"cut_short": True} if found.cut_short else {})


def _reason(found: Found, printed: bool, what: str, costs: dict[str, float]) -> str:
    if found.cut_short:
        return f"the time was over before {what} were mapped; a longer --time-limit or fewer samples help"
    if printed and costs.get("best_leaf") == 0:
        return f"mode=paper never ends where {what} can be mapped at cost 0; mode=corrected does"
    tries = found.figures["rollouts"]
    return (
        f"no way to map {what} in {tries} roll-outs, all of them dead ends after {found.rounds} decision(s); "
        "more room or more samples help"
    )


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found."""

    committed: IndexArray | None
    """The bin of every item by the decisions round by round; None: they ended in a dead end."""
    best_leaf: IndexArray | None
    """The best of all maps that were seen; None: all roll-outs were dead ends."""
    polished: IndexArray | None
    """The best of what local steps make of such maps; None: not asked for, or no map was seen."""
    rounds: int
    figures: dict[str, Any]
    """Nodes, roll-outs and dead ends."""
    cut_short: bool
    """Whether the time was over before the last round."""


def search(
    packing: Packing,
    seed: int,
    *,
    samples: int,
    exploration: float,
    symmetry: bool,
    printed: bool,
    polish: bool,
    budget: Budget,
) -> Found:
    """Decide one item after another, each after so many samples; the tree is kept between the rounds.

    With `polish`, local steps start from the best map of the first round, the best of all and the committed
    one. The tree doesn't hear of it.
    """
    case, kind = case_of(packing, symmetry, near=not printed)
    bound = packing.bound or 1.0
    tree = core.TreeSearch(
        case,
        seed,
        samples=samples,
        attempts=ATTEMPTS * samples,
        patience=PATIENCE * samples,
        exploration=exploration,
        unit=1.0 if printed else bound,
        worst=bound if printed else 1.0,
        all_traffic=float(packing.traffic.sum()),
        farthest=packing.farthest,
        printed=printed,
        most_nodes=min(2 * samples * case.items + 2, LARGEST_TREE),
    )
    at_once = max(1, STEPS_AT_ONCE // (case.items * case.bins * case.kinds))
    early: IndexArray | None = None
    goes_on = True
    while goes_on and tree.rounds < case.items and not (tree.rounds and budget.over):
        while tree.sample(at_once) and not budget.over:
            pass
        early = _bins(tree.best, kind) if early is None else early
        goes_on = tree.decide()
    leaf = _bins(tree.best, kind)
    committed = _bins(tree.decided, kind)
    starts = [bins for bins in (early, leaf, committed) if bins is not None] if polish else []
    figures = {"nodes": tree.nodes, "rollouts": tree.roll_outs, "dead_ends": tree.dead_ends}
    cut_short = tree.rounds < case.items and goes_on
    return Found(committed, leaf, _best_polished(packing, starts), tree.rounds, figures, cut_short)


def _best_polished(packing: Packing, maps: list[IndexArray]) -> IndexArray | None:
    """The best of what local steps make of these maps."""
    best: IndexArray | None = None
    for bins in {bins.tobytes(): bins for bins in maps}.values():
        found = polished(packing, bins)
        if best is None or packing.better(found, best):
            best = found
    return best


def _bins(path: NDArray[np.int64], kind: IndexArray) -> IndexArray | None:
    """The bin of every item: of each kind, the first item goes where the first one of its kind went.

    None: not all of them have one.
    """
    if len(path) < len(kind):
        return None
    found = np.empty(len(kind), dtype=np.intp)
    found[np.argsort(kind, kind="stable")] = path[np.argsort(path[:, 0], kind="stable"), 1]
    return found
