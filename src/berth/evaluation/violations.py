"""What a plan breaks, by name and with the amounts.

Limits speak for themselves (`berth.evaluation.limits`). What is here is the form of a plan: everything has a
node that may host it, rules that bind instances together, containers, links, reuse and downloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from berth.evaluation.limits import LeastAvailability, LongestResponse, flow_limits, one_core, place_limits
from berth.evaluation.limits.limit import amount, exceeds
from berth.evaluation.situation import Situation, group_maximum
from berth.evaluation.unlinked import missing_lines


def violations(situation: Situation) -> list[str]:
    """One line for each constraint that the plan breaks."""
    return [line for constraint in CONSTRAINTS for line in constraint(situation)]


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


def together(situation: Situation) -> Iterator[str]:
    """`together`; rules of what is not computed lapse."""
    network = situation.network
    for application, rule, instances in situation.problem.together:
        nodes = situation.node_of[np.intersect1d(instances, situation.running)]
        found = sorted({network.nodes[node].name for node in nodes.tolist()})
        if len(found) > 1:
            names = ", ".join(rule.operators)
            yield f"application {application}: {names} must be together, but are on {', '.join(found)}"


def places(situation: Situation) -> Iterator[str]:
    """Capacities, processors and their cores, and rules that keep instances apart."""
    core = one_core(situation.setting)
    for limit in (*place_limits(situation.setting), *(() if core is None else (core,))):
        yield from (use.line for use in limit.broken(situation))


def containers(situation: Situation) -> Iterator[str]:
    """Instances fill containers: each in one, each container on one node, none over its capacity."""
    graph, plan = situation.graph, situation.plan
    contents: dict[str, list[int]] = {}
    for number in situation.packing:
        name, application = graph.names[number], graph.names[number].partition("/")[0]
        container = plan.containers.get(name)
        count = situation.containers_of(number).count
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
    limits = situation.containers_of(numbers[0])
    keys = situation.problem.sharing_keys.computation_keys(np.array(numbers))
    group = np.unique(keys, return_inverse=True)[1]
    for resource, demand in demands.items():
        needed = float(group_maximum(demand[numbers], group).sum())
        there = limits.capacity.get(resource, 0.0)
        if exceeds(needed, there):
            yield f"container {container}: {resource} {amount(needed)} needed, {amount(there)} there"


def missing_links(situation: Situation) -> Iterator[str]:
    """Two nodes that exchange a stream or an object need a link."""
    network = situation.network
    for flows, what in ((situation.flows, "stream"), (situation.downloads, "download")):
        gone = ~network.table.connected[flows.sender, flows.receiver]
        pairs = zip(flows.sender[gone].tolist(), flows.receiver[gone].tolist(), strict=True)
        yield from missing_lines(network, pairs, what)


def flows(situation: Situation) -> Iterator[str]:
    """Bandwidth, network cards and ports."""
    for limit in flow_limits(situation.setting):
        yield from (use.line for use in limit.broken(situation))


def requirements(situation: Situation) -> Iterator[str]:
    """`max_response_time_ms` and `min_availability` of each application, application by application."""
    asked = LongestResponse(situation.setting), LeastAvailability(situation.setting)
    broken = [use for limit in asked for use in limit.broken(situation)]
    yield from (use.line for use in sorted(broken, key=lambda use: use.place))


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
    together,
    places,
    containers,
    missing_links,
    flows,
    requirements,
    reuse,
    downloads,
)
