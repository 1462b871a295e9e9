"""What is minimised: one metric, or a weighted sum of several, raw or normalised (SAW, 000 eq. 9 and 22)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from berth.evaluation.metrics import METRIC_BY_NAME
from berth.evaluation.situation import data_unit_bytes
from berth.model import Plan, Problem

OPTIMAL_GAP = 1e-6
"""The largest gap of a plan that is called optimal."""
SMALLEST_AVAILABILITY = 1e-300
"""Stands for an availability of 0 where its logarithm is needed in a weighted sum."""
ANY_AVAILABILITY = 1e6
"""A limit of costs that even plans of many parts keep of which each has an availability of 0."""


@dataclass(frozen=True)
class Goal:
    """Weights over metrics, and how they are brought to one scale."""

    weights: Mapping[str, float]
    scale: Literal["normalised", "raw"] = "normalised"
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """[best, worst] of every metric in a normalised sum."""
    floor: float = -math.inf
    """No plan is below it: 0 for normalised sums where every best is proved."""

    @property
    def single(self) -> str | None:
        """The metric's name where there is only one: then its value itself counts."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None

    @property
    def unit(self) -> str:
        """What its value is counted in; weighted sums have no unit."""
        return "" if self.single is None else METRIC_BY_NAME[self.single].unit

    @property
    def maximise(self) -> bool:
        """Whether more is better: a single metric that is maximised."""
        return self.single is not None and METRIC_BY_NAME[self.single].maximise

    @property
    def without_losses(self) -> Goal:
        """What comes nearest to it where nothing is lost: response times instead of those after a loss."""
        lost, there = "failover_response_time", "response_time"
        if lost not in self.weights:
            return self
        weights = {there if name == lost else name: weight for name, weight in self.weights.items()}
        bounds = {there if name == lost else name: pair for name, pair in self.bounds.items()}
        return replace(self, weights=weights, bounds=bounds)

    def coefficient(self, name: str) -> float:
        """What one unit of a metric (of the logarithm, for a normalised availability) adds, minimising."""
        metric = METRIC_BY_NAME[name]
        sign = -1.0 if metric.maximise else 1.0
        if self.single is not None:
            return sign
        if self.scale == "raw":
            return sign * self.weights[name]
        best, worst = (on_scale(name, value) for value in self.bounds[name])
        # A metric whose range is zero is a constant (erratum E0.3).
        return 0.0 if worst == best else self.weights[name] / (worst - best)

    @property
    def constant(self) -> float:
        """What a normalised sum adds to the coefficients' sum, whatever the plan."""
        if self.single is not None or self.scale == "raw":
            return 0.0
        return -sum(self.coefficient(name) * on_scale(name, self.bounds[name][0]) for name in self.weights)

    def from_costs(self, total: float) -> float:
        """The objective from a sum of costs by these coefficients (logarithms, for availability alone)."""
        return math.exp(-total) if self.single == "availability" else total + self.constant

    def magnitude(self, metrics: Mapping[str, float]) -> float:
        """The size of what is added up: differences far below it are rounding."""
        values = {name: metrics[METRIC_BY_NAME[name].key] for name in self.weights}
        log = self.scale == "normalised"
        return sum(
            abs(self.coefficient(name) * (on_scale(name, value) if log else value))
            for name, value in values.items()
        )

    def costs(self, metrics: Mapping[str, float]) -> float:
        """The sum of costs from which `from_costs` makes the objective of a plan with these metrics."""
        value = self.value(metrics)
        if value is None:
            return math.inf
        return -on_scale("availability", value) if self.single == "availability" else value - self.constant

    def value(self, metrics: Mapping[str, float]) -> float | None:
        """The objective of a plan with these metrics; None where a metric is missing."""
        if any(METRIC_BY_NAME[name].key not in metrics for name in self.weights):
            return None
        values = {name: metrics[METRIC_BY_NAME[name].key] for name in self.weights}
        if self.single is not None:
            return values[self.single]
        if self.scale == "raw":
            return sum(self.coefficient(name) * value for name, value in values.items())
        return sum(
            self.coefficient(name) * (on_scale(name, value) - on_scale(name, self.bounds[name][0]))
            for name, value in values.items()
        )


@dataclass(frozen=True)
class Ceiling:
    """A goal that must not get worse than a value while another one is sought."""

    goal: Goal
    limit: float
    """In the goal's terms; what is maximised must not be below it."""

    @classmethod
    def near(cls, goal: Goal, best: float, within: float) -> Ceiling:
        """Near enough to a goal's best value: a share of it, or for normalised sums an absolute distance."""
        absolute = goal.single is None and goal.scale == "normalised"
        slack = within if absolute else within * abs(best)
        return cls(goal, best - slack if goal.maximise else best + slack)

    @property
    def costs(self) -> float:
        """The sum of costs at the limit, from which `from_costs` makes the limit."""
        if self.goal.single == "availability":
            return -math.log(self.limit) if self.limit > SMALLEST_AVAILABILITY else ANY_AVAILABILITY
        return self.limit - self.goal.constant

    def keeps(self, metrics: Mapping[str, float]) -> bool:
        """Whether a plan with these metrics is near enough."""
        value = self.goal.value(metrics)
        if value is None:
            return False
        rounding = 1e-12 * max(abs(self.limit), abs(value))
        if self.goal.single is None:
            # it may come to 0 by chance; what is added up in it doesn't
            rounding += 1e-12
        return value >= self.limit - rounding if self.goal.maximise else value <= self.limit + rounding

    @property
    def words(self) -> str:
        """What it asks for, in words."""
        names = " + ".join(name.replace("_", " ") for name in self.goal.weights)
        return f"{names} {'at least' if self.goal.maximise else 'at most'} {self.limit:.6g}"


