"""The clusters of paper 001 (section V): servers under a Fat-Tree or a Jellyfish, and what is to run."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.generators.generator import DECIMALS, MOST_NODES, MOST_OPERATORS, About, Delays, Generator, setting
from berth.model import Application, BadInput, Containers, Network, Node, Operator, Problem, Stream

BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]
MOST_TRIES = 100
GB = 10**9
SERVER_MEMORY = (16, 24, 32)


def fat_tree_switches(ports: int) -> BoolArray:
    """Which switches of a Fat-Tree are linked: edge switches first, then aggregation, then core.

    k pods of k/2 edge and k/2 aggregation switches, all linked within a pod; the j-th aggregation switch of
    every pod is linked to the j-th k/2 core switches.
    """
    half = ports // 2
    layer = ports * half
    linked = np.zeros((2 * layer + half**2, 2 * layer + half**2), dtype=bool)
    number = np.arange(layer)
    pods = number[:, None] // half == number // half
    linked[:layer, layer : 2 * layer] = pods
    linked[layer : 2 * layer, 2 * layer :] = number[:, None] % half == np.arange(half**2) // half
    return np.asarray(linked | linked.T)


def jellyfish_switches(switches: int, degree: int, rng: np.random.Generator) -> BoolArray | None:
    """Which switches of a Jellyfish are linked: a connected random graph of one degree; None: none was found.

    If switches times degree is odd, one switch has a link less.
    """
    for _ in range(MOST_TRIES):
        linked = _random_regular(switches, degree, rng)
        if (hops_between(linked) >= 0).all():
            return linked
    return None


def _random_regular(switches: int, degree: int, rng: np.random.Generator) -> BoolArray:
    """Random links between free ports; who is left with free ports goes between the ends of another link."""
    linked = np.zeros((switches, switches), dtype=bool)
    free = np.full(switches, degree)
    while True:
        left = np.flatnonzero(free)
        pair = _open_pair(linked, left, rng)
        if pair is None:
            break
        _link(linked, free, *pair)
    while free.sum() > 1:
        left = np.flatnonzero(free)
        one = int(left[0])
        other = one if free[one] > 1 else int(left[1])
        # x - y becomes one - x and other - y
        away_from_one, away_from_other = ~linked[one], ~linked[other]
        away_from_one[[one, other]] = away_from_other[[one, other]] = False
        swaps = np.flatnonzero(linked & away_from_one[:, None] & away_from_other)
        if not len(swaps):
            break
        x, y = np.divmod(int(rng.choice(swaps)), switches)
        linked[x, y] = linked[y, x] = False
        free[[x, y]] += 1
        _link(linked, free, one, int(x))
        _link(linked, free, other, int(y))
    return linked


def _open_pair(linked: BoolArray, left: IndexArray, rng: np.random.Generator) -> tuple[int, int] | None:
    """Two of the switches with free ports that are not linked, drawn evenly; None: there are none."""
    for _ in range(MOST_TRIES if len(left) > 1 else 0):
        one, other = left[rng.integers(len(left), size=2)].tolist()
        if one != other and not linked[one, other]:
            return one, other
    # Most are linked already: look at those that are not.
    places = np.flatnonzero(np.triu(~linked[np.ix_(left, left)], 1))
    if not len(places):
        return None
    one, other = np.divmod(int(rng.choice(places)), len(left))
    return int(left[one]), int(left[other])


def _link(linked: BoolArray, free: NDArray[np.int64], one: int, other: int) -> None:
    linked[one, other] = linked[other, one] = True
    free[one] -= 1
    free[other] -= 1


def hops_between(linked: BoolArray) -> NDArray[np.int64]:
    """Links on the shortest path between every two switches; -1: there is none."""
    hops = np.where(np.eye(len(linked), dtype=bool), 0, -1)
    steps = linked.astype(np.float32)
    reached, count = hops == 0, 0
    while True:
        count += 1
        further = ((reached.astype(np.float32) @ steps) > 0) & (hops < 0)
        if not further.any():
            return hops
        hops[further] = count
        reached = further


@dataclass(frozen=True)
class Cluster(Generator):
    """Servers under switches; what is placed on them are requests."""

    ms_per_hop: float = setting(0.1, "delay of a hop, ms; its cost is 1")
    least_server_cores: int = setting(16, "fewest cores of a server; memory is 16, 24 or 32 GB", 1)
    most_server_cores: int = setting(64, "most cores of a server", 1)
    requests: int = setting(1, "applications", 1, 10_000)
    least_depth: int = setting(3, "fewest components in a row", 1, MOST_OPERATORS)
    most_depth: int = setting(5, "most components in a row (as many as there are)", 1, MOST_OPERATORS)
    least_components: int = setting(3, "fewest components of an application", 1, MOST_OPERATORS)
    most_components: int = setting(6, "most components", 1, MOST_OPERATORS)
    least_parallelism: int = setting(2, "fewest instances of a component", 1, 1000)
    most_parallelism: int = setting(6, "most instances", 1, 1000)
    least_cores: int = setting(2, "fewest cores of an instance")
    most_cores: int = setting(6, "most cores")
    least_memory: int = setting(4, "least memory of an instance, GB")
    most_memory: int = setting(8, "most memory, GB")
    container_cores: int = setting(16, "cores of a container", 1)
    container_memory: int = setting(16, "memory of a container, GB", 1)
    traffic_log_mean: float = setting(3.0, "mean of the logarithm of a stream's B/s", -100.0, 100.0)
    traffic_log_deviation: float = setting(1.0, "its standard deviation", 0.0, 20.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least_depth > self.least_components:
            raise ValueError(
                f"least_depth: {self.least_depth} is above least_components ({self.least_components})"
            )
        for need, room in (("most_cores", "container_cores"), ("most_memory", "container_memory")):
            if getattr(self, need) > getattr(self, room):
                raise ValueError(f"{need}: {getattr(self, need)} is above {room} ({getattr(self, room)})")

    @abstractmethod
    def wiring(self, rng: np.random.Generator) -> tuple[BoolArray, IndexArray]:
        """Which switches are linked, and the switch of every server."""

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Servers that differ, with the hops between them as costs."""
        linked, switch = self.wiring(rng)
        hops = hops_between(linked)[np.ix_(switch, switch)] + 2
        np.fill_diagonal(hops, 0)
        cores = self.least_server_cores, self.most_server_cores + 1
        nodes = tuple(
            Node(
                f"s{number}",
                capacity={"cpu": int(rng.integers(*cores)), "memory": GB * int(rng.choice(SERVER_MEMORY))},
            )
            for number in range(len(hops))
        )
        cost = hops.astype(np.float64)
        return Network(nodes, matrices={"delay_ms": np.round(cost * self.ms_per_hop, 9), "cost": cost})

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """All requests; wanted is the least communication cost."""
        names = [f"a{number}" for number in range(self.requests)]
        applications = tuple(request(name, self, rng) for name in names)
        return Problem("requests", network, applications, objective={"communication_cost": 1.0})


