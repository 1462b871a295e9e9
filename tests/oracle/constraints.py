"""What a plan breaks: every constraint of the contract, slowly and obviously."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

from . import processors
from .amounts import TOLERANCE, fits
from .network import share
from .situation import Flow, Situation
from .workload import Instance


def violations(situation: Situation) -> Iterator[str]:
    """Name every violated constraint, the cheap ones first.

    "capacities (less the headroom), candidates, `hosts`, rules, links, bandwidth, network cards, the
    requirements of the applications, and, where `throughput_per_s` is written, that every node keeps up".

    What a loss breaks is in `losses`.
    """
    yield from situation.structure.violations
    for check in CHECKS:
        yield from check(situation)


def check_placed(situation: Situation) -> Iterator[str]:
    """Contract: "an instance that is not placed is a violation"; what is reused is "not in `assignment`"."""
    for instance in situation.missing:
        yield f"instance {instance.name} is not placed"
    needed = {instance.name for instance in situation.placed}
    for name in situation.assignment:
        if name not in needed:
            yield f"instance {name} is placed although it is reused or skipped"


def check_hosts(situation: Situation) -> Iterator[str]:
    """Contract: "hosts: false: holds data, runs no operator"."""
    for instance in situation.placed:
        if not situation.node_of(instance).get("hosts", True):
            yield f"instance {instance.name} is on {situation.node_of(instance)['name']}, which hosts nothing"


def check_candidates(situation: Situation) -> Iterator[str]:
    """Contract: "pinned: rome or candidates: [rome, paris]; neither: any node that hosts"."""
    for instance in situation.placed:
        candidates = situation.operator(instance).candidates
        if candidates is not None and situation.node_of(instance)["name"] not in candidates:
            yield f"instance {instance.name} is on {situation.node_of(instance)['name']}, no candidate"


def check_rules(situation: Situation) -> Iterator[str]:
    """Contract: "operators by name, all their instances meant"; rules "of what is not computed lapse"."""
    for application in situation.model.workload.applications.values():
        for rule in application.get("rules", []):
            yield from check_rule(situation, application["name"], rule)


def check_rule(situation: Situation, application: str, rule: dict[str, Any]) -> Iterator[str]:
    """Check one rule on the placed instances that it names."""
    names = rule.get("together") or rule.get("apart") or rule.get("spread") or rule["operators"]
    keys = {f"{application}/{name}" for name in names}
    instances = [instance for instance in situation.placed if instance.operator in keys]
    if "together" in rule and len({situation.node(instance) for instance in instances}) > 1:
        yield f"rule together {names}: more than one node"
    if "apart" in rule:
        yield from check_apart(situation, instances, rule.get("by"))
    if "spread" in rule:
        yield from check_spread(situation, instances, rule.get("by"), rule["most"])
    if "where" in rule:
        yield from check_where(situation, instances, rule["where"])


def check_apart(situation: Situation, instances: list[Instance], label: str | None) -> Iterator[str]:
    """Contract: "no two on one node or, with by, on nodes with the same value of that label".

    "(a node without it differs from all)". Reading: two instances on one and the same node clash all the
    same.
    """
    for first, second in combinations(instances, 2):
        same_node = situation.node(first) == situation.node(second)
        if same_node or (label is not None and same_label(situation, first, second, label)):
            yield f"rule apart: {first.name} and {second.name} are not apart"


def check_spread(
    situation: Situation, instances: list[Instance], label: str | None, most: int
) -> Iterator[str]:
    """Contract: "at most so many instances of these operators on nodes with the same value of the label".

    "(a node without it is a place of its own); without `by`, on one node".
    """
    places: dict[object, int] = {}
    for instance in instances:
        labels = situation.node_of(instance).get("labels", {})
        by_label = label is not None and label in labels
        place: object = (label, str(labels[label])) if by_label and label else situation.node(instance)
        places[place] = places.get(place, 0) + 1
    for place, count in places.items():
        if count > most:
            yield f"rule spread: {count} instances at {place}, at most {most}"


def same_label(situation: Situation, first: Instance, second: Instance, label: str) -> bool:
    """Tell whether the nodes of two instances have the same value of a label."""
    labels = [situation.node_of(instance).get("labels", {}) for instance in (first, second)]
    return label in labels[0] and label in labels[1] and str(labels[0][label]) == str(labels[1][label])


def check_where(situation: Situation, instances: list[Instance], wanted: dict[str, Any]) -> Iterator[str]:
    """Contract: "only on nodes with these labels"."""
    for instance in instances:
        if not has_labels(situation.node_of(instance), wanted):
            yield f"rule where {wanted}: {instance.name} is on {situation.node_of(instance)['name']}"


def has_labels(node: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Tell whether a node has all labels that a rule wants; values are compared as text."""
    labels = node.get("labels", {})
    return all(name in labels and str(labels[name]) == str(value) for name, value in wanted.items())


