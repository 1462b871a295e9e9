"""MIPS (paper 001): both stages by Monte Carlo tree search over partial maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from berth.exact.budget import Budget
from berth.policies.two_stage.mcts import Found, search
from berth.policies.two_stage.mcts_case import Packing
from berth.policies.two_stage.mcts_round import EQUAL
from berth.policies.two_stage.parameters import TwoStageParameters
from berth.policies.two_stage.stages import Assigned, IndexArray, StageOne, StageTwo, Stuck


@dataclass(frozen=True)
class MipsParameters(TwoStageParameters):
    """What users may set."""

    second_stage: Literal["best-fit", "mips"] = field(
        default="mips", metadata={"help": "how containers get onto servers"}
    )
    alpha: float = field(
        default=0.5,
        metadata={"help": "the first stage minimises alpha x traffic + (1 - alpha) x containers used"},
    )
    symmetry: bool = field(
        default=True,
        metadata={"help": "instances, containers, servers that are alike are one choice"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha: {self.alpha} is not from 0 (fewest containers) to 1 (least traffic)")


def first_stage(
    stage: StageOne, generator: np.random.Generator, parameters: MipsParameters, budget: Budget
) -> Assigned | Stuck:
    """Instances into containers: alpha x cross-container traffic + (1 - alpha) x containers used."""
    size, count = len(stage.names), len(stage.room)
    traffic = np.zeros((size, size))
    ends = np.repeat(np.arange(size), np.diff(stage.start))
    # every pair is there from both its ends, so that half of it at each end is all of it
    np.add.at(traffic, (ends, stage.neighbour), stage.rate / 2.0)
    np.fill_diagonal(traffic, 0.0)
    several = len(stage.group_servers) > 1
    packing = Packing(
        demand=stage.demand,
        room=stage.room,
        traffic=traffic,
        distance=1.0 - np.eye(count),
        allowed=np.ones((size, count), dtype=bool),
        hosts=stage.group_servers[stage.group] if several else np.zeros((size, 0), dtype=bool),
        per_traffic=parameters.alpha,
        per_bin=1.0 - parameters.alpha,
    )
    return _answer(packing, generator, parameters, budget, f"the instances into {stage.count} container(s)")


def second_stage(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, budget: Budget
) -> Assigned | Stuck:
    """Containers onto servers: traffic x link cost."""
    packing = Packing(
        demand=stage.size,
        room=stage.room,
        traffic=stage.traffic,
        distance=np.where(np.isnan(stage.cost), np.inf, stage.cost),
        allowed=stage.allowed,
        hosts=np.zeros((len(stage.names), 0), dtype=bool),
        capacity=stage.capacity,
    )
    return _answer(packing, generator, parameters, budget, f"the containers onto {len(stage.room)} server(s)")


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
        budget=budget,
    )
    plans = [("committed", found.committed), ("best_leaf", found.best_leaf)]
    known = {name: bins for name, bins in plans if bins is not None}
    costs = {name: packing.cost(bins) for name, bins in known.items()}
    # the printed form keeps no map but that of its decisions
    choices = [name for name in known if name == "committed" or not printed]
    if not choices:
        return Stuck(_reason(found, printed, what, costs))
    taken = choices[0]
    for name in choices[1:]:
        if _better(packing, known[name], known[taken]):
            taken = name
    return Assigned(known[taken], _trace(found, taken, costs))


def _better(packing: Packing, one: IndexArray, other: IndexArray) -> bool:
    """Whether a map costs less than another one or, at the same cost, has less of what doesn't count."""
    difference, margin = packing.cost(one) - packing.cost(other), EQUAL * packing.bound
    same = abs(difference) <= margin
    return difference < -margin or (same and packing.rest(one) < packing.rest(other) * (1.0 - EQUAL))


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
