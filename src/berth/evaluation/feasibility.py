"""Every constraint of the contract: what a plan breaks, by name and with the amounts.

A constraint is a function from a situation to lines; a new one is such a function in `CONSTRAINTS`. So
that exact policies keep it, too, it needs a row in `exact/cpsat/model.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from berth.evaluation.loads import card_loads, containers_of, processor_loads, resource_loads
from berth.evaluation.metrics import AVAILABILITY
from berth.evaluation.situation import Flows, Situation, group_maximum
from berth.model import Apart, Node, Together

TOLERANCE = 1e-9
"""Amounts are compared with this relative tolerance."""


def violations(situation: Situation) -> list[str]:
    """One line for each constraint that the plan breaks."""
    return [line for constraint in CONSTRAINTS for line in constraint(situation)]


def exceeds(needed: float, there: float) -> bool:
    """Whether an amount is more than what is there, beyond the tolerance."""
    return needed > there and not math.isclose(needed, there, rel_tol=TOLERANCE)


def amount(value: float) -> str:
    """A number as people write it: 5, 0.75, 1.25e+08."""
    return f"{value:.6g}"


def unplaced(situation: Situation) -> Iterator[str]:
    """Every computed instance needs a node."""
    for number in np.flatnonzero(situation.computed & (situation.node_of < 0)).tolist():
        yield f"instance {situation.graph.names[number]}: not placed"


def misplaced(situation: Situation) -> Iterator[str]:
    """Hosts, pins, candidates and `where` rules."""
    graph, running = situation.graph, situation.running
    allowed = graph.may_run_on(running, situation.node_of[running])
    for number in running[~allowed].tolist():
        node = situation.network.nodes[situation.node_of[number]].name
        reason = _why_not(situation, int(graph.operator_of[number]), node)
        yield f"instance {graph.names[number]}: on {node}, which {reason}"


def _why_not(situation: Situation, operator: int, node: str) -> str:
    item = situation.graph.operators[operator]
    if not situation.network.nodes[situation.network.index[node]].hosts:
        return "hosts no operators"
    candidates = item.operator.candidates
    if candidates is not None and node not in candidates:
        return f"is not among its candidates ({', '.join(candidates)})"
    return "lacks the labels of a 'where' rule"


def rules(situation: Situation) -> Iterator[str]:
    """`together` and `apart`; rules of what is not computed lapse."""
    for application in situation.problem.applications:
        for rule in application.rules:
            if not isinstance(rule, Together | Apart):
                continue
            numbers = [
                number
                for name in rule.operators
                for number in _running_instances(situation, f"{application.name}/{name}")
            ]
            if isinstance(rule, Together):
                yield from _together(situation, application.name, rule, numbers)
            else:
                yield from _apart(situation, application.name, rule, numbers)


def _running_instances(situation: Situation, operator: str) -> list[int]:
    item = situation.graph.operators[situation.graph.operator_index[operator]]
    return [
        number for number in item.instances if situation.computed[number] and situation.node_of[number] >= 0
    ]


def _together(situation: Situation, application: str, rule: Together, numbers: list[int]) -> Iterator[str]:
    nodes = sorted({situation.network.nodes[situation.node_of[number]].name for number in numbers})
    if len(nodes) > 1:
        names = ", ".join(rule.operators)
        yield f"application {application}: {names} must be together, but are on {', '.join(nodes)}"


def _apart(situation: Situation, application: str, rule: Apart, numbers: list[int]) -> Iterator[str]:
    nodes = (situation.network.nodes[situation.node_of[number]] for number in numbers)
    places = Counter(apart_place_of(node, rule.by) for node in nodes)
    for (kind, place), count in places.items():
        if count > 1:
            names = ", ".join(rule.operators)
            clash = f"{count} instances are on {kind} {place}"
            yield f"application {application}: {names} must be apart, but {clash}"


def apart_place_of(node: Node, by: str | None) -> tuple[str, str]:
    """What two instances must not share: the node or, with `by`, the value of its label."""
    if by is not None and by in node.labels:
        return f"nodes with {by}", node.labels[by]
    return "node", node.name


def capacities(situation: Situation) -> Iterator[str]:
    """What a node's instances and containers need of each resource, against what it has."""
    network = situation.network
    kept = f" (headroom {amount(network.headroom)} kept free)" if network.headroom else ""
    for resource, needed in resource_loads(situation).items():
        there = situation.setting.capacity(resource)
        for node in np.flatnonzero((needed > there) & (needed > 0.0)).tolist():
            if exceeds(needed[node], there[node]):
                yield f"node {network.nodes[node].name}: {resource} {_of(needed[node], there[node])}{kept}"


