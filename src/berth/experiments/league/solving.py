"""One policy on one problem, within a limit of processor time: what came out, told apart."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.exact.normalise import objective_bounds
from berth.experiments.league.fixtures import problem_of
from berth.model import BadInput, Plan, Problem
from berth.policies.registry import find_policy

LEAST_MEASURED = 0.001
PLAN, BROKEN, NO_PLAN = "plan", "breaks constraints", "no plan"
NOT_MADE, CRASHED = "not made for it", "crashed"


class ProcessorBudget(Budget):
    """Seconds of this process's processor time from now on."""

    def __init__(self, seconds: float, whole: Budget | None = None) -> None:
        super().__init__(seconds, whole)
        self._limit = seconds
        self._began = time.process_time()

    @property
    def elapsed(self) -> float:
        """Processor time since the start."""
        return time.process_time() - self._began

    @property
    def remaining(self) -> float:
        """Seconds on the clock until the processor time is used up, if the machine stays as busy as it is.

        Solvers that only know the clock are told this; what is over is decided by processor time.
        """
        return self._left * max(1.0, super().elapsed / max(self.elapsed, LEAST_MEASURED))

    @property
    def _left(self) -> float:
        return 0.0 if self.stopped is not None else max(0.0, self._limit - self.elapsed)

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """A part of the processor time that is left."""
        return ProcessorBudget(min(self._left * share, most), self)


def solved(name: str, policy: str, seed: int, data: Path | None, limit: float) -> dict[str, Any]:
    """What a policy does with a problem in its time: outcome, judged objective, bound, processor time."""
    problem = problem_of(name, seed, data)
    goal = goal_of(name, seed, data)
    row = {
        "operators": len(problem.instances),
        "nodes": len(problem.network.nodes),
        "objective": ", ".join(problem.objective),
        "maximise": goal is not None and goal.maximise,
        "outcome": NOT_MADE,
        "value": None,
        "bound": None,
        "own_goal": None,
        "seconds": None,
        "reason": None,
    }
    if not takes(problem, policy):
        return row | {"reason": "fills no containers"}
    _warm(name, policy, seed, data)
    began = time.process_time()
    try:
        plan = berth.solve(problem, policy, budget=ProcessorBudget(limit), seed=seed)
    except BadInput as mistake:
        return row | {"reason": str(mistake).splitlines()[0]}
    except Exception as error:  # whatever it is, the league goes on and tells it
        return row | {"outcome": CRASHED, "reason": f"{type(error).__name__}: {error}"}
    row["seconds"] = time.process_time() - began
    own = dict(plan.first_goal) != dict(problem.objective) or find_policy(policy).about.optimises == "nothing"
    outcome = _outcome(plan)
    value = goal.value(plan.metrics) if goal is not None and outcome == PLAN else None
    return row | {
        "outcome": outcome,
        "value": value,
        "bound": None if own else plan.bound,
        "own_goal": own,
        "reason": plan.reason,
    }


def takes(problem: Problem, policy: str) -> bool:
    """Whether a policy fills containers, by what it says that it holds, where a problem has some."""
    if not any(application.containers for application in problem.applications):
        return True
    holds = find_policy(policy).about.holds
    if holds.startswith("all;"):
        return True
    return "containers" in holds and not any(f"{word} containers" in holds for word in ("but", "not"))


def _outcome(plan: Plan) -> str:
    if not plan.assignment:
        return NO_PLAN
    return BROKEN if plan.violations else PLAN


@lru_cache(maxsize=8)
def goal_of(name: str, seed: int, data: Path | None) -> Goal | None:
    """What plans are measured by: the problem's objective, whatever a policy itself minimises."""
    problem = problem_of(name, seed, data)
    goal = Goal(problem.objective, problem.objective_scale)
    if goal.single is not None or problem.objective_scale == "raw":
        return goal
    bounds = objective_bounds(Setting(problem), Budget(None), 0)
    return None if bounds is None else Goal(problem.objective, problem.objective_scale, bounds)


@lru_cache(maxsize=256)
def _warm(name: str, policy: str, seed: int, data: Path | None) -> None:
    """Let a policy load what it needs, which is not its time."""
    try:
        berth.solve(problem_of(name, seed, data), policy, budget=ProcessorBudget(0.1), seed=seed)
    except Exception:
        # The solve that counts fails likewise, and tells why.
        return
