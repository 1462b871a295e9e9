"""Our own policy for many applications that share operators and objects (paper 004's problem)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput, Plan
from berth.model.randomness import generator_for
from berth.policies.forest_search.bounds import Needs
from berth.policies.forest_search.changes import go_home
from berth.policies.forest_search.driver import first_plan, improve, pack
from berth.policies.forest_search.goals import GOALS, Prices
from berth.policies.forest_search.previous import STAND_INS, Recalled, stand_ins
from berth.policies.forest_search.search import Search
from berth.policies.forest_search.starts import starts
from berth.policies.many.case import Case, case_of
from berth.policies.many.plan import parts_of, shortage
from berth.policies.many.state import new_state
from berth.policies.many.strategies import exceeded
from berth.policies.policy import About, Answer, Task

_HOLDS = "all but containers and requirements; reuse and downloads are decided, too"
_DEFAULT_GOAL = "enrolled_speed"
_STAY = 0.05
"""The price of a unit that leaves its place, beside 1 for a load of twice its limit."""


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
    moves: int | None = field(
        default=0,
        metadata={
            "help": "with a previous plan: how many instances may leave their place for a lower cost; "
            "none: any number. More move only where nothing fits otherwise"
        },
    )

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise ValueError(f"steps: {self.steps} is below 0")
        if self.moves is not None and self.moves < 0:
            raise ValueError(f"moves: {self.moves} is below 0; none means any number")


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
        bound = prices.bound()
        recalled = Recalled(task.problem, case, new_state(case), task.setting.previous or Plan())
        recalled.recall()
        search = Search(
            case,
            recalled.state,
            prices,
            np.array([generator_for(task.seed).integers(2**63)], dtype=np.uint64),
            task.budget,
            lambda cost: task.progress(cost, bound),
            recalled.state.node.copy(),
            recalled.settled,
            float("inf") if parameters.moves is None else float(parameters.moves),
        )
        run = Run(task, search, np.flatnonzero(case.rules.allowed.any(axis=0)), bound, Needs(case).work.sum())
        run.place()
        if search.home.max(initial=-1) >= 0:
            run.move()
            heirs = {task.problem.instances.operators[own].name: gone for gone, own in recalled.heirs.items()}
            run.trace |= {"moved": run.moved, "taken_over": heirs}
        return answered(task, case, search, goal, bound, run.trace)


@dataclass(eq=False)
class Run:
    """One search, from the starts to the last step."""

    task: Task
    search: Search
    nodes: NDArray[np.int64]
    """That may host anything."""
    bound: float
    speed: float
    """What all work needs together."""
    trace: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._before = self.search.snapshot()

    @property
    def steps(self) -> int:
        """How many there are."""
        parameters: ForestParameters = self.task.parameters
        return parameters.steps

    @property
    def moved(self) -> int:
        """Units that had a place and are elsewhere, or not computed any more."""
        placed = self.search.home >= 0
        return int((self.search.state.node[placed] != self.search.home[placed]).sum())

    def place(self) -> None:
        """Place what has no place yet; nothing else moves."""
        search = self.search
        self.trace["starts"] = begin(self.task, search)
        if search.best is not None:
            self.trace["best_start"] = search.best[1]
        pack(search, self.nodes)
        if first_plan(search, self.nodes, self.steps) and not search.bound_operators.all():
            improve(search, self.nodes, self.steps - search.taken, self.bound, self.speed)
        search.back()

    def move(self) -> None:
        """Let units leave their place: where nothing fits otherwise, or as many as may for a lower cost."""
        search, free = self.search, self.search.free_moves
        search.bound_operators[:] = False
        stay = 0.0 if free == float("inf") else _STAY / (1.0 + free)
        if search.best is None:
            search.resume(self._before)
            pack(search, self.nodes)
            first_plan(search, self.nodes, self.steps, stay)
            self._go_home()
            improve(search, self.nodes, self.steps // 2, self.bound, self.speed, stay)
        elif free > 0.0:
            improve(search, self.nodes, self.steps, self.bound, self.speed, stay)
        if free < float("inf"):
            self._go_home()
        search.back()

    def _go_home(self) -> None:
        """Undo moves that nothing needs."""
        self.search.back()
        if self.search.best is not None and self.search.best[0] > 0.0:
            go_home(self.search.case, self.search.state, self.search.aims(self.nodes, 1.0, 0.0))
            self.search.save()


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
    """Let the heuristics place what has no place; how many of them could."""
    before, found = search.snapshot(), 0
    left = ~search.bound_operators
    for retry in (False, True):
        for done in starts(task.problem, search.case, search.state, task.seed, left, retry):
            found += done
            if done:
                search.save()
            if task.budget.over:
                break
        if found:
            break
    search.resume(before)
    return found


def answered(
    task: Task, case: Case, search: Search, goal: Goal, bound: float, trace: dict[str, Any]
) -> Answer:
    """The best plan; where there is none, the one that exceeds least, and by what."""
    parts = parts_of(task.problem, case, search.state)
    trace |= {"steps": search.taken, "reused": len(parts.reuse), "skipped": len(parts.skipped)}
    if found_stand_ins := stand_ins(task.problem, case, search.state):
        trace[STAND_INS] = found_stand_ins
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