def _of(needed: float, there: float) -> str:
    return f"{amount(needed)} needed, {amount(there)} there"


def containers(situation: Situation) -> Iterator[str]:
    """Instances fill containers: each in one, each container on one node, none over its capacity."""
    graph, plan = situation.graph, situation.plan
    contents: dict[str, list[int]] = {}
    for number in situation.packing:
        name, application = graph.names[number], graph.names[number].partition("/")[0]
        container = plan.containers.get(name)
        count = containers_of(situation, number).count
        if container is None:
            yield f"instance {name}: in no container"
        elif not _is_container(container, application, count):
            yield f"instance {name}: no container {container} ({application} has {count})"
        else:
            contents.setdefault(container, []).append(number)
    demands = {resource: graph.demand(resource) for resource in graph.resources} if contents else {}
    for container, numbers in contents.items():
        yield from _container_fits(situation, container, numbers, demands)


def _is_container(name: str, application: str, count: int) -> bool:
    """Whether a name is one of `application/c0`, `application/c1`, ..."""
    number = name.removeprefix(f"{application}/c")
    digits = number.isascii() and number.isdecimal() and len(number) <= len(str(count))
    return digits and int(number) < count and name == f"{application}/c{int(number)}"


def _container_fits(
    situation: Situation, container: str, numbers: list[int], demands: dict[str, np.ndarray]
) -> Iterator[str]:
    nodes = sorted({situation.network.nodes[situation.node_of[number]].name for number in numbers})
    if len(nodes) > 1:
        yield f"container {container}: its instances are on {', '.join(nodes)}"
    limits = containers_of(situation, numbers[0])
    keys = situation.problem.sharing_keys.computation_keys(np.array(numbers))
    group = np.unique(keys, return_inverse=True)[1]
    for resource, demand in demands.items():
        needed = float(group_maximum(demand[numbers], group).sum())
        there = limits.capacity.get(resource, 0.0)
        if exceeds(needed, there):
            yield f"container {container}: {resource} {_of(needed, there)}"


def missing_links(situation: Situation) -> Iterator[str]:
    """Two nodes that exchange a stream or an object need a link."""
    connected = situation.network.table.connected
    for flows, what in ((situation.flows, "a stream"), (situation.downloads, "a download")):
        gone = ~connected[flows.sender, flows.receiver]
        pairs = zip(flows.sender[gone].tolist(), flows.receiver[gone].tolist(), strict=True)
        for sender, receiver in dict.fromkeys(pairs):
            names = situation.network.nodes[sender].name, situation.network.nodes[receiver].name
            yield f"link {names[0]} -> {names[1]}: needed for {what}, but there is none"


def bandwidths(situation: Situation) -> Iterator[str]:
    """What crosses each (physical) link, against its bandwidth (000, eq. 17; 004, constraint 4)."""
    links, loads = situation.link_loads
    nodes, there = situation.network.nodes, situation.link_bandwidth
    arrow = "<->" if situation.network.duplex == "half" else "->"
    for position in np.flatnonzero(loads > there).tolist():
        if exceeds(loads[position], there[position]):
            sender, receiver = divmod(int(links[position]), len(nodes))
            yield (
                f"link {nodes[sender].name} {arrow} {nodes[receiver].name}: "
                f"bandwidth {_of(loads[position], there[position])} (bytes/s)"
            )


def network_cards(situation: Situation) -> Iterator[str]:
    """What each node sends plus receives, against its card (004, constraint 3)."""
    network = situation.network
    if not network.cards_bound:
        return
    total = card_loads(situation)
    for node in np.flatnonzero(total > network.nic_bytes_per_s).tolist():
        if exceeds(total[node], network.nic_bytes_per_s[node]):
            needed = _of(total[node], network.nic_bytes_per_s[node])
            yield f"node {network.nodes[node].name}: network card {needed} (bytes/s)"


def one_port(situation: Situation) -> Iterator[str]:
    """The shares of link bandwidth that a node's results take sum to at most 1 each way (004, 2)."""
    network = situation.network
    if not network.one_port:
        return
    for total, what in zip(port_shares(situation), ("sending", "receiving"), strict=True):
        for node in np.flatnonzero(total > 1.0).tolist():
            if exceeds(total[node], 1.0):
                yield f"node {network.nodes[node].name}: one port, {what} {_of(total[node], 1.0)}"


