"""The evaluation rules of the contract: metrics and violations of any plan, slowly and obviously.

Docstrings quote the sentence of the contract that a function stands for. Readings that the contract leaves
open are marked "Reading:".
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from .network import Network, Pair, Route
from .workload import Instance, Message, Operator, Structure, Workload, highest

TOLERANCE = 1e-9
SECONDS_PER_HOUR = 3600.0
BYTES_PER_GIGABYTE = 1e9

METRIC_OF_OBJECTIVE = {
    "response_time": "response_time_ms",
    "loaded_response_time": "loaded_response_time_ms",
    "availability": "availability",
    "traffic": "traffic_bytes_per_s",
    "network_usage": "network_usage_bytes",
    "elastic_energy": "elastic_energy",
    "communication_cost": "communication_cost",
    "placement_cost": "placement_cost",
    "nodes_used": "nodes_used",
    "enrolled_speed": "enrolled_speed",
    "cost_per_hour": "cost_per_hour",
    "carbon": "carbon_g_per_hour",
    "containers_used": "containers_used",
    "container_traffic": "container_traffic_bytes_per_s",
    "processing_power": "processing_power",
    "bandwidth_sum": "bandwidth_sum_bytes_per_s",
    "bandwidth_max": "bandwidth_max_ratio",
    "moved_instances": "moved_instances",
    "moved_state": "moved_state_bytes",
}

# Which metrics are left out when a rate is unknown, when a stream has no link, when a download is missing
# or has no link: "Metrics that can't be computed [...] are left out, never invented."
NEED_RATES = frozenset(
    {
        "traffic_bytes_per_s",
        "network_usage_bytes",
        "elastic_energy",
        "communication_cost",
        "cost_per_hour",
        "container_traffic_bytes_per_s",
        "bandwidth_sum_bytes_per_s",
        "bandwidth_max_ratio",
    }
)
NEED_STREAM_LINKS = frozenset(
    {
        "response_time_ms",
        "loaded_response_time_ms",
        "availability",
        "network_usage_bytes",
        "elastic_energy",
        "communication_cost",
        "cost_per_hour",
        "bandwidth_sum_bytes_per_s",
        "bandwidth_max_ratio",
    }
)
NEED_DOWNLOADS = frozenset({"cost_per_hour", "bandwidth_sum_bytes_per_s", "bandwidth_max_ratio"})


@dataclass(frozen=True)
class Flow:
    """Bytes per second from one node to another; None: unknown."""

    start: int
    end: int
    rate: float | None


class Model:
    """A problem, read once; `situation` then looks at one plan."""

    def __init__(self, problem: dict[str, Any]) -> None:
        """Read a problem file."""
        self.problem = problem
        self.network = Network(problem["network"])
        self.workload = Workload(problem)
        self.object_bytes: dict[str, float] = {
            entry["name"]: entry["bytes"] for entry in problem.get("objects", [])
        }
        self._structures: dict[Hashable, Structure] = {}

    def structure(self, reuse: Mapping[str, str], skipped: Iterable[str]) -> Structure:
        """Return the structure of a plan, once for all plans that reuse and skip the same."""
        key = (tuple(sorted(reuse.items())), tuple(sorted(skipped)))
        if key not in self._structures:
            self._structures[key] = Structure(self.workload, reuse, frozenset(skipped))
        return self._structures[key]

    def situation(self, plan: dict[str, Any], previous: dict[str, Any] | None = None) -> "Situation":
        """Look at one plan."""
        return Situation(
            model=self,
            structure=self.structure(plan.get("reuse", {}), plan.get("skipped", [])),
            assignment={name: self.network.index[node] for name, node in plan["assignment"].items()},
            containers=plan.get("containers", {}),
            downloads=plan.get("downloads", []),
            previous=None if previous is None else previous["assignment"],
        )


@dataclass
class Situation:
    """One plan for one problem, with what follows from both."""

    model: Model
    structure: Structure
    assignment: dict[str, int]
    containers: Mapping[str, str]
    downloads: list[dict[str, str]]
    previous: Mapping[str, str] | None
    placed: tuple[Instance, ...] = field(init=False)
    missing: tuple[Instance, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Split the instances that are needed into those with and those without a node."""
        needed = self.structure.instances
        self.placed = tuple(instance for instance in needed if instance.name in self.assignment)
        self.missing = tuple(instance for instance in needed if instance.name not in self.assignment)

    @property
    def network(self) -> Network:
        """The problem's network."""
        return self.model.network

    @property
    def complete(self) -> bool:
        """Tell whether everything that is needed has a node, so that there are metrics at all."""
        return self.structure.sound and not self.missing

    def operator(self, instance: Instance) -> Operator:
        """Return the operator of an instance."""
        return self.structure.workload.operators[instance.operator]

    def node(self, instance: Instance) -> int:
        """Return the index of the node of a placed instance."""
        return self.assignment[instance.name]

    def node_of(self, instance: Instance) -> dict[str, Any]:
        """Return the description of the node of a placed instance."""
        return self.network.nodes[self.assignment[instance.name]]

    def node_name(self, number: int) -> str:
        """Return the name of a node."""
        name: str = self.network.nodes[number]["name"]
        return name

    @cached_property
    def messages(self) -> list[Message]:
        """The messages whose both ends have a node."""
        placed = {instance.name for instance in self.placed}
        return [
            entry for entry in self.structure.messages if {entry.sender.name, entry.receiver.name} <= placed
        ]

    @cached_property
    def crossing(self) -> list[Message]:
        """The messages between different nodes."""
        return [entry for entry in self.messages if self.node(entry.sender) != self.node(entry.receiver)]

    def route_of(self, message: Message) -> Route | None:
        """Return the route of a message."""
        return self.network.route(self.node(message.sender), self.node(message.receiver))

    @cached_property
    def hosted(self) -> dict[int, list[Instance]]:
        """The computed instances of each node that has any."""
        found: dict[int, list[Instance]] = {}
        for instance in self.placed:
            found.setdefault(self.node(instance), []).append(instance)
        return found

    @cached_property
    def flows(self) -> list[Flow]:
        """What the streams send between different nodes.

        "an equal result crosses from u to v once, [...] at the highest rate needed"; operators that equal
        none: "their streams all count".
        """
        return self._flows(self.crossing, lambda instance: str(self.node(instance)))

    def _flows(self, messages: Iterable[Message], place: Callable[[Instance], str]) -> list[Flow]:
        found: dict[Hashable, Flow] = {}
        for number, message in enumerate(messages):
            own = number if message.result is None else message.result
            key = (message.result is None, own, place(message.sender), place(message.receiver))
            rate = highest(found[key].rate if key in found else None, message.rate)
            found[key] = Flow(self.node(message.sender), self.node(message.receiver), rate)
        return list(found.values())

    @cached_property
    def container_flows(self) -> list[Flow]:
        """What the streams send between different containers. Reading: containers are places as nodes are."""
        messages = [
            message
            for message in self.messages
            if message.sender.name in self.containers
            and message.receiver.name in self.containers
            and self.containers[message.sender.name] != self.containers[message.receiver.name]
        ]
        return self._flows(messages, lambda instance: self.containers[instance.name])

    @cached_property
    def wanted_downloads(self) -> dict[tuple[str, int], float]:
        """The objects that nodes read and don't hold, with the highest rate in 1/s.

        "An object that a node holds is read there; for every other object that it reads, `downloads` names
        one holder: one download serves all operators of that node, at the highest rate".
        """
        wanted: dict[tuple[str, int], float] = {}
        for instance in self.placed:
            for name, per_s in self.structure.reads[instance.operator].items():
                if name not in self.node_of(instance).get("holds", []):
                    key = (name, self.node(instance))
                    wanted[key] = max(wanted.get(key, 0.0), per_s)
        return wanted

    @cached_property
    def download_flows(self) -> list[Flow]:
        """The downloads that serve a node.

        Reading: a needless entry moves nothing, a double one moves twice.
        """
        return [self._download_flow(entry) for entry in self.downloads if self._serves(entry)]

    def _serves(self, entry: dict[str, str]) -> bool:
        return (entry["object"], self.network.index[entry["to"]]) in self.wanted_downloads

    def _download_flow(self, entry: dict[str, str]) -> Flow:
        start, end = self.network.index[entry["from"]], self.network.index[entry["to"]]
        per_s = self.wanted_downloads[entry["object"], end]
        return Flow(start, end, per_s * self.model.object_bytes[entry["object"]])

    @cached_property
    def all_flows(self) -> list[Flow]:
        """Streams and downloads."""
        return [*self.flows, *self.download_flows]

    @cached_property
    def link_loads(self) -> dict[Pair, float]:
        """What crosses each link: "each physical link's bandwidth bounds the sum of what crosses it"."""
        loads: dict[Pair, float] = {}
        for flow in self.all_flows:
            route = self.network.route(flow.start, flow.end)
            for hop in () if route is None else route.hops:
                medium = self.network.shared_medium(hop)
                loads[medium] = loads.get(medium, 0.0) + (flow.rate or 0.0)
        return loads

    def medium_bandwidth(self, medium: Pair) -> float:
        """Return the bandwidth that bounds a link's load."""
        there = self.network.links.get(medium)
        return self.network.bandwidth(medium if there is not None else (medium[1], medium[0]))

    def computations(self, instances: Iterable[Instance]) -> list[list[Instance]]:
        """Group instances of one place: "equal computations on one node count once (work and demand)"."""
        groups: dict[Hashable, list[Instance]] = {}
        for instance in instances:
            shared = self.structure.computation(instance)
            groups.setdefault(("own", instance.name) if shared is None else shared, []).append(instance)
        return list(groups.values())

    def demand(self, instances: Iterable[Instance]) -> dict[str, float]:
        """Add up demands; of equal computations the highest counts, for each resource."""
        total: dict[str, float] = {}
        for group in self.computations(instances):
            resources = {name for instance in group for name in self.operator(instance).demand}
            for name in resources:
                amount = max(self.operator(instance).demand.get(name, 0.0) for instance in group)
                total[name] = total.get(name, 0.0) + amount
        return total

    def busy(self, number: int) -> float:
        """Add up a node's work.

        "the sum over its computed instances of throughput / parallelism x work_ms / 1000 / speed"; equal
        computations count once, "at the highest rate needed".
        """
        total = 0.0
        for group in self.computations(self.hosted.get(number, [])):
            rates = [self.structure.throughput[instance.operator] for instance in group]
            throughput = max((rate for rate in rates if rate is not None), default=0.0)
            operator = self.operator(group[0])
            total += throughput / operator.parallelism * operator.work_ms / 1000.0 / self.speed(number)
        return total

    def speed(self, number: int) -> float:
        """Return a node's speed "against the reference processor"."""
        return float(self.network.nodes[number].get("speed", 1.0))

    @cached_property
    def incoming(self) -> dict[str, list[Message]]:
        """The messages that each instance receives."""
        found: dict[str, list[Message]] = {instance.name: [] for instance in self.placed}
        for message in self.messages:
            found[message.receiver.name].append(message)
        return found

    @cached_property
    def sending(self) -> frozenset[str]:
        """The instances that send anything."""
        return frozenset(message.sender.name for message in self.messages)

    @cached_property
    def finish_times(self) -> dict[str, float]:
        """Return for each instance the longest path that ends with it, its own work included.

        "sum of work_ms / speed over its instances (both ends included) plus delay_ms over its streams; an
        instance that receives nothing starts a path".
        """
        return self._longest(lambda message: self.delay(message), self.work)

    def _longest(
        self, edge: Callable[[Message], float], vertex: Callable[[Instance], float]
    ) -> dict[str, float]:
        times: dict[str, float] = {}

        def visit(instance: Instance) -> float:
            if instance.name not in times:
                arrivals = [visit(entry.sender) + edge(entry) for entry in self.incoming[instance.name]]
                times[instance.name] = max(arrivals, default=0.0) + vertex(instance)
            return times[instance.name]

        for instance in self.placed:
            visit(instance)
        return times

    def delay(self, message: Message) -> float:
        """Return the delay of a message in ms."""
        route = self.route_of(message)
        assert route is not None
        return route.delay_ms

    def work(self, instance: Instance) -> float:
        """Return work_ms / speed."""
        return self.operator(instance).work_ms / self.speed(self.node(instance))

    @cached_property
    def links_there(self) -> bool:
        """Tell whether every communicating pair of instances has a link."""
        return all(self.route_of(message) is not None for message in self.crossing)

    @cached_property
    def downloads_there(self) -> bool:
        """Tell whether every wanted download is in the plan and has a link."""
        served = {(entry["object"], self.network.index[entry["to"]]) for entry in self.downloads}
        linked = all(self.network.route(flow.start, flow.end) is not None for flow in self.download_flows)
        return linked and served >= self.wanted_downloads.keys()


