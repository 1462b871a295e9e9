"""What the clusters of paper 001 have in common: servers and requests for topologies (section V-A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.generators.draws import DECIMALS
from berth.generators.settings import MOST_OPERATORS, Settings, setting
from berth.model import Application, Containers, Network, Node, Operator, Problem, Stream

GB = 10**9
SERVER_MEMORY = (16, 24, 32)


@dataclass(frozen=True)
class RequestParameters(Settings):
    """What users may set of servers and requests."""

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


def servers(hops: NDArray[np.int64], parameters: RequestParameters, rng: np.random.Generator) -> Network:
    """Servers that differ, with the hops between them as costs."""
    cores = parameters.least_server_cores, parameters.most_server_cores + 1
    nodes = tuple(
        Node(
            f"s{number}",
            capacity={"cpu": int(rng.integers(*cores)), "memory": GB * int(rng.choice(SERVER_MEMORY))},
        )
        for number in range(len(hops))
    )
    cost = hops.astype(np.float64)
    return Network(nodes, matrices={"delay_ms": np.round(cost * parameters.ms_per_hop, 9), "cost": cost})


def requested(parameters: RequestParameters, rng: np.random.Generator, network: Network) -> Problem:
    """A problem with all requests; wanted is the least communication cost."""
    names = [f"a{number}" for number in range(parameters.requests)]
    applications = tuple(request(name, parameters, rng) for name in names)
    return Problem("requests", network, applications, objective={"communication_cost": 1.0})


def request(name: str, parameters: RequestParameters, rng: np.random.Generator) -> Application:
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


def _component(name: str, parameters: RequestParameters, rng: np.random.Generator) -> Operator:
    parallelism, cores, memory = (
        int(rng.integers(getattr(parameters, f"least_{what}"), getattr(parameters, f"most_{what}") + 1))
        for what in ("parallelism", "cores", "memory")
    )
    return Operator(name, parallelism=parallelism, demand={"cpu": cores, "memory": GB * memory})
