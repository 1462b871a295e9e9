"""The six heuristics of paper 004 as policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal
from berth.model import Problem
from berth.policies.many.case import Case, case_of
from berth.policies.many.heuristics import (
    ATTEMPTS,
    BOTTOM_UP,
    CLIMBING,
    DONE,
    LOAD,
    OPERATOR,
    RANDOM,
    TOP_DOWN,
    run,
)
from berth.policies.many.orders import at_random, breadth_first, depth_first
from berth.policies.many.plan import parts_of, shortage
from berth.policies.many.state import State, new_state
from berth.policies.many.strategies import NO_NODE, RELATIVES, STRATEGIES
from berth.policies.policy import About, Answer, Task

Processors = Literal["fastest", "biggest-card", "fastest-remaining", "biggest-card-remaining"]
Relatives = Literal["any", "chosen"]
GOAL = Goal({"enrolled_speed": 1.0})
_PAPER = "004 (Benoit et al.), section 5: {}"
_OPTIMISES = "enrolled_speed, by a heuristic"
_HOLDS = (
    "capacities, processors, cards, ports, links, candidates, hosts and rules; not containers or requirements"
)


@dataclass(frozen=True)
class ManyParameters:
    """What users may set."""

    processors: Processors = field(
        default="biggest-card-remaining",
        metadata={"help": "how a new processor is chosen: " + ", ".join(STRATEGIES)},
    )
    reuse: bool = field(default=True, metadata={"help": "take results that are computed elsewhere"})
    retry: bool = field(
        default=False,
        metadata={"help": "if the chosen processor can't take an operator, try the next one"},
    )
    relatives: Relatives = field(
        default="chosen",
        metadata={
            "help": "whose fathers and children may join a processor, with the blocking fastest and"
            " biggest-card: only those of the operator for which it was chosen, or of any one there"
        },
    )


@dataclass(frozen=True)
class WithoutReuse(ManyParameters):
    """The same where nothing is ever taken from others."""

    reuse: bool = field(default=False, metadata={"help": "always false: the policy 'random' can reuse"})

    def __post_init__(self) -> None:
        if self.reuse:
            raise ValueError("reuse: random-no-reuse never reuses; take --policy random instead")


class Heuristic:
    """Operators in an order, each taken from others, put beside relatives or on a new processor."""

    parameters: type = ManyParameters

    def __init__(
        self, name: str, title: str, manner: int, order: Callable[[Problem, int], NDArray[np.int64]]
    ) -> None:
        self.about = About(name, _PAPER.format(title), _OPTIMISES, _HOLDS)
        self.manner = manner
        self.order = order

    def solve(self, task: Task) -> Answer:
        """One pass over all operators, without going back."""
        parameters: ManyParameters = task.parameters
        problem, case = task.problem, case_of(task.setting)
        state = new_state(case)
        strategy = STRATEGIES.index(parameters.processors)
        order = self.order(problem, task.seed)
        relatives = RELATIVES.index(parameters.relatives)
        told = run(case, state, order, self.manner, parameters.reuse, strategy, parameters.retry, relatives)
        trace: dict[str, Any] = {"attempts": int(told[ATTEMPTS])}
        if not told[DONE]:
            reason = stuck(problem, case, state, int(told[OPERATOR]), int(told[LOAD]))
            return Answer("unknown", goal=GOAL, reason=reason, trace=trace)
        parts = parts_of(problem, case, state)
        trace |= {"reused": len(parts.reuse), "skipped": len(parts.skipped)}
        return Answer(
            "feasible",
            parts.nodes,
            GOAL,
            trace=trace,
            downloads=parts.downloads,
            reuse=parts.reuse,
            skipped=parts.skipped,
        )


def stuck(problem: Problem, case: Case, state: State, operator: int, load: int) -> str:
    """Where a heuristic got stuck, and for want of what."""
    name = problem.instances.operators[operator].name
    if load == NO_NODE:
        return f"stuck at {name}: no processor is left for it"
    return f"stuck at {name}, for want of {shortage(problem, case, load)}"


class RandomNoReuse(Heuristic):
    """H1."""

    parameters = WithoutReuse

    def __init__(self) -> None:
        super().__init__("random-no-reuse", "H1, RandomNoReuse", RANDOM, at_random)


class Random(Heuristic):
    """H2."""

    def __init__(self) -> None:
        super().__init__("random", "H2, Random", RANDOM, at_random)


class TopDownBfs(Heuristic):
    """H3."""

    def __init__(self) -> None:
        super().__init__(
            "top-down-bfs", "H3, TopDownBFS", TOP_DOWN, lambda problem, _: breadth_first(problem)
        )


class TopDownDfs(Heuristic):
    """H4."""

    def __init__(self) -> None:
        super().__init__(
            "top-down-dfs",
            "H4, TopDownDFS",
            TOP_DOWN,
            lambda problem, _: depth_first(problem, children_first=False),
        )


class BottomUpBfs(Heuristic):
    """H5."""

    def __init__(self) -> None:
        super().__init__(
            "bottom-up-bfs",
            "H5, BottomUpBFS",
            BOTTOM_UP,
            lambda problem, _: np.ascontiguousarray(breadth_first(problem)[::-1]),
        )


class BottomUpDfs(Heuristic):
    """H6."""

    def __init__(self) -> None:
        super().__init__(
            "bottom-up-dfs",
            "H6, BottomUpDFS",
            CLIMBING,
            lambda problem, _: depth_first(problem, children_first=True),
        )
