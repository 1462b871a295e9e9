"""The exact engine: from a goal to a plan with a proved bound.

Graphs of a known shape (`structure/`) and goals that are sums (`additive/`) come first. What they don't
settle goes through those of `METHODS` that suit a placement, until one settles it; the general one suits all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation import Setting, Situation
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between
from berth.evaluation.situation import assignment_of
from berth.exact.additive.sums import solve_sums
from berth.exact.costs import least_costs, least_without_a_model
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement, Sampling
from berth.exact.relaxed.solve import solve_by_relaxation
from berth.exact.start import first_packed_plan, first_plan
from berth.exact.structure.any_shape import solve_small_graph
from berth.exact.structure.by_shape import solve_by_structure
from berth.exact.structure.near import near_candidates, solve_near
from berth.exact.survival.failovers import Failovers
from berth.exact.survival.pipelines import solve_pipeline_failovers
from berth.exact.task import ExactTask, Found, Progress, Ties, concluded
from berth.exact.units import InUnit, unit_of
from berth.model import Plan

IndexArray = NDArray[np.intp]

LARGEST_MODEL = 2_000_000
"""Combinations of candidates beyond which no model is built: it would not fit, nor be solved."""
ROUNDED = 1e-7
"""A gap that the searches for special graphs and sums leave open themselves, so as not to chase rounding."""
LARGEST_LOOKAHEAD = 200_000_000
"""Combinations of candidates beyond which not even all path times are looked at."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The best plan found and what is proved about it."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    nodes: IndexArray | None = None
    """The node of each instance."""
    objective: float | None = None
    bound: float | None = None
    trace: dict[str, Any] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    """The container of each instance that needs one."""
    failover: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each loss that has to be survived, the new nodes of what moves."""


def _general(task: ExactTask) -> Found:
    # The solver takes half a second to load: commands that solve nothing need not wait for it.
    from berth.exact.general import solve_general

    return solve_general(task)


Method = Callable[[ExactTask], Found | None]
"""A way to solve a task exactly; None where it doesn't hold all its constraints and metrics."""
METHODS: dict[str, Method] = {
    "search": solve_small_graph,
    "relaxation": solve_by_relaxation,
    "general": _general,
}


def minimise(
    setting: Setting,
    goal: Goal,
    budget: Budget,
    seed: int = 0,
    gap: float = 0.0,
    sampling: Sampling | None = None,
    progress: Progress = lambda objective, bound: None,
    ties: Ties = "any",
    known: Plan | None = None,
    staying: IndexArray | None = None,
) -> Solution:
    """The plan that is best for the goal among those that keep every constraint, after every loss as well.

    `known` is a plan of somebody else's: what is found is at least as good, if that one breaks nothing.
    `staying` has the node of each instance that stays there, and -1 for those that may go anywhere.
    """
    placement = Placement(setting, sampling, staying=staying)
    unit = unit_of(goal, placement)
    if unit != 1.0:
        told = progress
        goal = InUnit(goal.weights, goal.scale, goal.bounds, inner=goal, factor=unit)
        progress = lambda objective, bound: told(*(_in_unit(value, 1 / unit) for value in (objective, bound)))  # noqa: E731
    solution = _minimise(placement, goal, budget, seed, gap, progress, ties, known)
    return replace(
        solution,
        objective=_in_unit(solution.objective, 1 / unit),
        bound=_in_unit(solution.bound, 1 / unit),
    )