def port_shares(situation: Situation) -> tuple[np.ndarray, np.ndarray]:
    """The shares of link bandwidth that every node's results take, sending and receiving."""
    flows, size = situation.flows, len(situation.network.nodes)
    share = _link_shares(situation, flows)
    return np.bincount(flows.sender, share, size), np.bincount(flows.receiver, share, size)


def _link_shares(situation: Situation, flows: Flows) -> np.ndarray:
    there = situation.network.table.bandwidth_bytes_per_s[flows.sender, flows.receiver]
    rate = np.nan_to_num(flows.rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate > 0, rate / there, 0.0)


def keeping_up(situation: Situation) -> Iterator[str]:
    """Where a throughput is asked for, every node's processor keeps up (004, constraint 1)."""
    if not np.nan_to_num(situation.busy_share).any():
        return
    busy, there = processor_loads(situation), situation.setting.processors
    for node in np.flatnonzero((busy > there) & (busy > 0.0)).tolist():
        if exceeds(busy[node], there[node]):
            needed = _of(busy[node], there[node])
            yield f"node {situation.network.nodes[node].name}: processor {needed} (busy share)"


def requirements(situation: Situation) -> Iterator[str]:
    """`max_response_time_ms` and `min_availability` of each application."""
    if not situation.complete:
        return
    for number, application in enumerate(situation.problem.applications):
        latest = application.max_response_time_ms
        if latest is not None and situation.finish_ms is not None:
            slowest = float(situation.finish_ms[situation.belongs_to(number)].max(initial=0.0))
            if exceeds(slowest, latest):
                yield (
                    f"application {application.name}: response time {amount(slowest)} ms, "
                    f"at most {amount(latest)} ms asked"
                )
        least = application.min_availability
        if least is not None and situation.linked:
            reached = application_availability(situation, number)
            if exceeds(least, reached):
                yield (
                    f"application {application.name}: availability {amount(reached)}, "
                    f"at least {amount(least)} asked"
                )


def application_availability(situation: Situation, application: int) -> float:
    """The availability of one application: its instances and the pairs between them."""
    assert AVAILABILITY.per_instance is not None
    assert AVAILABILITY.per_pair is not None
    inside = situation.belongs_to(application)
    numbers = np.flatnonzero(inside)
    total = AVAILABILITY.per_instance(situation.setting, numbers, situation.node_of[numbers]).sum()
    within = inside[situation.pairs.sender] & inside[situation.pairs.receiver]
    sender = situation.node_of[situation.pairs.sender[within]]
    receiver = situation.node_of[situation.pairs.receiver[within]]
    return float(np.exp(total + AVAILABILITY.per_pair(situation.network, sender, receiver).sum()))


def reuse(situation: Situation) -> Iterator[str]:
    """A reused result comes from an equal operator that is computed; skipped ones are not needed."""
    graph, plan = situation.graph, situation.plan
    yield from situation.reuse_mistakes
    for name in [*plan.reuse, *plan.skipped]:
        item = graph.operators[graph.operator_index[name]]
        placed = [graph.names[number] for number in item.instances if graph.names[number] in plan.assignment]
        if placed:
            yield f"operator {name}: reused or skipped, but {', '.join(placed)} is in the assignment"


def downloads(situation: Situation) -> Iterator[str]:
    """Every object that a node reads without holding it is downloaded once, from a holder."""
    nodes = situation.network.nodes
    wanted = situation.object_rates
    listed = Counter((item.object, situation.network.index[item.target]) for item in situation.plan.downloads)
    for name, node in wanted:
        if (name, node) not in listed:
            yield f"download {name} to {nodes[node].name}: missing"
    for (name, node), count in listed.items():
        if (name, node) not in wanted:
            yield f"download {name} to {nodes[node].name}: needless"
        elif count > 1:
            yield f"download {name} to {nodes[node].name}: listed {count} times"
    for item in situation.plan.downloads:
        if item.object not in nodes[situation.network.index[item.source]].holds:
            yield f"download {item.object} to {item.target}: {item.source} does not hold it"


CONSTRAINTS: tuple[Callable[[Situation], Iterator[str]], ...] = (
    unplaced,
    misplaced,
    rules,
    capacities,
    containers,
    missing_links,
    bandwidths,
    network_cards,
    one_port,
    keeping_up,
    requirements,
    reuse,
    downloads,
)