def check_capacity(situation: Situation) -> Iterator[str]:
    """Contract: "a resource not named here has capacity 0"; headroom is the share "that stays free"."""
    for number, instances in situation.hosted.items():
        node = situation.network.nodes[number]
        used = situation.demand([entry for entry in instances if container_of(situation, entry) is None])
        for name, amount in container_demand(situation, instances).items():
            used[name] = used.get(name, 0.0) + amount
        for name, amount in used.items():
            limit = node.get("capacity", {}).get(name, 0.0) * (1.0 - situation.network.headroom)
            if not fits(amount, limit):
                yield f"node {node['name']}: {name} {amount} needed, {limit} there"


def container_of(situation: Situation, instance: Instance) -> str | None:
    """Return the container of an instance whose application has containers."""
    application = situation.model.workload.applications[situation.operator(instance).application]
    return situation.containers.get(instance.name) if "containers" in application else None


def container_demand(situation: Situation, instances: Iterable[Instance]) -> dict[str, float]:
    """Contract: "each container that is not empty takes its full capacity on one node (001, eq. 2)"."""
    used: dict[str, float] = {}
    owners = {container_of(situation, entry): situation.operator(entry).application for entry in instances}
    for container, owner in owners.items():
        if container is not None:
            capacity = situation.model.workload.applications[owner]["containers"]["capacity"]
            for name, amount in capacity.items():
                used[name] = used.get(name, 0.0) + amount
    return used


def check_containers(situation: Situation) -> Iterator[str]:
    """Contract: "With `containers`, instances fill containers"."""
    filled: dict[str, list[Instance]] = {}
    for instance in situation.contained:
        container = situation.containers.get(instance.name)
        if container is None:
            yield f"instance {instance.name} has no container"
        else:
            filled.setdefault(container, []).append(instance)
    for container, instances in filled.items():
        yield from check_container(situation, container, instances)


def check_container(situation: Situation, container: str, instances: list[Instance]) -> Iterator[str]:
    """Check one container: its name, its one node, its capacity."""
    owners = {situation.operator(instance).application for instance in instances}
    if len({situation.node(instance) for instance in instances}) > 1:
        yield f"container {container} is on more than one node"
    for owner in owners:
        description = situation.model.workload.applications[owner]["containers"]
        if container not in {f"{owner}/c{number}" for number in range(description["count"])}:
            yield f"container {container} is none of {owner}"
        for name, amount in situation.demand(instances).items():
            if not fits(amount, description["capacity"].get(name, 0.0)):
                yield f"container {container}: {name} {amount} needed"


def check_throughput(situation: Situation) -> Iterator[str]:
    """Contract: "Where `throughput_per_s` is written, every node keeps up".

    "the loads on it of applications that have one sum to at most speed x cores, and none of them exceeds the
    speed."
    """
    throughputs = situation.structure.throughput
    for number, hosted in situation.hosted.items():
        paced = [instance for instance in hosted if throughputs[instance.operator] is not None]
        loads = processors.loads(situation, paced, processors.paced_load) or []
        name, speed, there = (
            situation.node_name(number),
            situation.speed(number),
            processors.there(situation, number),
        )
        if not fits(sum(loads), there):
            yield f"node {name}: {sum(loads)} processors needed to keep up, {there} there"
        if not fits(max(loads, default=0.0), speed):
            yield f"node {name}: {max(loads)} processors needed for one instance, {speed} there"


def check_utilisation(situation: Situation) -> Iterator[str]:
    """`network.max_utilisation`: "a constraint on every node and every instance"."""
    limit = situation.network.max_utilisation
    if limit is None:
        return
    for number, hosted in situation.hosted.items():
        utilisation = processors.node_utilisation(situation, number)
        if utilisation is not None and not fits(utilisation, limit):
            yield f"node {situation.node_name(number)}: utilisation {utilisation}, at most {limit}"
        for instance in hosted:
            utilisation = processors.utilisation(situation, instance)
            if utilisation is not None and not fits(utilisation, limit):
                yield (
                    f"node {situation.node_name(number)}: utilisation {utilisation} by {instance.name}, "
                    f"at most {limit}"
                )


