"""What happens to a running plan from outside: other rates, failures, migrations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from berth.model import BadInput, Plan, Problem
from berth.model.suggest import did_you_mean


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
class Events:
    """Everything that happens, in any order."""

    rates: tuple[RateChange, ...] = ()
    failures: tuple[Failure, ...] = ()
    migrations: tuple[Migration, ...] = ()


def check_events(problem: Problem, events: Events) -> None:
    """Make sure that times and names make sense.

    Raises:
        BadInput: a line for each mistake, with the path of the field.
    """
    mistakes = [*_rates(problem, events), *_failures(problem, events), *_migrations(events)]
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


def _time(path: str, value: float) -> Iterator[str]:
    if not 0 <= value < math.inf:
        yield f"{path}: {value:g} is not a number from 0 on"
