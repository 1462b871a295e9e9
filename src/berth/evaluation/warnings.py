"""What breaks no constraint and is worth knowing all the same."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from berth.amounts import shortened
from berth.evaluation.limits import amount, exceeds
from berth.evaluation.situation import Situation
from berth.model import Apart, Problem, Spread, Where
from berth.model.errors import question

MOST_VALUES = 6
"""Values of a label that are named where a rule asks for another one."""


def warnings(situation: Situation) -> Iterator[str]:
    """One line for each: first what the plan overloads, then what looks like a mistake in the problem."""
    if situation.network.max_utilisation is None and not situation.reuse_mistakes:
        yield from _overloaded(situation)
    yield from problem_warnings(situation.problem)


def _overloaded(situation: Situation) -> Iterator[str]:
    """Nodes that can't keep up, and instances that a core can't keep up with."""
    network, nodes = situation.network, situation.network.nodes
    needed = situation.node_load
    for number in np.flatnonzero(needed > network.processors).tolist():
        if exceeds(needed[number], network.processors[number]):
            yield f"node {nodes[number].name}: {_needed(needed[number], network.processors[number])}"
    loads, speed = situation.load[situation.running], network.speed[situation.node_of[situation.running]]
    several = network.cores[situation.node_of[situation.running]] > 1.0
    for position in np.flatnonzero((loads > speed) & several).tolist():
        if exceeds(loads[position], speed[position]):
            name = situation.graph.names[situation.running[position]]
            yield f"{name}: {_needed(loads[position], speed[position])}"


def _needed(needed: float, there: float) -> str:
    return f"{amount(needed)} processors needed, {amount(there)} there"


_known: WeakKeyDictionary[Problem, tuple[str, ...]] = WeakKeyDictionary()


def problem_warnings(problem: Problem) -> tuple[str, ...]:
    """What looks like a mistake in a problem, whatever the plan."""
    found = _known.get(problem)
    if found is None:
        lines = (
            _labels(problem),
            _losses(problem),
            _isolated(problem),
            _unlinked(problem),
            _unshareable(problem),
        )
        found = _known[problem] = tuple(line for part in lines for line in part)
    return found


def _labels(problem: Problem) -> Iterator[str]:
    """Labels of rules, and of losses to survive, that no node has."""
    pairs = {(key, value) for node in problem.network.nodes for key, value in node.labels.items()}
    keys = sorted({key for key, _ in pairs})
    for application in problem.applications:
        for rule in application.rules:
            what = f"application {application.name}: rule for {', '.join(rule.operators)}"
            if isinstance(rule, Where):
                for key, value in rule.labels.items():
                    if (key, value) not in pairs:
                        values = sorted(other for name, other in pairs if name == key)
                        near = question(value, values) if values else question(key, keys)
                        if values and not near:
                            near = f" (there are {shortened(values, MOST_VALUES)})"
                        yield f"{what}: no node has the label {key}: {value}{near}"
            elif isinstance(rule, Apart | Spread) and rule.by is not None and rule.by not in keys:
                yield f"{what}: no node has the label {rule.by}{question(rule.by, keys)}"
    label = None if problem.survive is None else problem.survive.label
    if label is not None and label not in keys:
        yield f"survive: no node has the label {label}, so no loss is looked at{question(label, keys)}"


def _losses(problem: Problem) -> Iterator[str]:
    """Losses that leave no node to go to: everything is lost then, and nothing is asked of it."""
    for loss in problem.losses:
        if np.isin(problem.network.hosting, loss.nodes).all():
            yield f"survive: the loss of {loss.name} takes every node that hosts: nothing is left to survive"


def _isolated(problem: Problem) -> Iterator[str]:
    """Operators without streams in an application that has some."""
    for application in problem.applications:
        ends = {name for stream in application.streams for name in (stream.sender, stream.receiver)}
        for operator in application.operators if ends else ():
            if operator.name not in ends:
                yield f"operator {application.name}/{operator.name}: has no streams, as other operators have"


def _unlinked(problem: Problem) -> Iterator[str]:
    """Nodes that host and have no link."""
    network = problem.network
    for number in network.hosting.tolist() if len(network.nodes) > 1 else ():
        if not network.linked[number]:
            yield f"node {network.nodes[number].name}: hosts operators and has no link to any other node"


def _unshareable(problem: Problem) -> Iterator[str]:
    """Types of operators that equal none."""
    graph = problem.instances
    for number, item in enumerate(graph.operators):
        if item.operator.type is not None and not graph.inputs[number] and not item.operator.reads:
            yield f"operator {item.name}: its type can't be shared: it has neither inputs nor reads"
