"""Our own policy for many applications that share operators and objects (paper 004's problem)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from berth.core import sharing as core
from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput, Plan
from berth.model.randomness import generator_for
from berth.policies.policy import About, Answer, Task
from berth.policies.sharing.case import Case
from berth.policies.sharing.goals import GOALS, Prices
from berth.policies.sharing.plan import plan_parts, shortage
from berth.policies.sharing.previous import STAND_INS, PreviousPlan, stand_ins
from berth.policies.sharing.search import Search, first_plan, improve, pack, start

_DEFAULT_GOAL = "enrolled_speed"
_STAY = 0.05
"""The price of an instance that leaves its place, beside 1 for a load of twice its limit."""


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
        holds="all but containers and requirements; reuse and downloads are decided, too",
    )
    parameters = ForestParameters

    def solve(self, task: Task) -> Answer:
        """Start from the heuristics' plans and improve the best."""
        parameters: ForestParameters = task.parameters
        goal = chosen_goal(task, parameters.goal)
        case = Case(task.setting)
        before = PreviousPlan(case, core.State(case.core), task.setting.previous or Plan())
        before.restore()
        search = Search(
            case,
            before.state,
            Prices.of(str(goal.single), case),
            generator_for(task.seed),
            task.budget,
            lambda cost: task.progress(cost, search.lowest),
            before.state.node_of.astype(np.intp),
            before.settled,
            float("inf") if parameters.moves is None else float(parameters.moves),
        )
        restored = before.state.snapshot()
        trace = place(task, search, parameters.steps)
        if search.home.max(initial=-1) >= 0:
            if search.best is None:
                search.state.resume(restored)
            move(search, parameters.steps)
            heirs = {task.problem.instances.operators[own].name: gone for gone, own in before.heirs.items()}
            trace |= {"moved": search.moved, "taken_over": heirs}
        return answered(task, search, goal, trace)


def chosen_goal(task: Task, name: str) -> Goal:
    """The metric that is minimised, by its name or `objective`.

    Raises:
        BadInput: it can't be known from the problem.
    """
    own = Goal(task.problem.objective).single
    if name == "objective":
        name = own if own is not None and own in GOALS else _DEFAULT_GOAL
    goal = Goal({name: 1.0})
    mistakes = list(goal_mistakes(task.problem.for_goal(goal.weights)))
    if mistakes:
        raise BadInput([line.replace(f"objective.{goal.single}", "--policy forest", 1) for line in mistakes])
    return goal


def place(task: Task, search: Search, steps: int) -> dict[str, Any]:
    """Place what has no place yet; nothing else moves."""
    trace: dict[str, Any] = {"starts": start(search, task.problem, task.seed)}
    if search.best is not None:
        trace["best_start"] = search.best[1]
    pack(search)
    if first_plan(search, steps) and not search.fixed.all():
        improve(search, steps - search.taken)
    search.back()
    return trace


def move(search: Search, steps: int) -> None:
    """Let instances leave their place: where nothing fits otherwise, or as many as may for a lower cost."""
    search.fixed[:] = False
    stay = 0.0 if search.free_moves == float("inf") else _STAY / (1.0 + search.free_moves)
    if search.best is None:
        pack(search)
        first_plan(search, steps, stay)
        go_home(search)
        improve(search, steps // 2, stay)
    elif search.free_moves > 0.0:
        improve(search, steps, stay)
    if search.free_moves < float("inf"):
        go_home(search)
    search.back()


def go_home(search: Search) -> None:
    """Undo moves that nothing needs."""
    search.back()
    if search.best is not None and search.best[0] > 0.0:
        search.aim(1.0, 0.0)
        search.engine.go_home()
        search.save()


def answered(task: Task, search: Search, goal: Goal, trace: dict[str, Any]) -> Answer:
    """The best plan; where there is none, the one that exceeds least, and by what."""
    parts = plan_parts(task.problem, search.state)
    trace |= {"steps": search.taken, "reused": len(parts.reuse), "skipped": len(parts.skipped)}
    if found := stand_ins(search.case, search.state):
        trace[STAND_INS] = found
    reason = task.budget.reason if task.budget.over else None
    if search.best is None:
        blocked = search.state.exceeded()
        want = f", for want of {shortage(search.case, blocked)}" if blocked >= 0 else ""
        if search.state.unplaced and reason is not None:
            want = f": {reason}"
        reason = f"no plan that keeps all constraints was found{want}"
    cheapest = search.best is not None and search.best[1] <= search.lowest * (1.0 + 1e-9)
    return Answer(
        "unknown" if search.best is None else "optimal" if cheapest else "feasible",
        parts.nodes,
        goal,
        None if search.best is None else search.lowest,
        reason,
        trace,
        downloads=parts.downloads,
        reuse=parts.reuse,
        skipped=parts.skipped,
    )
