"""The six heuristics of paper 004 (section 5) as policies, with the orders in which they go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import sharing as core
from berth.evaluation.goal import Goal
from berth.model import Problem
from berth.model.randomness import generator_for
from berth.policies.policy import About, Answer, Task
from berth.policies.sharing.case import Case
from berth.policies.sharing.plan import plan_parts, shortage

IntArray = NDArray[np.intp]
Processors = Literal["fastest", "biggest-card", "fastest-remaining", "biggest-card-remaining"]
Relatives = Literal["any", "chosen"]
STRATEGIES: tuple[Processors, ...] = (
    "fastest",
    "biggest-card",
    "fastest-remaining",
    "biggest-card-remaining",
)
"""How a new processor is chosen (card 1.17). The first two are blocking: what was chosen once is never
offered again as a new one."""
_CHOICES = dict(zip(STRATEGIES, core.ProcessorChoice, strict=True))
GOAL = Goal({"enrolled_speed": 1.0})
_HOLDS = (
    "capacities, processors, cards, ports, links, candidates, hosts and rules; not containers or requirements"
)


@dataclass(frozen=True)
class HeuristicParameters:
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
class WithoutReuse(HeuristicParameters):
    """The same where nothing is ever taken from others."""

    reuse: bool = field(default=False, metadata={"help": "always false: the policy 'random' can reuse"})

    def __post_init__(self) -> None:
        if self.reuse:
            raise ValueError("reuse: random-no-reuse never reuses; take --policy random instead")


@dataclass(frozen=True)
class Heuristic:
    """Operators in an order, each taken from others, put beside relatives or on a new processor."""

    name: str
    title: str
    """In the paper."""
    direction: core.Direction
    order: Callable[[Problem, int], IntArray]
    """The operators, as they are looked at; by chance it depends on a seed."""
    parameters: type = HeuristicParameters

    @property
    def about(self) -> About:
        """What people should know."""
        paper = f"004 (Benoit et al.), section 5: {self.title}"
        return About(self.name, paper, "enrolled_speed, by a heuristic", _HOLDS)

    def start(self, state: core.State, order: IntArray, parameters: HeuristicParameters) -> core.Heuristic:
        """The same on a state, to be run."""
        return core.Heuristic(
            state,
            order,
            self.direction,
            _CHOICES[parameters.processors],
            reuse=parameters.reuse,
            retry=parameters.retry,
            relatives_of_chosen=parameters.relatives == "chosen",
        )

    def solve(self, task: Task) -> Answer:
        """One pass over all operators, without going back."""
        problem, case = task.problem, Case(task.setting)
        state = core.State(case.core)
        run = self.start(state, self.order(problem, task.seed), task.parameters)
        finished = ran_through(run, task.budget)
        trace: dict[str, Any] = {"attempts": run.attempts}
        if not finished:
            return Answer("unknown", goal=GOAL, reason=task.budget.reason, trace=trace)
        if run.stuck_at >= 0:
            name = problem.instances.operators[run.stuck_at].name
            reason = f"stuck at {name}: no processor is left for it"
            if run.blocked_by >= 0:
                reason = f"stuck at {name}, for want of {shortage(case, run.blocked_by)}"
            return Answer("unknown", goal=GOAL, reason=reason, trace=trace)
        parts = plan_parts(problem, state)
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


def ran_through(run: core.Heuristic, budget: Budget) -> bool:
    """Run a heuristic; whether it came to its end before the time was up."""
    while not run.run():
        if budget.over:
            return False
    return True


def breadth_first(problem: Problem) -> IntArray:
    """Level by level from the results, over all applications; an operator after all that consume it."""
    graph = problem.instances
    left = [len(consumers) for consumers in graph.consumers]
    found = _results(problem)
    for operator in found:
        for child in graph.inputs[operator]:
            left[child] -= 1
            if left[child] == 0:
                found.append(child)
    return np.array(found, dtype=np.intp)


def depth_first(problem: Problem, *, children_first: bool) -> IntArray:
    """One branch after another, the first input first; an operator before or behind what feeds it."""
    graph = problem.instances
    found: list[int] = []
    seen: set[int] = set()
    for root in _results(problem):
        waiting = [(root, False)]
        while waiting:
            operator, behind = waiting.pop()
            if behind:
                found.append(operator)
            elif operator not in seen:
                seen.add(operator)
                if children_first:
                    waiting.append((operator, True))
                else:
                    found.append(operator)
                waiting += [(child, False) for child in reversed(graph.inputs[operator])]
    return np.array(found, dtype=np.intp)


def _results(problem: Problem) -> list[int]:
    """Operators whose results nobody consumes, in the order of the file."""
    return [number for number, consumers in enumerate(problem.instances.consumers) if not consumers]


def _any_order(problem: Problem, seed: int) -> IntArray:
    return generator_for(seed).permutation(len(problem.instances.operators)).astype(np.intp)


RANDOM_NO_REUSE = Heuristic(
    "random-no-reuse", "H1, RandomNoReuse", core.Direction.ANY, _any_order, WithoutReuse
)
RANDOM = Heuristic("random", "H2, Random", core.Direction.ANY, _any_order)
TOP_DOWN_BFS = Heuristic(
    "top-down-bfs", "H3, TopDownBFS", core.Direction.TOP_DOWN, lambda problem, _: breadth_first(problem)
)
TOP_DOWN_DFS = Heuristic(
    "top-down-dfs",
    "H4, TopDownDFS",
    core.Direction.TOP_DOWN,
    lambda problem, _: depth_first(problem, children_first=False),
)
BOTTOM_UP_BFS = Heuristic(
    "bottom-up-bfs",
    "H5, BottomUpBFS",
    core.Direction.BOTTOM_UP,
    lambda problem, _: breadth_first(problem)[::-1],
)
BOTTOM_UP_DFS = Heuristic(
    "bottom-up-dfs",
    "H6, BottomUpDFS",
    core.Direction.CLIMBING,
    lambda problem, _: depth_first(problem, children_first=True),
)
HEURISTICS = (RANDOM_NO_REUSE, RANDOM, TOP_DOWN_BFS, TOP_DOWN_DFS, BOTTOM_UP_BFS, BOTTOM_UP_DFS)
"""H1 to H6."""
