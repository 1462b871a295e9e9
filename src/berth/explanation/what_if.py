"""What a change of the network would bring: solved again by the plan's policy, judged by the plan's goal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from berth.budget import Budget
from berth.evaluation import Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import More
from berth.explanation.alternatives import Explained
from berth.explanation.changes import changes_of
from berth.explanation.judging import Judge
from berth.explanation.room import room_elsewhere
from berth.model import BadInput, Plan, Problem
from berth.policies.registry import DEFAULT, policy_names
from berth.policies.solve import solve

Depth = Literal["none", "quick", "full"]
MOST = {"none": 0, "quick": 4, "full": 16}
"""How many changes are tried."""
SHORTEST = 0.2
"""Seconds that each of them gets at least."""


@dataclass(frozen=True)
class Outcome:
    """The best that is known of a problem."""

    objective: float | None
    """By the plan's goal; None: no plan that breaks nothing is known, or it has no value."""
    proved: bool
    """Whether nothing better exists."""
    kept: bool = False
    """Whether it is the plan as it is."""
    reason: str | None = None


@dataclass(frozen=True)
class WhatIf:
    """A change and what it brings."""

    kind: str
    words: str
    outcome: Outcome
    gain: float | None
    """How much better the objective gets than without the change, above 0: better."""
    proved: bool
    """Whether both are proved, so that the gain is exactly what the change is worth."""


@dataclass(frozen=True)
class WhatIfs:
    """The problem as it is, solved again, and every change."""

    policy: str
    unchanged: Outcome
    changes: tuple[WhatIf, ...]


def changes_tried(judge: Judge, operators: Sequence[Explained], depth: Depth) -> list[More]:
    """Room for what would be better elsewhere, then more of what is scarce; as many as are asked for."""
    most = MOST[depth]
    return [*islice(room_elsewhere(judge, operators), most // 2), *changes_of(judge.situation)][:most]


def what_ifs(judge: Judge, operators: Sequence[Explained], depth: Depth, seconds: float) -> WhatIfs | None:
    """Solve the problem, and the problem with each change, in equal shares of the time; None for `none`."""
    goal = judge.goal
    if goal is None or depth == "none":
        return None
    tried = changes_tried(judge, operators, depth)
    policy = _policy_of(judge.plan)
    share = max(SHORTEST, seconds / (len(tried) + 1))
    unchanged = _best(judge, judge.setting.problem, goal, policy, share)
    found = tuple(_tried(judge, change, goal, policy, share, unchanged) for change in tried)
    return WhatIfs(policy, unchanged, found)


def _policy_of(plan: Plan) -> str:
    return plan.policy if plan.policy in policy_names() else DEFAULT


def _tried(judge: Judge, change: More, goal: Goal, policy: str, share: float, unchanged: Outcome) -> WhatIf:
    outcome = _best(judge, change.problem, goal, policy, share)
    gain = None
    if outcome.objective is not None and unchanged.objective is not None:
        gain = unchanged.objective - outcome.objective
        gain = 0.0 if _same(unchanged.objective, outcome.objective) else -gain if goal.maximise else gain
    return WhatIf(change.kind, change.words, outcome, gain, outcome.proved and unchanged.proved)


def _best(judge: Judge, problem: Problem, goal: Goal, policy: str, share: float) -> Outcome:
    """The better one of the plan as it is and what the policy finds."""
    asked = replace(problem, objective=goal.weights, objective_bounds=goal.bounds or problem.objective_bounds)
    found = list(_outcomes(judge, asked, goal, policy, share))
    known = [outcome for outcome in found if outcome.objective is not None]
    if not known:
        return found[-1]
    values = [outcome.objective for outcome in known if outcome.objective is not None]
    best = max(values) if goal.maximise else min(values)
    equal = [item for item in known if item.objective is not None and _same(item.objective, best)]
    return Outcome(best, any(item.proved for item in equal), any(item.kept for item in equal))


def _same(one: float, other: float) -> bool:
    """Equal but for the last digits of sums."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _outcomes(judge: Judge, problem: Problem, goal: Goal, policy: str, share: float) -> Iterator[Outcome]:
    setting = Setting(problem)
    kept = judge.verdict(Situation(setting, judge.plan))
    if not kept.violations:
        yield Outcome(kept.objective, False, kept=True)
    try:
        plan = solve(problem, policy, budget=Budget(share), seed=judge.plan.seed)
    except BadInput as error:
        yield Outcome(None, False, reason=error.mistakes[0])
        return
    if not plan.found or plan.violations:
        yield Outcome(None, plan.status == "infeasible", reason=plan.reason or "no plan that breaks nothing")
        return
    proved = plan.status == "optimal" and dict(plan.goal) == dict(goal.weights)
    yield Outcome(judge.objective(Situation(setting, plan)), proved)