def evaluate(
    problem: dict[str, Any], plan: dict[str, Any], previous: dict[str, Any] | None = None
) -> tuple[dict[str, float], list[str]]:
    """Return the metrics and the violations of a plan; problem and plans are parsed files."""
    situation = Model(problem).situation(plan, previous)
    return metrics(situation), list(violations(situation))


# Metrics


def metrics(situation: Situation) -> dict[str, float]:
    """Return all metrics that can be computed."""
    found = {key: metric(situation, key) for key in METRICS}
    return {key: value for key, value in found.items() if value is not None}


def metric(situation: Situation, key: str) -> float | None:
    """Return one metric; None: it can't be computed.

    "Metrics that can't be computed (an unknown rate, a missing link, an instance that is not placed) are left
    out".
    """
    left_out = (
        not situation.complete
        or (key in NEED_RATES and not situation.structure.rates_known)
        or (key in NEED_STREAM_LINKS and not situation.links_there)
        or (key in NEED_DOWNLOADS and not situation.downloads_there)
    )
    return None if left_out else METRICS[key](situation)


def response_time(situation: Situation) -> float:
    """Contract: "the worst source-to-sink path over all applications"."""
    return max(situation.finish_times.values(), default=0.0)


def loaded_response_time(situation: Situation) -> float | None:
    """Contract: "the same with 002's model: run queues, transmission delay, ends free (card 1.6)"."""
    transmissions = {id(message): transmission(situation, message) for message in situation.messages}
    if None in transmissions.values():
        return None

    def edge(message: Message) -> float:
        return situation.delay(message) + (transmissions[id(message)] or 0.0)

    def vertex(instance: Instance) -> float:
        is_end = not situation.incoming[instance.name] or instance.name not in situation.sending
        return 0.0 if is_end else situation.work(instance) * queue(situation, situation.node(instance))

    return max(situation._longest(edge, vertex).values(), default=0.0)


