"""Where units are while bounds are brought to hold, what that costs their paths, and what a move changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.policies.bounded.candidates import Question
from berth.policies.bounded.delays import DelayModel, Path
from berth.policies.bounded.loads import Loads
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.units import UnitGraph

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(eq=False)
class State:
    """Units on hosts. On a path, `moved` tells which of its instances are those of a unit."""

    graph: UnitGraph
    hosts: Hosts
    model: DelayModel
    loads: Loads
    places: FloatArray
    """x* of every unit."""
    application_of: IndexArray
    """The application of every instance."""

    def __post_init__(self) -> None:
        self._sizes = np.bincount(self.graph.unit_of, minlength=len(self.graph))
        self._everywhere = None if self.hosts.hosting.all() else self.hosts.hosting

    @property
    def nodes(self) -> IndexArray:
        """Where every instance is; -1: it has not come yet."""
        return self.hosts.node[self.graph.unit_of]

    def longest(self, application: int, loaded: bool = True) -> Path:
        """The path of an application that takes longest, as far as loads are known."""
        return self.model.longest(application, self.nodes, self.loads.known, loaded)

    def move(self, unit: int, host: int) -> None:
        """Bring a unit to another host, and its load."""
        self.loads.move(int(self.hosts.node[unit]), host, int(self._sizes[unit]))
        self.hosts.put(unit, host)

    def takes(self, unit: int, hosts: IndexArray) -> BoolArray:
        """Which of some hosts have room for a unit, may host it and reach its neighbours."""
        return self.hosts.fits(unit, hosts) & self.hosts.reaches(unit, hosts)

    def latencies(
        self, path: Path, moved: BoolArray, unit: int, hosts: IndexArray
    ) -> tuple[FloatArray, float]:
        """What a path would take with a unit on each of some hosts, and what it takes now."""
        everywhere = np.append(hosts, self.hosts.node[unit])
        size = int(self._sizes[unit])
        found = self.model.elsewhere(path, moved, size, self.nodes, self.loads.known, everywhere)
        return found[:-1], float(found[-1])

    def others_on(self, host: int, unit: int) -> list[int]:
        """The applications, but for a unit's own, that have something to do on a host."""
        there = self.application_of[(self.nodes == host) & (self.model.inner_work > 0.0)]
        own = self.application_of[self.graph.first[unit]]
        return [application for application in np.unique(there).tolist() if application != own]

    @contextmanager
    def loaded(self, host: int, unit: int) -> Iterator[None]:
        """As if a host had a unit more to do."""
        self.loads.known[host] += self._sizes[unit]
        try:
            yield
        finally:
            self.loads.known[host] -= self._sizes[unit]

    def usage_change(self, unit: int, host: int) -> float:
        """How much more is in flight (bytes) with a unit on another host, by measured delays."""
        graph = self.graph
        span = slice(graph.offsets[unit], graph.offsets[unit + 1])
        others = self.hosts.node[graph.neighbours[span]]
        here = int(self.hosts.node[unit])
        return self.model.usage_change(here, host, others, graph.forward[span], graph.backward[span])

    def question(self, path: Path, moved: BoolArray, unit: int) -> Question:
        """What a unit costs its path now, and between which hosts it is."""
        nodes, node = self.nodes, self.nodes[path.instances]
        on_path = np.flatnonzero(moved)
        first, last = int(on_path[0]), int(on_path[-1])
        work = self.model.inner_work if path.loaded else self.model.work
        span = max(first - 1, 0), min(last + 1, len(node) - 1)
        return Question(
            here=int(self.hosts.node[unit]),
            size=int(self._sizes[unit]),
            work_ms=float(work[path.instances[moved]].sum()),
            loaded=path.loaded,
            before=int(node[first - 1]) if first > 0 else -1,
            after=int(node[last + 1]) if last + 1 < len(node) else -1,
            costs_ms=self.model.costs(path, span, moved, nodes, self.loads.known),
            place=self.places[unit],
            may_host=self._may_host(unit),
        )

    def _may_host(self, unit: int) -> BoolArray | None:
        allowed = self.graph.allowed[unit]
        if allowed is None:
            return self._everywhere
        may_host = np.zeros(len(self.hosts.hosting), dtype=bool)
        may_host[allowed] = self.hosts.hosting[allowed]
        return may_host