def check_links(situation: Situation) -> Iterator[str]:
    """Contract: "Two nodes with neither a link, a matrix entry nor coordinates can't exchange a stream."."""
    for message in situation.crossing:
        if situation.route_of(message) is None:
            yield f"no link for {message.sender.name} to {message.receiver.name}"
    for flow in situation.download_flows:
        if situation.network.route(flow.start, flow.end) is None:
            yield f"no link to download: {situation.node_name(flow.start)} to {situation.node_name(flow.end)}"


def check_bandwidth(situation: Situation) -> Iterator[str]:
    """Contract: "each physical link's bandwidth bounds the sum of what crosses it".

    Reading: unknown rates bind nothing.
    """
    for medium, load in situation.link_loads.items():
        if not fits(load, situation.medium_bandwidth(medium)):
            yield f"link {medium}: {load} bytes/s needed, {situation.medium_bandwidth(medium)} there"


def check_one_port(situation: Situation) -> Iterator[str]:
    """Contract: "the shares of link bandwidth that its operators' results take sum to at most 1".

    For sending and for receiving; downloads are no results. On a routed path the smallest bandwidth counts.
    """
    if not situation.network.one_port:
        return
    for side in ("start", "end"):
        shares: dict[int, float] = {}
        for flow in situation.flows:
            number = flow.start if side == "start" else flow.end
            shares[number] = shares.get(number, 0.0) + port_share(situation, flow)
        for number, total in shares.items():
            if not fits(total, 1.0):
                yield f"node {situation.node_name(number)}: one port, shares of {total} at its {side}"


def port_share(situation: Situation, flow: Flow) -> float:
    """Return the share of link bandwidth that a flow takes."""
    route = situation.network.route(flow.start, flow.end)
    hops = () if route is None else route.hops
    return share(flow.rate or 0.0, min((situation.network.bandwidth(hop) for hop in hops), default=math.inf))


def check_cards(situation: Situation) -> Iterator[str]:
    """nic_bytes_per_s: "B_u, sent plus received; default unlimited"; at the two end nodes of each flow."""
    for number, node in enumerate(situation.network.nodes):
        flows = [
            flow
            for flow in situation.all_flows
            if number in (flow.start, flow.end) and flow.start != flow.end
        ]
        used = sum(flow.rate or 0.0 for flow in flows)
        if not fits(used, node.get("nic_bytes_per_s", math.inf)):
            yield f"node {node['name']}: network card, {used} bytes/s needed, {node['nic_bytes_per_s']} there"


def check_downloads(situation: Situation) -> Iterator[str]:
    """Contract: "`downloads` names one holder [...]; missing, double and needless entries are violations"."""
    seen: set[tuple[str, int]] = set()
    for entry in situation.downloads:
        key = (entry["object"], situation.network.index[entry["to"]])
        if key not in situation.wanted_downloads:
            yield f"download {entry} is needless"
        elif key in seen:
            yield f"download {entry} is double"
        seen.add(key)
        if entry["object"] not in situation.network.nodes[situation.network.index[entry["from"]]].get(
            "holds", []
        ):
            yield f"download {entry}: {entry['from']} does not hold it"
    for name, number in situation.wanted_downloads.keys() - seen:
        yield f"download of {name} to {situation.node_name(number)} is missing"


def check_requirements(situation: Situation) -> Iterator[str]:
    """max_response_time_ms and min_availability: "optional requirement"."""
    if not situation.complete or not situation.links_there:
        return
    for name, application in situation.model.workload.applications.items():
        concerned = situation.structure.concerns(name)
        slowest = situation.response_time_of(name)
        if not fits(slowest, application.get("max_response_time_ms", math.inf)):
            yield f"application {name}: response time {slowest}"
        wanted = application.get("min_availability", 0.0)
        if situation.availability_of(concerned) < wanted * (1.0 - TOLERANCE):
            yield f"application {name}: availability {situation.availability_of(concerned)}"


CHECKS: tuple[Callable[[Situation], Iterator[str]], ...] = (
    check_placed,
    check_hosts,
    check_candidates,
    check_rules,
    check_capacity,
    check_containers,
    check_throughput,
    check_utilisation,
    check_links,
    check_bandwidth,
    check_one_port,
    check_cards,
    check_downloads,
    check_requirements,
)
