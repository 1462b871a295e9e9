"""Where operators may run: candidates, hosts and rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.feasibility import apart_place_of
from berth.model import Apart, Problem, Together
from berth.policies.many.lists import lists_of

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Rules(NamedTuple):
    """What single units and pairs of them are allowed."""

    home: IntArray
    """Of every operator, its row of `allowed`."""
    allowed: BoolArray
    """By row and node: candidates that host, within `where` rules."""
    first: IntArray
    other: IntArray
    """Of every unit, those with which it has a rule."""
    row: IntArray
    """-1: both on one node; else the row of `place` in which their nodes must differ."""
    place: IntArray


def rules_of(problem: Problem) -> Rules:
    """The arrays of a problem's rules."""
    graph, size = problem.instances, len(problem.network.nodes)
    rows: dict[int, int] = {}
    home = [rows.setdefault(id(nodes), len(rows)) for nodes in graph.allowed_nodes]
    allowed = np.zeros((len(rows), size), dtype=bool)
    for number, nodes in zip(home, graph.allowed_nodes, strict=True):
        allowed[number, nodes] = True
    places: dict[str | None, int] = {}
    units: list[int] = []
    others: list[int] = []
    kinds: list[int] = []
    for application in problem.applications:
        for rule in application.rules:
            if not isinstance(rule, Together | Apart):
                continue
            row = -1 if isinstance(rule, Together) else places.setdefault(rule.by, len(places))
            members = [
                unit
                for name in dict.fromkeys(rule.operators)
                for unit in graph.operators[graph.operator_index[f"{application.name}/{name}"]].instances
            ]
            pairs = [(one, two) for one in members for two in members if one != two]
            units += [one for one, _ in pairs]
            others += [two for _, two in pairs]
            kinds += [row] * len(pairs)
    first, order = lists_of(np.array(units, dtype=np.int64), len(graph))
    return Rules(
        np.array(home, dtype=np.int64),
        allowed,
        first,
        np.array(others, dtype=np.int64)[order],
        np.array(kinds, dtype=np.int64)[order],
        _places(problem, list(places)),
    )


def _places(problem: Problem, labels: list[str | None]) -> IntArray:
    """For every label the number of each node's place: equal where two nodes count as one."""
    found = np.zeros((len(labels), len(problem.network.nodes)), dtype=np.int64)
    for row, by in enumerate(labels):
        numbers: dict[tuple[str, str], int] = {}
        for number, node in enumerate(problem.network.nodes):
            found[row, number] = numbers.setdefault(apart_place_of(node, by), len(numbers))
    return found