def queue(situation: Situation, number: int) -> float:
    """Card 1.6: "mips/max(1,q) where q counts runnable processes": those waiting and the instances hosted."""
    waiting: float = situation.network.nodes[number].get("run_queue", 0)
    return max(1.0, waiting + len(situation.hosted[number]))


def transmission(situation: Situation, message: Message) -> float | None:
    """Return the time in ms that the sender's card takes for one result; None: unknown.

    Card 1.6: "T at the *sender*", "Links inside a host: N = T = 0". Reading: the size of one result is
    output_bytes, else the stream's rate / throughput_per_s; an unlimited card takes no time.
    """
    card = situation.node_of(message.sender).get("nic_bytes_per_s")
    if card is None or situation.node(message.sender) == situation.node(message.receiver):
        return 0.0
    size = situation.operator(message.sender).output_bytes
    if size is None:
        size = result_size(situation, message)
    return None if size is None or card == 0 else 1000.0 * size / card


def result_size(situation: Situation, message: Message) -> float | None:
    """Return a stream's bytes for one result of its application."""
    application = situation.model.workload.applications[message.stream.application]
    throughput: float | None = application.get("throughput_per_s")
    if message.stream_total is None or not throughput:
        return None
    return message.stream_total / throughput


def availability(situation: Situation) -> float:
    """Contract: "product of the nodes' availability over all computed instances, times that of the links"."""
    return availability_of(situation, frozenset(situation.structure.computed))


