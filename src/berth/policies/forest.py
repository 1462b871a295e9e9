"""Our own policy for many applications that share operators and objects (paper 004's problem)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput
from berth.model.randomness import generator_for
from berth.policies.forest_search.driver import first_plan, improve, pack
from berth.policies.forest_search.goals import GOALS, Prices
from berth.policies.forest_search.search import Search
from berth.policies.forest_search.starts import starts
from berth.policies.many.case import Case, case_of
from berth.policies.many.plan import parts_of, shortage
from berth.policies.many.state import new_state
from berth.policies.many.strategies import exceeded
from berth.policies.policy import About, Answer, Task

_HOLDS = "all but containers and requirements; reuse and downloads are decided, too"
_DEFAULT_GOAL = "enrolled_speed"


@dataclass(frozen=True)
class ForestParameters:
    """What users may set."""

    goal: Literal[
        "objective", "enrolled_speed", "nodes_used", "bandwidth_sum", "bandwidth_max", "processing_power"
    ] = field(
        default="objective",
        metadata={
            "help": "what is minimised: " + ", ".join(GOALS) + "; objective: the problem's objective where "
            f"it is one of these, else {_DEFAULT_GOAL}"
        },
    )
    steps: int = field(default=200_000, metadata={"help": "changes that are tried"})

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise ValueError(f"steps: {self.steps} is below 0")


class Forest:
    """The heuristics' plans, then moves, swaps, merging and splitting."""

    about = About(
        name="forest",
        paper="our own, for the problem of 004",
        optimises=", ".join(GOALS) + ": the problem's or a chosen one, by search, with a bound",
        holds=_HOLDS,
    )
    parameters = ForestParameters

    def solve(self, task: Task) -> Answer:
        """Start from the heuristics' plans and improve the best."""
        parameters: ForestParameters = task.parameters
        goal = chosen_goal(task, parameters.goal)
        name = str(goal.single)
        case = case_of(task.setting)
        prices = Prices.of(name, case)
        bound = prices.bound(task.setting)
        search = Search(
            case,
            new_state(case),
            prices,
            np.array([generator_for(task.seed).integers(2**63)], dtype=np.uint64),
            task.budget,
            lambda cost: task.progress(cost, bound),
            np.full(len(case.units.operator), -1, dtype=np.int64),
            np.zeros(len(case.operators.kind), dtype=bool),
        )
        trace: dict[str, Any] = {"starts": begin(task, search)}
        nodes = np.flatnonzero(case.rules.allowed.any(axis=0))
        if search.best is not None:
            trace["best_start"] = search.best[1]
        pack(search, nodes)
        if first_plan(search, nodes, parameters.steps):
            improve(search, nodes, parameters.steps, bound)
            search.back()
        return answered(task, case, search, goal, bound, trace)


def chosen_goal(task: Task, name: str) -> Goal:
    """The metric that is minimised, by its name or `objective`.

    Raises:
        BadInput: it can't be known from the problem.
    """
    own = Goal(task.problem.objective).single
    if name == "objective":
        name = own if own is not None and own in GOALS else _DEFAULT_GOAL
    goal = Goal({name: 1.0})
    mistakes = list(goal_mistakes(replace(task.problem, objective=goal.weights)))
    if mistakes:
        raise BadInput([line.replace(f"objective.{goal.single}", "--policy forest", 1) for line in mistakes])
    return goal


def begin(task: Task, search: Search) -> int:
    """Let the heuristics find plans; how many of them did."""
    case, state = search.case, search.state
    left = np.ones(len(case.operators.kind), dtype=bool)
    empty, found = search.snapshot(), 0
    for retry in (False, True):
        for done in starts(task.problem, case, state, task.seed, left, retry):
            found += done
            if done:
                search.save()
            if task.budget.over:
                break
        if found:
            break
    search.resume(empty)
    return found


def answered(
    task: Task, case: Case, search: Search, goal: Goal, bound: float, trace: dict[str, Any]
) -> Answer:
    """The best plan; where there is none, the one that exceeds least, and by what."""
    parts = parts_of(task.problem, case, search.state)
    trace |= {"steps": search.taken, "reused": len(parts.reuse), "skipped": len(parts.skipped)}
    found = search.best is not None
    reason = None
    if not found:
        blocked = exceeded(case, search.state)
        want = f", for want of {shortage(task.problem, case, blocked)}" if blocked >= 0 else ""
        reason = f"no plan that keeps all constraints was found{want}"
    elif task.budget.over:
        reason = task.budget.reason
    cheapest = found and search.best is not None and search.best[1] <= bound * (1.0 + 1e-9)
    return Answer(
        ("optimal" if cheapest else "feasible") if found else "unknown",
        parts.nodes,
        goal,
        bound if found else None,
        reason,
        trace,
        downloads=parts.downloads,
        reuse=parts.reuse,
        skipped=parts.skipped,
    )
