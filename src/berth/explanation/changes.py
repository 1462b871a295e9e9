"""Problems with one thing more: a node, a faster or wider link, more of what is scarce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from berth.evaluation import Situation
from berth.evaluation.critical import critical_path
from berth.evaluation.limits import More, amount
from berth.explanation.limits import binding
from berth.model import Link, Network, Operator, Problem
from berth.model.links import LINK_FIELDS

COPY = "-2"


def changes_of(situation: Situation) -> Iterator[More]:
    """What could help, the most promising first: what is fullest, and what the slowest path goes over."""
    problem, full = situation.problem, binding(situation)
    scarce = [more for more in (use.of.more(problem, use) for use in full) if more is not None]
    paths = list(_faster_links(situation))
    fullest = next((use.node for use in full if use.node is not None), None)
    if fullest is None and len(situation.used_nodes):
        fullest = _most_used(situation)
    nodes = [] if fullest is None else [with_copy_of(problem, fullest)]
    for turn in range(max(len(scarce), len(paths), len(nodes))):
        yield from (group[turn] for group in (nodes, scarce, paths) if turn < len(group))


def _most_used(situation: Situation) -> int:
    count = np.bincount(situation.node_of[situation.running], minlength=len(situation.network.nodes))
    return int(count.argmax())


def _faster_links(situation: Situation) -> Iterator[More]:
    """The links of the slowest path with half their delay, the longest first."""
    nodes = situation.node_of[critical_path(situation)]
    _, hops = situation.network.table.physical_hops(nodes[:-1], nodes[1:])
    size = len(situation.network.nodes)
    delay = {divmod(int(hop), size): 0.0 for hop in hops}
    for ends in delay:
        delay[ends] = float(situation.network.table.delay_ms[ends])
    for ends in sorted(delay, key=lambda ends: -delay[ends]):
        if delay[ends] > 0:
            faster = delay[ends] / 2.0
            sender, receiver = (situation.network.nodes[end].name for end in ends)
            arrow = "<->" if situation.network.symmetric else "->"
            words = f"{sender} {arrow} {receiver} with half the delay ({amount(faster)} ms)"
            yield More("delay", words, situation.problem.with_link(*ends, "delay_ms", faster))


def _link(sender: str, receiver: str, given: Mapping[str, float]) -> Link:
    """A link with the fields that are given."""
    return replace(Link(sender, receiver), **given)  # type: ignore[arg-type]


def with_copy_of(problem: Problem, number: int) -> More:
    """The problem with one more node like another: linked as that is, and to it as that is to its nearest."""
    network = problem.network
    original = network.nodes[number]
    name = original.name + COPY
    while name in network.index:
        name += COPY
    copy = replace(original, name=name)
    links = [*network.links]
    for link in network.links:
        if original.name in (link.sender, link.receiver):
            ends = (name if end == original.name else end for end in (link.sender, link.receiver))
            links.append(replace(link, **dict(zip(("sender", "receiver"), ends, strict=True))))  # type: ignore[arg-type]
    links += _between(network, number, name)
    matrices = {field: _extended(matrix, number) for field, matrix in network.matrices.items()}
    larger = replace(network, nodes=(*network.nodes, copy), links=tuple(links), matrices=matrices)
    applications = tuple(
        replace(item, operators=tuple(_may_use(operator, original.name, name) for operator in item.operators))
        for item in problem.applications
    )
    changed = replace(problem, network=larger, applications=applications)
    return More("node", f"one more node like {original.name} ({name})", changed)


def _between(network: Network, number: int, name: str) -> list[Link]:
    """The links between a node and its copy: as to its nearest neighbour, unless coordinates tell."""
    original = network.nodes[number]
    if original.coordinates is not None:
        return []
    size, table = len(network.nodes), network.table
    others = np.delete(np.arange(size), number)
    links = []
    for forth in (True, False):
        here = np.full(len(others), number)
        ends = (here, others) if forth else (others, here)
        delay = np.asarray(table.delay_ms[ends])
        if not len(delay) or np.isnan(delay).all():
            continue
        nearest = int(others[np.nanargmin(delay)])
        way = (number, nearest) if forth else (nearest, number)
        fields = {field: float(getattr(table, field)[way]) for field in LINK_FIELDS}
        given = {field: value for field, value in fields.items() if np.isfinite(value)}
        names = (original.name, name) if forth else (name, original.name)
        links.append(_link(*names, given))
    return links


def _extended(matrix: np.ndarray, number: int) -> np.ndarray:
    """A matrix with a row and a column more, like those of a node."""
    order = [*range(len(matrix)), number]
    return matrix[np.ix_(order, order)]


def _may_use(operator: Operator, original: str, copy: str) -> Operator:
    """What may run on several nodes, and on the original, may run on its copy."""
    price = operator.placement_cost
    if original in price:
        operator = replace(operator, placement_cost={**price, copy: price[original]})
    candidates = operator.candidates
    if candidates is None or len(candidates) < 2 or original not in candidates:
        return operator
    return replace(operator, candidates=(*candidates, copy))
