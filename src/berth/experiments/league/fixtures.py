"""The league's problems: every example, generator and measured network, in groups by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from berth.experiments.experiment import Setting, named_generator
from berth.experiments.networks import CLOUDS, IOT_LAB, PLANETLAB, is_there, some_delays
from berth.files import load
from berth.generators import generate_with
from berth.model import Problem

SMALL, LARGE = "one application, small", "one application, large"
SPACE, CONTAINERS, MANY = "latency space", "containers", "many applications"
GROUPS = (SMALL, LARGE, SPACE, CONTAINERS, MANY)

EXAMPLES = Path(__file__).parents[4] / "examples"
"""Beside the sources; an installed package has none, and the league is without them then."""
MEASURED_NODES = 226


@dataclass(frozen=True)
class Entry:
    """A problem of the league.

    Attributes:
        name: how tables call it.
        group: its kind.
        kind: the generator; none: an example of that name.
        parameters: of the generator.
        network: the measured network that it is placed on; none: a generated one.
        bound_ms: of every application's response time; none: as it comes.
        quick: whether it takes part in the quick form.
    """

    name: str
    group: str
    kind: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    network: str | None = None
    bound_ms: float | None = None
    quick: bool = False

    def is_there(self, data: Path | None) -> bool:
        """Whether its file or its network is there."""
        if self.kind is None:
            return _example(self.name).is_file()
        return self.network is None or is_there(data, self.network)


ENTRIES = (
    Entry("edge-cameras", SMALL, quick=True),
    Entry("edge-pipeline", SMALL),
    Entry("tag-and-count", SMALL, quick=True),
    Entry("two-source-join", SMALL),
    Entry("tag-and-count, generated", SMALL, "tag-and-count"),
    Entry("sequential, 20 on 20", SMALL, "sequential", quick=True),
    Entry("fat, 20 on 20", SMALL, "fat", quick=True),
    Entry("random graph, 20 on 20", SMALL, "random-graph", quick=True),
    Entry("sequential, 50 on 100", LARGE, "sequential", {"operators": 50, "nodes": 100}, quick=True),
    Entry("fat, 50 on 50", LARGE, "fat", {"operators": 50, "nodes": 50}),
    Entry("random graph, 150 on 60", LARGE, "random-graph", {"operators": 150, "nodes": 60}, quick=True),
    Entry("random graph, clouds", LARGE, "random-graph", {"operators": 60}, CLOUDS, quick=True),
    Entry("stream tree, synthetic", SPACE, "stream-tree", {"size": 12}),
    Entry("stream tree, PlanetLab", SPACE, "stream-tree", {"size": 12}, PLANETLAB, quick=True),
    Entry("stream tree, IoT lab", SPACE, "stream-tree", {"size": 12}, IOT_LAB, quick=True),
    Entry("stream tree, clouds", SPACE, "stream-tree", {"size": 12}, CLOUDS),
    Entry("20 stream trees, PlanetLab", SPACE, "stream-tree", {"graphs": 20, "places": 1}, PLANETLAB),
    Entry("matrices, bound 6 s", SPACE, "matrices", {"graphs": 8, "hosts": 100}, bound_ms=6000.0, quick=True),
    Entry(
        "stream tree, 20,000 nodes",
        SPACE,
        "stream-tree",
        {"size": 12, "nodes": 20_000, "delays": "coordinates"},
    ),
    Entry("fat tree, 16 servers", CONTAINERS, "fat-tree", quick=True),
    Entry("fat tree, 54 servers", CONTAINERS, "fat-tree", {"ports": 6}),
    Entry("jellyfish, 16 servers", CONTAINERS, "jellyfish", quick=True),
    Entry("shared-sensors", MANY, quick=True),
    Entry(
        "forest, 2 trees",
        MANY,
        "forest",
        {"applications": 2, "most_operators": 8, "processors": 6},
        quick=True,
    ),
    Entry("forest, 5 trees", MANY, "forest", quick=True),
    Entry("forest, 10 trees", MANY, "forest", {"applications": 10}),
)
"""Without `filling-cluster`: not all that it asks for fits, which is the point of that example."""
BY_NAME = {entry.name: entry for entry in ENTRIES}


def entries(setting: Setting) -> list[Entry]:
    """Those that take part."""
    return [entry for entry in ENTRIES if entry.is_there(setting.data) and (entry.quick or not setting.quick)]


@lru_cache(maxsize=2)
def problem_of(name: str, seed: int, data: Path | None) -> Problem:
    """A problem by its name; what is drawn follows from the seed."""
    entry = BY_NAME[name]
    if entry.kind is None:
        return load(_example(name))
    delays, parameters = None, dict(entry.parameters)
    if entry.network is not None:
        delays = some_delays(data, entry.network, MEASURED_NODES, named_generator(seed, name))
    problem = generate_with(entry.kind, seed, delays, parameters)
    if entry.bound_ms is None:
        return problem
    bounded = (replace(item, max_response_time_ms=entry.bound_ms) for item in problem.applications)
    return replace(problem, applications=tuple(bounded))


def _example(name: str) -> Path:
    return EXAMPLES / f"{name}.yaml"
