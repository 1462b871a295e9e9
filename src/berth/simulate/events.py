"""What happens to a running plan from outside: other rates, failures, migrations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import BadInput, InstanceGraph, Plan, Problem
from berth.model.errors import did_you_mean
from berth.simulate.options import Options

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RateChange:
    """From a time on, sources emit so many times what the problem says."""

    at_s: float
    factor: float
    sources: tuple[str, ...] | None = None
    """Operators as `application/operator`; None: all sources."""


@dataclass(frozen=True)
class Failure:
    """A node is down from one time to another; None: to the end."""

    node: str
    at_s: float
    until_s: float | None = None


@dataclass(frozen=True)
class Migration:
    """From a time on, another plan is in force."""

    at_s: float
    plan: Plan


@dataclass(frozen=True)
class NodeLoss:
    """A loss as the problem's `survive` has it, for good: the plan's failover begins when it is noticed."""

    name: str
    """The node, or the value of the label."""
    at_s: float


@dataclass(frozen=True)
class Outage:
    """A node that was down; None: to the end."""

    node: str
    begin_s: float
    end_s: float | None


@dataclass(frozen=True)
class Events:
    """Everything that happens, in any order."""

    rates: tuple[RateChange, ...] = ()
    failures: tuple[Failure, ...] = ()
    migrations: tuple[Migration, ...] = ()
    losses: tuple[NodeLoss, ...] = ()


def check_events(problem: Problem, events: Events) -> None:
    """Make sure that times and names make sense.

    Raises:
        BadInput: a line for each mistake, with the path of the field.
    """
    mistakes = [*_rates(problem, events), *_failures(problem, events), *_migrations(events)]
    mistakes += _losses(problem, events)
    if mistakes:
        raise BadInput(mistakes)


def _rates(problem: Problem, events: Events) -> Iterator[str]:
    graph = problem.instances
    for number, change in enumerate(events.rates):
        path = f"rates[{number}]"
        yield from _time(f"{path}.at_s", change.at_s)
        yield from _time(f"{path}.factor", change.factor)
        for place, name in enumerate(change.sources or ()):
            if name not in graph.operator_index:
                yield f"{path}.sources[{place}]: no operator {did_you_mean(name, graph.operator_index)}"
            elif graph.inputs[graph.operator_index[name]]:
                yield f"{path}.sources[{place}]: {name} is no source: it has inputs"


def _failures(problem: Problem, events: Events) -> Iterator[str]:
    for number, failure in enumerate(events.failures):
        path = f"failures[{number}]"
        if failure.node not in problem.network.index:
            yield f"{path}.node: no node {did_you_mean(failure.node, problem.network.index)}"
        yield from _time(f"{path}.at_s", failure.at_s)
        if failure.until_s is not None and not failure.at_s < failure.until_s < math.inf:
            yield f"{path}.until_s: {failure.until_s:g} is not after at_s, {failure.at_s:g}"


def _migrations(events: Events) -> Iterator[str]:
    for number, migration in enumerate(events.migrations):
        yield from _time(f"migrations[{number}].at_s", migration.at_s)


def _losses(problem: Problem, events: Events) -> Iterator[str]:
    known = [loss.name for loss in problem.losses]
    first: dict[str, int] = {}
    for number, loss in enumerate(events.losses):
        path = f"losses[{number}]"
        if problem.survive is None:
            yield f"{path}.name: the problem has nothing to survive; give it survive: node, or use failures"
        elif loss.name not in known:
            yield f"{path}.name: no loss {did_you_mean(loss.name, known)}"
        elif loss.name in first:
            yield f"{path}.name: {loss.name} is lost already, in losses[{first[loss.name]}]"
        first.setdefault(loss.name, number)
        yield from _time(f"{path}.at_s", loss.at_s)


def _time(path: str, value: float) -> Iterator[str]:
    if not 0 <= value < math.inf:
        yield f"{path}: {value:g} is not a number from 0 on"


def changed_rates(factor: FloatArray, change: RateChange, graph: InstanceGraph) -> FloatArray:
    """The factors of all instances after a change."""
    if change.sources is None:
        return np.full(len(factor), float(change.factor))
    after = factor.copy()
    for name in change.sources:
        after[list(graph.operators[graph.operator_index[name]].instances)] = change.factor
    return after


def tuples_coming(
    rate: FloatArray, changes: tuple[RateChange, ...], graph: InstanceGraph, duration: float
) -> float:
    """How many tuples are expected to come in, of sources with such rates."""
    factor, last, total = np.ones(len(rate)), 0.0, 0.0
    for change in sorted(changes, key=lambda each: each.at_s):
        time = min(change.at_s, duration)
        total += float((rate * factor).sum()) * (time - last)
        factor, last = changed_rates(factor, change, graph), time
    return total + float((rate * factor).sum()) * (duration - last)


def outages(
    problem: Problem, options: Options, events: Events, random: np.random.Generator
) -> tuple[Outage, ...]:
    """All outages that begin before the end, by time."""
    found = [Outage(item.node, item.at_s, item.until_s) for item in events.failures]
    lost = {loss.name: loss.nodes.tolist() for loss in problem.losses}
    nodes = problem.network.nodes
    found += [Outage(nodes[node].name, item.at_s, None) for item in events.losses for node in lost[item.name]]
    if options.mean_repair_s is not None:
        for node in problem.network.nodes:
            if node.hosts and node.availability < 1:
                found += _drawn(node.name, node.availability, options, options.mean_repair_s, random)
    begun = [outage for outage in found if outage.begin_s < options.duration_s]
    return tuple(sorted(begun, key=lambda outage: outage.begin_s))


def _drawn(
    node: str, availability: float, options: Options, repair: float, random: np.random.Generator
) -> list[Outage]:
    """Times up and down in turn, both exponential; a node without any availability never comes up."""
    if availability == 0:
        return [Outage(node, 0.0, None)]
    found: list[Outage] = []
    time = 0.0
    while True:
        time += random.exponential(repair * availability / (1.0 - availability))
        if time >= options.duration_s:
            return found
        back = time + random.exponential(repair)
        found.append(Outage(node, time, back))
        time = back
