"""Why a plan is as it is: all parts of an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal, recorded_bounds
from berth.evaluation.limits import Use
from berth.evaluation.losses import loss_violations
from berth.evaluation.situation import critical_path
from berth.evaluation.warnings import warnings
from berth.exact.normalise import objective_bounds
from berth.explanation.alternatives import Alternatives, Explained, Judge
from berth.explanation.binding import Bound, Growth, SlowestPath, binding, grouped, growth_of, slowest_path
from berth.explanation.mending import Mending, mending_of
from berth.explanation.moves import Unit, units_of
from berth.explanation.shared_results import Sharing, sharing_of
from berth.explanation.survival import Survival, survival_of
from berth.explanation.what_if import MOST, SHORTEST, Depth, WhatIfs, what_ifs
from berth.model import BadInput, Plan, Problem
from berth.model.errors import did_you_mean


def goal_of(setting: Setting, plan: Plan, budget: Budget) -> Goal | None:
    """The plan's goal; bounds of a normalised sum are those in its trace, or are found in the time given.

    None: no plan keeps the constraints, so that a normalised sum has no scale.
    """
    problem = setting.problem
    own = bool(plan.goal) and all(name in METRIC_BY_NAME for name in plan.first_goal)
    goal = Goal(dict(plan.first_goal if own else problem.objective), problem.objective_scale)
    if goal.single is not None or goal.scale == "raw":
        return goal
    told = recorded_bounds(problem, plan)
    if goal.weights.keys() <= told.keys():
        return replace(goal, bounds={name: told[name] for name in goal.weights})
    asked = replace(setting, problem=problem.for_goal(goal.weights))
    bounds = objective_bounds(asked, budget, plan.seed)
    return None if bounds is None else replace(goal, bounds=bounds)


DEFAULT_TIME_LIMIT = 10.0
MOST_CELLS = 1.5e8
"""Cells of arrays that all alternatives together may take: some seconds of work."""
FEWEST = 10
"""Units that are explained of any plan, however large."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the operators are where they are, what binds, and what would help."""

    situation: Situation
    goal: Goal | None
    """What alternatives are measured by; None: it has no scale, for no plan keeps the constraints."""
    objective: float | None
    violations: tuple[str, ...]
    warnings: tuple[str, ...]
    operators: tuple[Explained, ...]
    """The units that were asked for, or the worst ones, in the order of the problem."""
    units: int
    """How many units the plan has."""
    limits: tuple[Use, ...]
    """Every limit that is used, the fullest first."""
    path: SlowestPath
    sharing: Sharing | None
    growth: tuple[Growth, ...]
    mending: Mending | None
    what_if: WhatIfs | None
    survival: Survival | None
    """None: nothing has to be survived."""

    @property
    def bounds(self) -> list[Bound]:
        """The limits in rows: one for an operator on a node, nodes that are exceeded first."""
        return grouped(self.situation, self.limits)

    @property
    def rows(self) -> list[tuple[list[int], Explained]]:
        """Instances of one operator of which the same can be said, together."""
        found: dict[tuple[object, ...], tuple[list[int], Explained]] = {}
        graph = self.situation.graph
        for item in self.operators:
            numbers = [graph.index[name] for name in item.instances]
            operators = tuple(sorted({int(graph.operator_of[number]) for number in numbers}))
            key = (
                operators,
                item.node,
                item.fixed,
                item.best,
                item.forbidden,
                item.refused,
                tuple(item.obstacles.items()),
            )
            found.setdefault(key, ([], item))[0].extend(numbers)
        return list(found.values())


