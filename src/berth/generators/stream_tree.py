"""Trees of streams from pinned sources to a pinned sink (paper 003, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from berth.generators.generator import (
    DECIMALS,
    MOST_NODES,
    About,
    Delays,
    Generator,
    Space,
    any_host,
    setting,
    uniform,
)
from berth.model import Application, Network, Node, Operator, Problem, Stream

BYTES_PER_KBIT = 125.0


@dataclass(frozen=True)
class StreamTree(Generator):
    """Operators that join two or three streams each."""

    about = About(
        name="stream-tree",
        paper="003, section 5: network usage on PlanetLab",
        makes="trees of 6 or 12 operators from pinned sources to a pinned sink, in a latency space",
    )
    counts_nodes = "nodes"

    nodes: int = setting(226, "nodes", 1, 200_000)
    delays: Literal["measured", "coordinates"] = setting(
        "measured", "a matrix with noise, or coordinates only: for many nodes"
    )
    clusters: int = setting(5, "clusters of nodes in the latency space", 1, 100_000)
    across_ms: float = setting(120.0, "edge of the space that the clusters are in, ms")
    cluster_ms: float = setting(12.0, "standard deviation of nodes around their cluster's centre, ms")
    noise: float = setting(
        0.15, "standard deviation of the logarithm of measured over real distance", 0.0, 10.0
    )
    height_ms: float = setting(4.0, "mean height of a node, ms: it is in each of its delays")
    places: int | None = setting(None, "free operators that a node has room for; none: no limit", 1)
    graphs: int = setting(1, "applications", 1, 10_000)
    size: Literal[6, 12] = setting(6, "operators of an application, ends included")
    least_rate: float = setting(100.0, "slowest source, kbit/s")
    most_rate: float = setting(200.0, "fastest source, kbit/s")
    least_selectivity: float = setting(0.0, "smallest share of its input that an operator puts out", 0.0, 1e6)
    most_selectivity: float = setting(1.0, "largest share", 0.0, 1e6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delays == "measured" and self.nodes > MOST_NODES:
            raise ValueError(f"nodes: {self.nodes} is above {MOST_NODES}; set delays=coordinates for so many")

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Nodes in clusters; as measured, or by their coordinates."""
        space = Space(
            self.clusters,
            self.across_ms,
            self.cluster_ms,
            self.noise,
            self.height_ms,
        )
        capacity = {} if self.places is None else {"places": self.places}
        if measured is None and self.delays == "coordinates":
            return _placed(space, self.nodes, capacity, rng)
        between = measured or space.delays(self.nodes, rng)
        return Network(
            tuple(Node(name, capacity=capacity) for name in between.names), matrices=between.matrices
        )

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """Applications; wanted is the least network usage."""
        names = [f"g{number}" for number in range(self.graphs)]
        graphs = tuple(stream_tree(name, network, rng, self) for name in names)
        return Problem("stream-tree", network, graphs, objective={"network_usage": 1.0})


def _placed(space: Space, count: int, capacity: dict[str, int], rng: np.random.Generator) -> Network:
    places = np.round(space.places(count, rng), DECIMALS).tolist()
    heights = np.round(space.heights(count, rng), DECIMALS).tolist()
    return Network(
        tuple(
            Node(f"n{number}", capacity=capacity, coordinates=tuple(place), height_ms=height)
            for number, (place, height) in enumerate(zip(places, heights, strict=True))
        )
    )


def stream_tree(name: str, network: Network, rng: np.random.Generator, parameters: StreamTree) -> Application:
    """A tree of 6 or 12 operators (erratum E3.9): pinned sources, 2 to 5 free ones, a pinned sink."""
    demand = {} if parameters.places is None else {"places": 1}
    children = joins(parameters.size, rng)
    operators = [
        Operator(
            f"operator{number}",
            demand=demand,
            selectivity=float(uniform(rng, parameters.least_selectivity, parameters.most_selectivity)),
        )
        for number in range(len(children))
    ]
    streams = [Stream("operator0", "sink")]
    for parent, entries in enumerate(children):
        for child in entries:
            if child is None:
                sender = f"source{len(operators) - len(children)}"
                operators.append(_source(sender, network, rng, parameters))
            else:
                sender = f"operator{child}"
            streams.append(Stream(sender, f"operator{parent}"))
    operators.append(Operator("sink", candidates=(any_host(network, rng),)))
    return Application(name, tuple(operators), tuple(streams))


def _source(name: str, network: Network, rng: np.random.Generator, parameters: StreamTree) -> Operator:
    rate = float(uniform(rng, parameters.least_rate, parameters.most_rate)) * BYTES_PER_KBIT
    return Operator(name, candidates=(any_host(network, rng),), emits_bytes_per_s=rate)


def joins(size: int, rng: np.random.Generator) -> list[list[int | None]]:
    """For each free operator its inputs: numbers of free ones, None for a source."""
    if size == 6:
        counts = [2, 2]
    elif rng.random() < 0.5:
        counts = [2] * 5
    else:
        counts = rng.permutation([2, 2, 3, 3]).tolist()
    children: list[list[int | None]] = [[None] * count for count in counts]
    open_places = [(0, place) for place in range(counts[0])]
    for operator in range(1, len(counts)):
        parent, place = open_places.pop(int(rng.integers(len(open_places))))
        children[parent][place] = operator
        open_places += [(operator, place) for place in range(counts[operator])]
    return children
