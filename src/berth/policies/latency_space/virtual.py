"""Virtual placement: where units would be if there were a node at every point."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space import events
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.springs import anchored_units, at_rest
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

START_TOLERANCE = 0.01
"""The springs' start is this exact, in ms: it is only a start."""
START_ROUNDS = 500


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
    cluster: IndexArray
    counters: dict[str, int] = field(default_factory=dict)
    log: FloatArray = field(default_factory=lambda: np.zeros((0, 1)))

    @property
    def usage_bytes(self) -> float:
        """Estimated bytes in flight between the virtual places."""
        graph = self.graph
        total = events.virtual_usage(graph.offsets, graph.neighbours, self.weights, self.positions)
        return float(total) / 1000.0


def in_space(graph: UnitGraph, space: Space) -> Virtual:
    """The units with pinned ones at their nodes and all others in the middle of these."""
    held = graph.fixed >= 0
    weights = graph.weights
    unplaced = space.coordinates.unplaced
    if len(unplaced):
        lost = held & np.isin(graph.fixed, unplaced)
        owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
        weights[lost[owner] | lost[graph.neighbours]] = 0.0
        held = held & ~lost
    free = anchored_units(graph.offsets, graph.neighbours, weights, held) & (graph.fixed < 0)
    places = space.coordinates.positions
    positions = np.empty((len(graph), places.shape[1]))
    pinned = graph.fixed >= 0
    positions[pinned] = places[graph.fixed[pinned]]
    positions[~pinned] = positions[held].mean(axis=0) if held.any() else 0.0
    return Virtual(graph, weights, free, positions, np.arange(len(graph)))


def start_from_springs(virtual: Virtual) -> None:
    """Bring free units to where their springs are at rest: never all to one point (erratum E3.4)."""
    graph = virtual.graph
    moving = np.flatnonzero(virtual.free)
    at_rest(
        graph.offsets,
        graph.neighbours,
        virtual.weights,
        moving,
        virtual.positions,
        START_TOLERANCE,
        START_ROUNDS,
    )


def settle(
    virtual: Virtual, first: IndexArray, tolerance: float, most_events: int, paper: bool, keep_log: bool
) -> None:
    """Run MOPA's events until nothing wants to move.

    Raises:
        NoEndError: too many events, or in the printed form a search without end.
    """
    graph = virtual.graph
    size = most_events * 4 if keep_log else 0
    virtual.log = np.zeros((size, virtual.positions.shape[1] + 1))
    counted = events.run_events(
        graph.offsets,
        graph.neighbours,
        virtual.weights,
        virtual.free,
        first,
        virtual.positions,
        tolerance,
        most_events,
        paper,
        virtual.cluster,
        virtual.log,
    )
    virtual.log = virtual.log[: counted[events.ROWS]]
    names = ("events", "iterations", "messages", "moves", "non_unique", "reopened")
    virtual.counters = dict(zip(names, counted[: len(names)].tolist(), strict=True))
    virtual.counters["clusters"] = clusters(virtual)
    stuck = int(counted[events.STUCK])
    if stuck < 0:
        raise NoEndError(f"no fixed point after {most_events} events")
    if stuck > 0:
        raise NoEndError(f"{stuck - 1}")


def clusters(virtual: Virtual) -> int:
    """How many clusters have more than one unit."""
    sizes = np.bincount(virtual.cluster[virtual.free], minlength=len(virtual.cluster))
    return int((sizes > 1).sum())