def availability_of(situation: Situation, operators: frozenset[str]) -> float:
    """Return the availability of some operators and of all communicating pairs that end in them.

    "over all communicating pairs of instances (a node that hosts three instances counts three times)".
    Reading: two streams between the same two instances (one of them reused) are two pairs.
    """
    product = 1.0
    for instance in situation.placed:
        if instance.operator in operators:
            product *= situation.node_of(instance).get("availability", 1.0)
    for message in situation.messages:
        if message.receiver.operator in operators:
            route = situation.route_of(message)
            assert route is not None
            product *= route.availability
    return product


def over_flows(situation: Situation, weight: Callable[[Route], float], flows: Iterable[Flow]) -> float:
    """Return the sum of rate x weight of the route over flows."""
    total = 0.0
    for flow in flows:
        route = situation.network.route(flow.start, flow.end)
        assert route is not None
        assert flow.rate is not None
        total += flow.rate * weight(route)
    return total


def traffic(situation: Situation) -> float:
    """Contract: "sum of rates between instances on different nodes"."""
    return sum(flow.rate or 0.0 for flow in situation.flows)


def network_usage(situation: Situation) -> float:
    """Contract: "sum of rate x delay over those (delay in seconds: bytes in flight)"."""
    return over_flows(situation, lambda route: route.delay_ms / 1000.0, situation.flows)