def on_scale(name: str, value: float) -> float:
    """A metric on the scale of the normalisation: availability by its logarithm."""
    return math.log(max(value, SMALLEST_AVAILABILITY)) if name == "availability" else value


def gap_between(objective: float, bound: float) -> float:
    """The contract's gap: relative to the objective."""
    return abs(objective - bound) / max(abs(objective), 1e-9)


def goal_mistakes(problem: Problem) -> Iterator[str]:
    """Weights on metrics that can't be known from this problem."""
    ordered = problem.then is not None
    for number, weights in enumerate(problem.objectives):
        yield from _level_mistakes(problem, weights, f"objective[{number}]" if ordered else "objective")


def _level_mistakes(problem: Problem, weights: Mapping[str, float], level: str) -> Iterator[str]:
    for name in weights:
        path = f"{level}.{name}"
        if METRIC_BY_NAME[name].needs_rates:
            yield from _unknown_rates(problem, path)
        packs = any(application.containers is not None for application in problem.applications)
        if name in ("containers_used", "container_traffic") and not packs:
            yield f"{path}: no application has containers"
        if name == "processing_power":
            for number, application in enumerate(problem.applications):
                if application.throughput_per_s is None:
                    yield f"{path}: applications[{number}] has no throughput_per_s"
        if name == "enrolled_card":
            unlimited = [n for n in problem.network.nodes if n.hosts and math.isinf(n.nic_bytes_per_s)]
            yield from (f"{path}: node '{node.name}' has no nic_bytes_per_s" for node in unlimited)
        if name == "utilisation_max":
            yield from unknown_loads(problem, path)
        if name == "failover_response_time" and not problem.losses:
            yield f"{path}: {_why_nothing_is_lost(problem)}"
        if name == "loaded_response_time":
            yield from _unknown_sizes(problem, path)


def _why_nothing_is_lost(problem: Problem) -> str:
    if problem.survive is None:
        return "nothing is lost without 'survive'; add survive: node, or survive: {label: ...}"
    return f"no node has the label '{problem.survive.label}' of 'survive', so nothing is lost"


def unknown_loads(problem: Problem, path: str) -> Iterator[str]:
    """Operators that work and of whose work nobody knows how much it is: the streams that leave it open."""
    graph = problem.instances
    unknown = np.unique(graph.operator_of[np.isnan(graph.load)]).tolist()
    for operator in unknown:
        item = graph.operators[operator]
        ends = graph.stream_ends
        streams = np.flatnonzero(ends[:, 1] == operator)
        streams = streams if len(streams) else np.flatnonzero(ends[:, 0] == operator)
        if not len(streams):
            yield f"{path}: {item.name} has no streams, so its load is unknown; give it some"
        for number in streams.tolist():
            lacking = []
            if np.isnan(graph.stream_rate[number]):
                lacking.append("no rate (bytes_per_s, or emits_bytes_per_s of its source)")
            if np.isnan(graph.tuple_bytes[number]):
                lacking.append("no tuple_bytes")
            if lacking:
                lacks = f"{_stream(problem, number)} has {' and '.join(lacking)}"
                yield f"{path}: {lacks}, so the load of {item.name} is unknown"


def _unknown_rates(problem: Problem, path: str) -> Iterator[str]:
    for number in np.flatnonzero(np.isnan(problem.instances.stream_rate)).tolist():
        advice = "give it bytes_per_s or its source emits_bytes_per_s"
        yield f"{path}: {_stream(problem, number)} has no rate; {advice}"


def _unknown_sizes(problem: Problem, path: str) -> Iterator[str]:
    """The size of a data unit counts where its sender may sit behind a limited network card."""
    graph = problem.instances
    for number in np.flatnonzero(np.isnan(data_unit_bytes(problem))).tolist():
        sender = int(graph.stream_ends[number, 0])
        if np.isfinite(problem.network.nic_bytes_per_s[graph.allowed_nodes[sender]]).any():
            yield f"{path}: {_stream(problem, number)} has no size; give its sender output_bytes"


def _stream(problem: Problem, number: int) -> str:
    graph = problem.instances
    stream = graph.streams[number]
    application = graph.operators[graph.stream_ends[number, 0]].application
    first = sum(len(item.streams) for item in problem.applications[:application])
    return f"applications[{application}].streams[{number - first}] ({stream.sender} -> {stream.receiver})"


def common_goal(problem: Problem, plans: Iterable[Plan] = ()) -> Goal | None:
    """The problem's objective, to measure any plan by; None where a normalised sum has no scale.

    Bounds are the problem's own, or those of the first plan that was made for this version of it.
    """
    goal = Goal(problem.objective, problem.objective_scale)
    if goal.single is not None or goal.scale == "raw":
        return goal
    for told in ({}, *(recorded_bounds(problem, plan) for plan in plans)):
        bounds = {**told, **problem.objective_bounds}
        if bounds.keys() >= goal.weights.keys():
            return replace(goal, bounds={name: bounds[name] for name in goal.weights})
    return None


def recorded_bounds(problem: Problem, plan: Plan) -> dict[str, tuple[float, float]]:
    """The bounds that a plan's solver used, as far as its trace says so in a form that can be used.

    Those of another version of the problem say nothing about this one.
    """
    recorded = plan.trace.get("objective_bounds")
    if not isinstance(recorded, Mapping) or plan.is_of_another_version(problem.fingerprint):
        return {}
    return {
        str(name): (float(pair[0]), float(pair[1]))
        for name, pair in recorded.items()
        if isinstance(pair, list | tuple) and len(pair) == 2 and all(map(_is_number, pair))
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