def _in_unit(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit


def _minimise(
    placement: Placement,
    goal: Goal,
    budget: Budget,
    seed: int,
    gap: float,
    progress: Progress,
    ties: Ties,
    known: Plan | None,
) -> Solution:
    setting = placement.setting
    if any(len(nodes) == 0 for nodes in placement.candidates):
        return Solution("infeasible", trace={"method": "candidates"})
    for ceiling in setting.ceilings:
        if (
            ceiling.goal.single == "response_time"
            and placement.gridable
            and placement.size <= LARGEST_LOOKAHEAD
        ):
            placement.keep(PathTimes(placement).within(ceiling.limit))
            near = near_candidates(placement, ceiling.limit)
            if near is not None:
                placement.keep(near)
    failovers = _failovers(setting, goal, budget, seed)
    judge = _Judge(placement, failovers)
    task = ExactTask(placement, goal, budget, judge.metrics, seed, gap, progress, ties, failovers=failovers)
    told = None if known is None else judge.plan(goal, placement.solution_of(known))
    trivial = least_without_a_model(goal, placement)
    if told is not None and ties == "any" and np.isfinite(trivial):
        # what is known already may be as good as anything can be
        bound = _bound(goal, trivial)
        if bound is not None and gap_between(told.objective, bound) <= ROUNDED:
            return _concluded(placement, goal, told, bound, True, {"method": "known"})
    shaped = _by_shape(task) if ties == "any" else None
    if shaped is not None and shaped.outcome in ("optimal", "infeasible"):
        return _by_structure(placement, goal, shaped, judge)
    looks_ahead = goal.single == "response_time" and placement.size <= LARGEST_LOOKAHEAD
    times = PathTimes(placement) if looks_ahead and placement.gridable else None
    first = first_packed_plan if placement.packings else first_plan
    start = judge.plan(goal, first(placement, goal, times))
    start = _better(goal, start, told)
    if shaped is not None:
        start = _better(goal, start, judge.plan(goal, shaped.nodes))
    if start is not None:
        progress(start.objective, None)
        if times is not None:
            placement.keep(times.within(start.objective))
    least = -np.inf if times is None else times.least(times.order)
    least = max(least, trivial) if shaped is None else max(least, trivial, shaped.bound)
    if shaped is not None and start is not None:
        bound = _bound(goal, least)
        missed = np.inf if bound is None else gap_between(start.objective, bound)
        if missed <= OPTIMAL_GAP or budget.over:
            return _concluded(placement, goal, start, bound, missed <= ROUNDED, dict(shaped.trace))
    if placement.size > LARGEST_MODEL:
        return _too_large(placement, goal, start, least)
    blocks = None if start is None else start.blocks
    found, method = _solved(replace(task, start=blocks, least=-np.inf if shaped is None else least))
    trace = {"method": method, "combinations": placement.size, "solves": found.solves, **found.trace}
    if shaped is not None:
        trace["structure"] = {**shaped.trace, "bound": shaped.bound}
    if found.outcome == "infeasible":
        if start is None:
            return Solution("infeasible", trace=trace)
        trace["contradiction"] = "the solver found no plan, but there is one: its verdict does not count"
        found = Found("feasible", start.blocks, -np.inf)
    best = _better(goal, start, judge.plan(goal, found.nodes))
    bound = _bound(goal, max(found.bound, least))
    if best is None:
        return Solution("unknown", bound=bound, trace=trace)
    return _concluded(placement, goal, best, bound, found.outcome == "optimal", trace)


def _by_shape(task: ExactTask) -> Found | None:
    """What is found for graphs of a known shape and for sums; None: neither is the case."""
    methods = (solve_by_structure, solve_near, solve_pipeline_failovers, solve_sums)
    return next((found for found in (method(task) for method in methods) if found is not None), None)


def _failovers(setting: Setting, goal: Goal, budget: Budget, seed: int) -> Failovers | None:
    """What finds failovers, the fastest ones where that counts; None where nothing has to be survived."""
    goals = (goal, *(ceiling.goal for ceiling in setting.ceilings))
    fastest = any("failover_response_time" in item.weights for item in goals)
    return Failovers(setting, budget, seed, fastest) if setting.problem.losses else None


def _solved(task: ExactTask) -> tuple[Found, str]:
    """What the methods that suit a task come to, and the name of the last one."""
    least, last = -np.inf, (Found("unknown", None, -np.inf), "")
    for name, method in METHODS.items():
        found = method(task)
        if found is None:
            continue
        least = max(least, found.bound)
        trace = {**last[0].trace, **found.trace}
        last = replace(found, bound=least, trace=trace), name
        if found.outcome in ("optimal", "infeasible") or task.budget.over:
            break
        start = task.start if found.nodes is None else found.nodes
        task = replace(task, start=start, least=max(task.least, found.bound))
    return last


def _by_structure(placement: Placement, goal: Goal, found: Found, judge: _Judge) -> Solution:
    """What the shape of the graph alone has settled."""
    if found.outcome == "infeasible":
        return Solution("infeasible", trace=found.trace)
    # Of equally good plans the greedy one: what the goal doesn't ask for is better there, as a rule. It knows
    # nothing of ceilings, and hardly ever keeps one.
    quick = placement.size <= LARGEST_MODEL and not placement.setting.ceilings
    greedy = judge.plan(goal, first_plan(placement, goal, None)) if quick else None
    best, bound = _better(goal, judge.plan(goal, found.nodes), greedy), _bound(goal, found.bound)
    if best is None:
        return Solution("unknown", bound=bound, trace=found.trace)
    return _concluded(placement, goal, best, bound, found.outcome == "optimal", dict(found.trace))


@dataclass(frozen=True, eq=False)
class _Judged:
    """A plan that keeps every constraint, by the judge."""

    blocks: IndexArray
    objective: float
    magnitude: float
    failover: dict[str, dict[str, str]]


class _Judge:
    """Evaluates plans given by the nodes of their blocks."""

    def __init__(self, placement: Placement, failovers: Failovers | None) -> None:
        self._placement, self._failovers = placement, failovers

    def metrics(self, blocks: IndexArray) -> dict[str, float] | None:
        """A plan's metrics; None if it breaks a constraint."""
        setting = self._placement.setting
        nodes = self._placement.nodes_of_instances(blocks)
        containers = self._placement.containers_of_instances(blocks)
        plan = Plan(assignment_of(setting.problem, nodes), containers=containers)
        if self._failovers is not None:
            if Situation(setting, plan).broken:
                return None
            moves = self._failovers.moves(nodes)
            if moves is None:
                return None
            plan = replace(plan, failover=moves)
        evaluation = evaluation_of(Situation(setting, plan))
        return None if evaluation.violations else evaluation.metrics

    def _failover(self, blocks: IndexArray) -> dict[str, dict[str, str]]:
        """What moves where after which loss, in a plan that keeps every constraint."""
        if self._failovers is None:
            return {}
        return self._failovers.moves(self._placement.nodes_of_instances(blocks)) or {}

    def plan(self, goal: Goal, blocks: IndexArray | None) -> _Judged | None:
        """A plan with its objective, if there is one and it keeps every constraint."""
        metrics = None if blocks is None else self.metrics(blocks)
        objective = None if metrics is None else goal.value(metrics)
        if blocks is None or metrics is None or objective is None:
            return None
        return _Judged(blocks.copy(), objective, goal.magnitude(metrics), self._failover(blocks))


def _better(goal: Goal, one: _Judged | None, other: _Judged | None) -> _Judged | None:
    if one is None or other is None:
        return one or other
    sign = -1.0 if goal.maximise else 1.0
    margin = 1e-12 * abs(one.objective)
    return one if sign * one.objective < sign * other.objective - margin else other


def _bound(goal: Goal, costs: float) -> float | None:
    """A bound in the goal's terms, never beyond what the metric can be at all."""
    if not np.isfinite(costs):
        return None
    bound = goal.from_costs(costs)
    if goal.single == "availability":
        return min(bound, 1.0)
    return max(bound, 0.0 if goal.single is not None else goal.floor)


def _concluded(
    placement: Placement, goal: Goal, best: _Judged, bound: float | None, proved: bool, trace: dict[str, Any]
) -> Solution:
    # Floating point can't tell apart what differs by less than this.
    noise = 1e-9 * (best.magnitude + abs(goal.constant))
    if goal.single != "availability":
        noise += 1e-12
    status, bound = concluded(goal, best.objective, bound, noise, proved, trace)
    return Solution(
        status,
        placement.nodes_of_instances(best.blocks),
        best.objective,
        bound,
        trace,
        placement.containers_of_instances(best.blocks),
        best.failover,
    )


def _too_large(placement: Placement, goal: Goal, start: _Judged | None, least: float) -> Solution:
    """No model: the greedy plan, with what is known without one as the bound."""
    trace = {"method": "greedy", "combinations": placement.size}
    costs = max(least, least_costs(goal, placement))
    if start is None:
        return Solution("unknown", bound=_bound(goal, costs), trace=trace)
    return _concluded(placement, goal, start, _bound(goal, costs), False, trace)
