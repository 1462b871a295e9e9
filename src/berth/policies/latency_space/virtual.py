"""Virtual placement: where units would be if there were a node at every point."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from berth.core import space as core
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.units import UnitGraph
from berth.space.network_space import Space


class NoEndError(Exception):
    """A search that was given up; its text is the reason."""


@dataclass(eq=False)
class Virtual:
    """Units in the space: what is known of them before events, and where they are after."""

    graph: UnitGraph
    weights: FloatArray
    """Rates both ways, without streams to nodes whose place means nothing."""
    free: BoolArray
    """The units that have a choice and hang together with one that has none."""
    positions: FloatArray
    group: IndexArray
    """Free units that pull at each other, named by the smallest of them; -1: not free."""
    counters: dict[str, int] = field(default_factory=dict)
    """What it took to get there."""
    log: FloatArray = field(default_factory=lambda: np.zeros((0, 1)))
    """The steps on the way, where these count: rows of a unit and its place."""

    def usage_bytes(self, places: FloatArray | None = None) -> float:
        """Estimated bytes in flight between the virtual places, or between others."""
        places = self.positions if places is None else places
        return core.usage(self.graph.streams, self.weights, places) / 1000.0


def in_space(graph: UnitGraph, space: Space) -> Virtual:
    """The units with pinned ones at their nodes and all others in the middle of those that pull at them."""
    held = graph.fixed >= 0
    weights = graph.weights
    unplaced = space.coordinates.unplaced
    if len(unplaced):
        lost = held & np.isin(graph.fixed, unplaced)
        weights[lost[graph.owner] | lost[graph.neighbours]] = 0.0
        held = held & ~lost
    places, choosing = space.coordinates.positions, graph.fixed < 0
    positions = np.empty((len(graph), places.shape[1]))
    positions[~choosing] = places[graph.fixed[~choosing]]
    positions[choosing] = positions[held].mean(axis=0) if held.any() else 0.0
    group = core.to_the_middle(graph.streams, weights, held, choosing, positions)
    return Virtual(graph, weights, group >= 0, positions, group)
