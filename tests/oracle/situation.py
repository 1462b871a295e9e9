"""A problem as it was read, and one plan for it: who runs where, what flows between."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .network import Network, Pair, Route
from .workload import Instance, Message, Operator, Structure, Workload, highest


@dataclass(frozen=True)
class Flow:
    """Bytes per second from one node to another; None: unknown."""

    start: int
    end: int
    rate: float | None


class Model:
    """A problem, read once; `situation` then looks at one plan."""

    def __init__(
        self,
        problem: dict[str, Any],
        lost_nodes: frozenset[str] = frozenset(),
        lost_operators: frozenset[str] = frozenset(),
    ) -> None:
        """Read a problem file, as it is or as a loss leaves it."""
        self.problem = problem
        self.lost_operators = lost_operators
        self.network = Network(problem["network"], lost_nodes)
        self.workload = Workload(problem)
        self.object_bytes: dict[str, float] = {
            entry["name"]: entry["bytes"] for entry in problem.get("objects", [])
        }
        self._structures: dict[Hashable, Structure] = {}

    def structure(self, reuse: Mapping[str, str], skipped: Iterable[str]) -> Structure:
        """Return the structure of a plan, once for all plans that reuse and skip the same."""
        key = (tuple(sorted(reuse.items())), tuple(sorted(skipped)))
        if key not in self._structures:
            self._structures[key] = Structure(self.workload, reuse, frozenset(skipped), self.lost_operators)
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
            failover=plan.get("failover", {}),
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
    failover: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
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

    def cores(self, number: int) -> float:
        """Contract: "A node has `cores` (above 0, default 1), each of its `speed`"."""
        return float(self.network.nodes[number].get("cores", 1.0))

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

    @cached_property
    def contained(self) -> list[Instance]:
        """The placed instances of the applications that have containers."""
        applications = self.structure.workload.applications
        return [
            entry for entry in self.placed if "containers" in applications[self.operator(entry).application]
        ]

    def response_time_of(self, application: str) -> float:
        """Return the longest path behind an application's results; where nothing is left of it, 0."""
        concerned = self.structure.concerns(application)
        times = [self.finish_times[entry.name] for entry in self.placed if entry.operator in concerned]
        return max(times, default=0.0)

    def availability_of(self, operators: frozenset[str]) -> float:
        """Return the availability of some operators and of all communicating pairs that end in them.

        "over all communicating pairs of instances (a node that hosts three instances counts three times)".
        Reading: two streams between the same two instances (one of them reused) are two pairs.
        """
        product = 1.0
        for instance in self.placed:
            if instance.operator in operators:
                product *= self.node_of(instance).get("availability", 1.0)
        for message in self.messages:
            if message.receiver.operator in operators:
                route = self.route_of(message)
                assert route is not None
                product *= route.availability
        return product