def explain(
    problem: Problem,
    plan: Plan,
    *,
    operators: Sequence[str] = (),
    what_if: Depth = "quick",
    time_limit: float | None = DEFAULT_TIME_LIMIT,
) -> Explanation:
    """Say why the operators of a plan are where they are, what binds, and what would help.

    Args:
        problem: what was placed.
        plan: where; anybody's: only its assignment is needed.
        operators: the operators or instances to explain; none: all, or the worst ones of very many.
        what_if: how many changes of the network are tried by solving again: none, a few, or many.
        time_limit: seconds for solving again, in all; None: as the policy takes, one after the other.

    Raises:
        BadInput: the plan or `operators` name what the problem doesn't have; an option makes no sense.
    """
    if what_if not in MOST:
        raise BadInput([f"--what-if: no depth {did_you_mean(str(what_if), MOST)}"])
    if time_limit is not None and not time_limit > 0:
        raise BadInput([f"--time-limit: {time_limit} is not above 0"])
    setting = Setting(problem)
    situation = Situation(setting, plan)
    asked = _instances(problem, operators)
    seconds = float("inf") if time_limit is None else time_limit
    judge = Judge(setting, plan, goal_of(setting, plan, Budget(time_limit)))
    units = units_of(situation)
    chosen = (
        [unit for unit in units if asked & set(unit.members.tolist())] if operators else _worst(judge, units)
    )
    # solving without losses is one more change that is tried
    part = 0.0 if what_if == "none" else max(SHORTEST, seconds / (MOST[what_if] + 2))
    survival = survival_of(judge, part)
    left = seconds if survival is None else seconds - part
    alternatives = Alternatives(judge)
    explained = tuple(alternatives.explain(unit) for unit in chosen)
    return Explanation(
        situation=judge.situation,
        goal=judge.goal,
        objective=judge.before.objective,
        violations=(*judge.before.violations, *loss_violations(judge.situation)),
        warnings=(*warnings(judge.situation), *_unknown_loads(problem)),
        operators=explained,
        units=len(units),
        limits=tuple(binding(judge.situation)),
        path=slowest_path(judge.situation),
        sharing=sharing_of(judge.situation),
        growth=tuple(growth_of(judge.situation)),
        mending=mending_of(judge),
        what_if=what_ifs(judge, explained, what_if, left),
        survival=survival,
    )


def _unknown_loads(problem: Problem) -> Iterator[str]:
    """A line where only sizes of tuples are missing to tell whether processors keep up."""
    graph = problem.instances
    unknown = set(graph.operator_of[np.isnan(graph.load)].tolist())
    sizeless = np.isfinite(graph.stream_rate) & np.isnan(graph.tuple_bytes)
    streams = [
        graph.streams[number]
        for number in np.flatnonzero(sizeless).tolist()
        if unknown.intersection(graph.stream_ends[number].tolist())
    ]
    if streams:
        some = ", ".join(f"{stream.sender} -> {stream.receiver}" for stream in streams[:3])
        more = f" and {len(streams) - 3} more" if len(streams) > 3 else ""
        yield f"whether processors keep up is not known: no tuple_bytes of {some}{more}"


def _instances(problem: Problem, names: Sequence[str]) -> set[int]:
    """The instances that names mean: an instance, an operator, or an operator without its application."""
    graph = problem.instances
    short: dict[str, list[int]] = {}
    for item in graph.operators:
        for number in item.instances:
            for name in {item.name, graph.names[number]}:
                short.setdefault(name, []).append(number)
                short.setdefault(name.partition("/")[2], []).append(number)
    unknown = [name for name in names if name not in short]
    if unknown:
        raise BadInput([f"--operator: no operator {did_you_mean(name, short)}" for name in unknown])
    return {number for name in names for number in short[name]}


def _worst(judge: Judge, units: list[Unit]) -> list[Unit]:
    """As many units as can be explained at once: what is broken, then the slowest path, then traffic."""
    situation = judge.situation
    size = len(situation.graph) + len(situation.pairs.sender)
    most = max(FEWEST, int(MOST_CELLS / (size * len(situation.network.nodes))))
    if len(units) <= most:
        return units
    broken = {word.rstrip(":,") for line in judge.before.violations for word in line.split()}
    on_path = set(critical_path(situation))
    rates = np.nan_to_num(situation.pairs.rate)
    traffic = np.bincount(situation.pairs.sender, rates, len(situation.graph))
    traffic += np.bincount(situation.pairs.receiver, rates, len(situation.graph))

    def rank(unit: Unit) -> tuple[bool, bool, float, int]:
        members = unit.members.tolist()
        named = {situation.graph.names[number] for number in members}
        if unit.node >= 0:
            named.add(situation.network.nodes[unit.node].name)
        return not named & broken, not on_path & set(members), -float(traffic[members].sum()), unit.first

    return sorted(sorted(units, key=rank)[:most], key=lambda unit: unit.first)
