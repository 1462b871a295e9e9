"""Virtual placement: where units would be if there were a node at every point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from berth.core import space as core
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.units import UnitGraph
from berth.space.network_space import Space

START_TOLERANCE = 0.01
"""The springs' start is this exact, in ms: it is only a start."""
START_ROUNDS = 500
LOGGED_ROUNDS = 1000
"""Steps of so many rounds are kept, where every change of host is a migration."""
EVENTS, EVENTS_PER_UNIT = 2000, 50
"""Where nothing is said, so many events are allowed, or so many for each unit if that is more."""
LOGGED_MOVES = 1_000_000
"""As many moves are kept at most."""


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
    cluster: IndexArray
    counters: dict[str, int] = field(default_factory=dict)
    log: FloatArray = field(default_factory=lambda: np.zeros((0, 1)))

    @property
    def usage_bytes(self) -> float:
        """Estimated bytes in flight between the virtual places."""
        return self._usage(self.positions) / 1000.0

    def stretch(self, places: FloatArray) -> float | None:
        """Estimated usage with units at some places, against the virtual one; None where that is 0."""
        virtual = self._usage(self.positions)
        return self._usage(places) / virtual if virtual > 0 else None

    def _usage(self, places: FloatArray) -> float:
        return core.usage(self.graph.streams, self.weights, places)


def in_space(graph: UnitGraph, space: Space) -> Virtual:
    """The units with pinned ones at their nodes and all others in the middle of those that pull at them."""
    held = graph.fixed >= 0
    weights = graph.weights
    unplaced = space.coordinates.unplaced
    if len(unplaced):
        lost = held & np.isin(graph.fixed, unplaced)
        weights[lost[graph.owner] | lost[graph.neighbours]] = 0.0
        held = held & ~lost
    free = core.anchored(graph.streams, weights, held) & (graph.fixed < 0)
    places = space.coordinates.positions
    positions = np.empty((len(graph), places.shape[1]))
    pinned = graph.fixed >= 0
    positions[pinned] = places[graph.fixed[pinned]]
    positions[~pinned] = positions[held].mean(axis=0) if held.any() else 0.0
    group = core.to_the_middle(graph.streams, weights, free, positions)
    return Virtual(graph, weights, free, positions, group, np.arange(len(graph)))


def start_from_springs(virtual: Virtual, moving: IndexArray) -> None:
    """Bring units to where their springs are at rest: never all to one point (erratum E3.4)."""
    streams = virtual.graph.streams
    core.at_rest(streams, virtual.weights, moving, virtual.positions, START_TOLERANCE, START_ROUNDS)


def settle(
    virtual: Virtual,
    first: IndexArray,
    tolerance: float,
    most_events: int | None,
    paper: bool,
    keep_log: bool,
    names: Sequence[str],
) -> None:
    """Run MOPA's events until nothing wants to move.

    Raises:
        NoEndError: too many events, or in the printed form a search without end.
    """
    graph = virtual.graph
    if most_events is None:
        most_events = max(EVENTS, EVENTS_PER_UNIT * int(virtual.free.sum()))
    rows = min(most_events * 4, LOGGED_MOVES) if keep_log else 0
    found = core.run_events(
        graph.streams,
        virtual.weights,
        virtual.free,
        virtual.positions,
        first,
        tolerance=tolerance,
        most_events=most_events,
        printed=paper,
        log_rows=rows,
    )
    virtual.cluster, virtual.log = found.cluster, found.log
    virtual.counters = {**found.counters, "clusters": clusters(virtual)}
    if found.stuck == core.TOO_MANY_EVENTS:
        raise NoEndError(f"no fixed point after {most_events} events; max_events allows more")
    if found.stuck >= 0:
        name = names[graph.first[found.stuck]]
        raise NoEndError(f"{name}: the printed search for its place does not end; mode=fixed does")


def stay_in_the_middle(virtual: Virtual, moving: IndexArray) -> None:
    """Leave units in the middle of the pinned ones, where they are put at first."""


def relaxed(virtual: Virtual, pace: float, threshold: float, most_rounds: int, keep_log: bool) -> None:
    """Let springs pull the free units until they are at rest (SBON).

    Raises:
        NoEndError: too many rounds.
    """
    messages, longest = 0, 0
    logs = [np.zeros((0, virtual.positions.shape[1] + 1))]
    for moving in _groups(virtual):
        rows = len(moving) * min(most_rounds, LOGGED_ROUNDS) if keep_log else 0
        rounds, sent, log = core.relax(
            virtual.graph.streams,
            virtual.weights,
            moving,
            virtual.positions,
            virtual.free,
            pace=pace,
            threshold=threshold,
            most_rounds=most_rounds,
            log_rows=rows,
        )
        if rounds < 0:
            raise NoEndError(
                f"the springs are not at rest after {most_rounds} rounds; max_rounds allows more"
            )
        messages, longest = messages + sent, max(longest, rounds)
        logs.append(log)
    virtual.log = np.concatenate(logs)
    virtual.counters = {"rounds": longest, "messages": messages}


def _groups(virtual: Virtual) -> list[IndexArray]:
    """The free units group by group: what one does depends on no rate of another."""
    moving = np.flatnonzero(virtual.free)
    moving = moving[np.argsort(virtual.group[moving], kind="stable")]
    return np.split(moving, np.flatnonzero(np.diff(virtual.group[moving])) + 1) if len(moving) else []


def clusters(virtual: Virtual) -> int:
    """How many clusters have more than one unit."""
    sizes = np.bincount(virtual.cluster[virtual.free], minlength=len(virtual.cluster))
    return int((sizes > 1).sum())
