"""Problems with one thing more: a node, a faster or wider link, more of what is scarce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from berth.evaluation import Situation
from berth.evaluation.bottleneck import Use
from berth.evaluation.critical import critical_path
from berth.evaluation.feasibility import amount
from berth.explanation.limits import binding
from berth.model import Link, Network, Node, Operator, Problem
from berth.model.links import LINK_FIELDS

COPY = "-2"


@dataclass(frozen=True, eq=False)
class Change:
    """A problem that differs in one thing, in words."""

    kind: str
    """node, delay, bandwidth, capacity, speed, card."""
    words: str
    problem: Problem


def changes_of(situation: Situation) -> Iterator[Change]:
    """What could help, the most promising first: what is fullest, and what the slowest path goes over."""
    problem, full = situation.problem, binding(situation)
    scarce = [more for more in (_more(situation, use) for use in full) if more is not None]
    paths = list(_faster_links(situation))
    fullest = next((name for name in (node_of(situation, use) for use in full) if name is not None), None)
    if fullest is None and len(situation.used_nodes):
        fullest = _most_used(situation)
    nodes = [] if fullest is None else [with_copy_of(problem, fullest)]
    for turn in range(max(len(scarce), len(paths), len(nodes))):
        yield from (group[turn] for group in (nodes, scarce, paths) if turn < len(group))


def _most_used(situation: Situation) -> int:
    count = np.bincount(situation.node_of[situation.running], minlength=len(situation.network.nodes))
    return int(count.argmax())


def node_of(situation: Situation, use: Use) -> int | None:
    """The node whose limit it is; None for links and requirements."""
    if use.kind in ("link", "response time", "availability"):
        return None
    return situation.network.index[use.name.partition(" ")[0] if use.kind == "capacity" else use.name]


def ends_of(situation: Situation, use: Use) -> tuple[int, int]:
    """The nodes at the ends of the link whose limit it is."""
    arrow = " <-> " if situation.network.duplex == "half" else " -> "
    sender, _, receiver = use.name.partition(arrow)
    return situation.network.index[sender], situation.network.index[receiver]


def _more(situation: Situation, use: Use) -> Change | None:
    """More of something that has a limit; None where more can't be had of it."""
    problem, node = situation.problem, node_of(situation, use)
    if use.kind == "link":
        wider = with_link(problem, *ends_of(situation, use), "bandwidth_bytes_per_s", 2.0 * use.limit)
        return wider if use.limit else None
    if node is None or use.kind.endswith("port"):
        return None
    item = situation.network.nodes[node]
    if use.kind == "processor":
        better, words = replace(item, speed=2.0 * item.speed), f"speed {amount(2 * item.speed)}"
        return Change("speed", f"{item.name} twice as fast ({words})", with_node(problem, node, better))
    if use.kind == "card":
        better = replace(item, nic_bytes_per_s=2.0 * item.nic_bytes_per_s)
        words = f"{item.name}'s network card twice as wide"
        return Change("card", words, with_node(problem, node, better)) if item.nic_bytes_per_s else None
    resource = use.name.partition(" ")[2]
    unit = _least_demand(problem, resource)
    size = item.capacity.get(resource, 0.0) + unit / (1.0 - problem.network.headroom)
    better = replace(item, capacity={**item.capacity, resource: size})
    words = f"{resource}: {amount(unit)} more on {item.name}"
    return Change("capacity", words, with_node(problem, node, better)) if unit else None


def _least_demand(problem: Problem, resource: str) -> float:
    """What one more needs at least: the smallest demand or container."""
    sizes = [item.operator.demand.get(resource, 0.0) for item in problem.instances.operators]
    sizes += [a.containers.capacity.get(resource, 0.0) for a in problem.applications if a.containers]
    return min((size for size in sizes if size > 0), default=0.0)


def _faster_links(situation: Situation) -> Iterator[Change]:
    """The links of the slowest path with half their delay, the longest first."""
    nodes = situation.node_of[critical_path(situation)]
    _, hops = situation.network.table.physical_hops(nodes[:-1], nodes[1:])
    size = len(situation.network.nodes)
    delay = {divmod(int(hop), size): 0.0 for hop in hops}
    for ends in delay:
        delay[ends] = float(situation.network.table.delay_ms[ends])
    for ends in sorted(delay, key=lambda ends: -delay[ends]):
        if delay[ends] > 0:
            yield with_link(situation.problem, *ends, "delay_ms", delay[ends] / 2.0)


def with_link(problem: Problem, sender: int, receiver: int, field: str, value: float) -> Change:
    """The problem with another value of a link; both ways where the network is symmetric."""
    network = problem.network
    names = network.nodes[sender].name, network.nodes[receiver].name
    ways = {names, names[::-1]} if network.symmetric else {names}
    kept, changed = [], []
    for link in network.links:
        if (link.sender, link.receiver) in ways:
            changed.append(replace(link, **{field: value}))  # type: ignore[arg-type]
        else:
            kept.append(link)
    given = {(link.sender, link.receiver) for link in changed}
    known = given | ({ends[::-1] for ends in given} if network.symmetric else set())
    changed += [_link(*ends, {field: value}) for ends in sorted(ways - known)]
    links = (*kept, *changed)
    kind = "delay" if field == "delay_ms" else "bandwidth"
    said = f"{amount(value)} ms" if kind == "delay" else f"{amount(value)} bytes/s"
    arrow = "<->" if network.symmetric else "->"
    words = (
        f"{names[0]} {arrow} {names[1]} with {'half the delay' if kind == 'delay' else 'twice the bandwidth'}"
    )
    return Change(kind, f"{words} ({said})", replace(problem, network=replace(network, links=links)))


def _link(sender: str, receiver: str, given: Mapping[str, float]) -> Link:
    """A link with the fields that are given."""
    return replace(Link(sender, receiver), **given)  # type: ignore[arg-type]


def with_node(problem: Problem, number: int, node: Node) -> Problem:
    """The problem with another node in place of one."""
    nodes = tuple(node if k == number else item for k, item in enumerate(problem.network.nodes))
    return replace(problem, network=replace(problem.network, nodes=nodes))


def with_copy_of(problem: Problem, number: int) -> Change:
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
    return Change("node", f"one more node like {original.name} ({name})", changed)


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