def elastic_energy(situation: Situation) -> float:
    """Contract: "sum of rate x delay^2 over those (delay in seconds)"."""
    return over_flows(situation, lambda route: (route.delay_ms / 1000.0) ** 2, situation.flows)


def communication_cost(situation: Situation) -> float:
    """Contract: "sum of rate x link cost over those"."""
    return over_flows(situation, lambda route: route.cost, situation.flows)


def placement_cost(situation: Situation) -> float:
    """Contract: "sum of placement_cost over the instances"; "a price for hosting one instance"."""
    return sum(
        situation.operator(instance).placement_cost.get(situation.node_of(instance)["name"], 0.0)
        for instance in situation.placed
    )


def nodes_used(situation: Situation) -> float:
    """Contract: "nodes that host at least one instance"."""
    return float(len(situation.hosted))


def enrolled_speed(situation: Situation) -> float:
    """Contract: "the sum of their speed"."""
    return sum(situation.speed(number) for number in situation.hosted)


def cost_per_hour(situation: Situation) -> float:
    """Contract: "money: the nodes used, and rate x price_per_gb over links (3600 s, 10^9 bytes)"."""
    nodes = sum(situation.network.nodes[number].get("cost_per_hour", 0.0) for number in situation.hosted)
    per_second = over_flows(situation, lambda route: route.price_per_gb, situation.all_flows)
    return float(nodes + per_second * SECONDS_PER_HOUR / BYTES_PER_GIGABYTE)


def carbon_g_per_hour(situation: Situation) -> float:
    """Contract: "Node field `carbon_g_per_hour` (default 0), metric of the same name over the nodes used"."""
    return sum(situation.network.nodes[number].get("carbon_g_per_hour", 0.0) for number in situation.hosted)


def containers_used(situation: Situation) -> float | None:
    """containers_used, "where there are containers": those that are not empty."""
    if not all_in_containers(situation):
        return None
    return float(len({situation.containers[instance.name] for instance in contained(situation)}))


def container_traffic(situation: Situation) -> float | None:
    """container_traffic_bytes_per_s, "where there are containers": rates between different containers."""
    if not all_in_containers(situation):
        return None
    return sum(flow.rate or 0.0 for flow in situation.container_flows)


def contained(situation: Situation) -> list[Instance]:
    """Return the placed instances of the applications that have containers."""
    applications = situation.model.workload.applications
    return [
        entry
        for entry in situation.placed
        if "containers" in applications[situation.operator(entry).application]
    ]


def all_in_containers(situation: Situation) -> bool:
    """Tell whether there are containers, and every instance that needs one has one."""
    applications = situation.model.workload.applications.values()
    any_containers = any("containers" in application for application in applications)
    return any_containers and all(instance.name in situation.containers for instance in contained(situation))


def processing_power(situation: Situation) -> float | None:
    """Contract: "sum over computed instances of throughput / parallelism x work / speed, work in seconds"."""
    applications = situation.model.workload.applications.values()
    if any("throughput_per_s" not in application for application in applications):
        return None
    return sum(situation.busy(number) for number in situation.hosted)


def bandwidth_sum(situation: Situation) -> float:
    """Contract: "streams and object downloads over links: their sum"; each flow once."""
    return sum(flow.rate or 0.0 for flow in situation.all_flows)


def bandwidth_max_ratio(situation: Situation) -> float | None:
    """Contract: "the highest share of a link's bandwidth in use"; None where that is infinite."""
    shares = [
        share(load, situation.medium_bandwidth(medium)) for medium, load in situation.link_loads.items()
    ]
    highest_share = max(shares, default=0.0)
    return None if math.isinf(highest_share) else highest_share


def share(load: float, bandwidth: float) -> float:
    """Return the share of a bandwidth that a load takes."""
    if bandwidth == 0.0:
        return math.inf if load > 0.0 else 0.0
    return load / bandwidth