def request(name: str, parameters: Cluster, rng: np.random.Generator) -> Application:
    """A topology in layers, and containers: as many as instances, which suffices."""
    count = int(rng.integers(parameters.least_components, parameters.most_components + 1))
    depth = int(rng.integers(parameters.least_depth, min(count, parameters.most_depth) + 1))
    level = np.sort(np.concatenate([np.arange(depth), rng.integers(0, depth, count - depth)]))
    operators = tuple(_component(f"o{number}", parameters, rng) for number in range(count))
    streams = []
    for number in range(count):
        above = np.flatnonzero(level == level[number] - 1)
        order = rng.permutation(above).tolist()
        for other in order[: int(rng.integers(1, len(order) + 1))] if order else []:
            rate = rng.lognormal(parameters.traffic_log_mean, parameters.traffic_log_deviation)
            streams.append(Stream(f"o{other}", f"o{number}", bytes_per_s=round(float(rate), DECIMALS)))
    capacity = {"cpu": parameters.container_cores, "memory": GB * parameters.container_memory}
    containers = Containers(sum(operator.parallelism for operator in operators), capacity)
    return Application(name, operators, tuple(streams), containers=containers)


def _component(name: str, parameters: Cluster, rng: np.random.Generator) -> Operator:
    parallelism, cores, memory = (
        int(rng.integers(getattr(parameters, f"least_{what}"), getattr(parameters, f"most_{what}") + 1))
        for what in ("parallelism", "cores", "memory")
    )
    return Operator(name, parallelism=parallelism, demand={"cpu": cores, "memory": GB * memory})


@dataclass(frozen=True)
class FatTree(Cluster):
    """2 hops below one edge switch, 4 in a pod, 6 beyond."""

    about = About(
        name="fat-tree",
        paper="001, section V: Heron topologies on a Fat-Tree",
        makes="requests with containers, on servers under k-port switches; hops are the costs",
    )

    ports: int = setting(4, "ports of a switch (k), an even number: k^3/4 servers, 5k^2/4 switches", 2, 20)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ports % 2:
            raise ValueError(f"ports: {self.ports} is odd")

    def wiring(self, rng: np.random.Generator) -> tuple[BoolArray, IndexArray]:
        """As many servers under each edge switch as it has ports for them."""
        half = self.ports // 2
        return fat_tree_switches(self.ports), np.repeat(np.arange(self.ports * half), half)


@dataclass(frozen=True)
class Jellyfish(Cluster):
    """Links between free ports, drawn; hops are those of the shortest path."""

    about = About(
        name="jellyfish",
        paper="001, section V: Heron topologies on a Jellyfish",
        makes="requests with containers, on servers under randomly linked switches; hops are the costs",
    )

    switches: int = setting(24, "switches", 1, 2_000)
    ports: int = setting(4, "ports of a switch; those that no server needs lead to other switches", 1, 2_000)
    servers: int = setting(16, "servers, spread evenly over the switches", 1, MOST_NODES)

    @property
    def degree(self) -> int:
        """The ports of a switch that lead to others: all but as many as the fullest has servers."""
        return self.ports - -(-self.servers // self.switches)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree < (1 if self.switches > 1 else 0):
            most = -(-self.servers // self.switches)
            raise ValueError(f"ports: {self.ports} are too few: a switch has up to {most} server(s)")
        if self.degree > max(self.switches - 1, 0) and self.switches > 1:
            raise ValueError(
                f"ports: {self.ports} are too many: a switch has {self.switches - 1} others to be linked to"
            )

    def wiring(self, rng: np.random.Generator) -> tuple[BoolArray, IndexArray]:
        """The servers one switch after the other."""
        linked = jellyfish_switches(self.switches, max(self.degree, 0), rng)
        if linked is None:
            raise BadInput([f"--set ports: {self.ports} are too few to connect all switches"])
        return linked, np.arange(self.servers) % self.switches