def moved(situation: Situation) -> list[Instance] | None:
    """Return the instances that have another node than in the previous plan."""
    if situation.previous is None:
        return None
    before = situation.previous
    return [
        instance
        for instance in situation.placed
        if before.get(instance.name, situation.node_of(instance)["name"])
        != situation.node_of(instance)["name"]
    ]


def moved_instances(situation: Situation) -> float | None:
    """Contract: "against a previous plan"."""
    found = moved(situation)
    return None if found is None else float(len(found))


def moved_state(situation: Situation) -> float | None:
    """moved_state_bytes, "against a previous plan"; state_bytes: "what a migration must move"."""
    found = moved(situation)
    return (
        None if found is None else float(sum(situation.operator(instance).state_bytes for instance in found))
    )


METRICS: dict[str, Callable[[Situation], float | None]] = {
    "response_time_ms": response_time,
    "loaded_response_time_ms": loaded_response_time,
    "availability": availability,
    "traffic_bytes_per_s": traffic,
    "network_usage_bytes": network_usage,
    "elastic_energy": elastic_energy,
    "communication_cost": communication_cost,
    "placement_cost": placement_cost,
    "nodes_used": nodes_used,
    "enrolled_speed": enrolled_speed,
    "cost_per_hour": cost_per_hour,
    "carbon_g_per_hour": carbon_g_per_hour,
    "containers_used": containers_used,
    "container_traffic_bytes_per_s": container_traffic,
    "processing_power": processing_power,
    "bandwidth_sum_bytes_per_s": bandwidth_sum,
    "bandwidth_max_ratio": bandwidth_max_ratio,
    "moved_instances": moved_instances,
    "moved_state_bytes": moved_state,
}


# Constraints


def violations(situation: Situation) -> Iterator[str]:
    """Name every violated constraint, the cheap ones first.

    "capacities (less the headroom), candidates, `hosts`, rules, links, bandwidth, network cards, the
    requirements of the applications, and, where `throughput_per_s` is written, that every node keeps up".
    """
    yield from situation.structure.violations
    for check in CHECKS:
        yield from check(situation)


def fits(amount: float, limit: float) -> bool:
    """Contract: "Amounts are compared with a relative tolerance of 1e-9"."""
    return amount <= limit * (1.0 + TOLERANCE)


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
        place = (label, str(labels[label])) if by_label and label else situation.node(instance)
        places[place] = places.get(place, 0) + 1
    for place, count in places.items():
        if count > most:
            yield f"rule spread: {count} instances at {place}, at most {most}"


def same_label(situation: Situation, first: Instance, second: Instance, label: str) -> bool:
    """Tell whether the nodes of two instances have the same value of a label."""
    labels = [situation.node_of(instance).get("labels", {}) for instance in (first, second)]
    return label in labels[0] and label in labels[1] and labels[0][label] == labels[1][label]


def check_where(situation: Situation, instances: list[Instance], wanted: dict[str, Any]) -> Iterator[str]:
    """Contract: "only on nodes with these labels"."""
    for instance in instances:
        labels = situation.node_of(instance).get("labels", {})
        if any(name not in labels or labels[name] != value for name, value in wanted.items()):
            yield f"rule where {wanted}: {instance.name} is on {situation.node_of(instance)['name']}"


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
    for instance in contained(situation):
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
    """Contract: "that every node keeps up: the sum over its computed instances [...] is at most 1"."""
    for number in situation.hosted:
        if not fits(situation.busy(number), 1.0):
            yield f"node {situation.node_name(number)} does not keep up: busy {situation.busy(number)}"


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
        slowest = max(
            situation.finish_times[entry.name] for entry in situation.placed if entry.operator in concerned
        )
        if not fits(slowest, application.get("max_response_time_ms", math.inf)):
            yield f"application {name}: response time {slowest}"
        wanted = application.get("min_availability", 0.0)
        if availability_of(situation, concerned) < wanted * (1.0 - TOLERANCE):
            yield f"application {name}: availability {availability_of(situation, concerned)}"


CHECKS: tuple[Callable[[Situation], Iterator[str]], ...] = (
    check_placed,
    check_hosts,
    check_candidates,
    check_rules,
    check_capacity,
    check_containers,
    check_throughput,
    check_links,
    check_bandwidth,
    check_one_port,
    check_cards,
    check_downloads,
    check_requirements,
)
