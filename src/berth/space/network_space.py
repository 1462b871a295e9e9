"""The latency space of a network: its own coordinates, or such as are computed from its delays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from berth.model import Network
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.links import LinkTable
from berth.space.coordinates import Coordinates
from berth.space.index import SpaceIndex
from berth.space.samples import joined, linked_pairs, network_samples, samples_from_pairs, without_coordinates
from berth.space.vivaldi import VivaldiOptions, embed

PEERS = 32
"""Peers by whose delays a node finds what coordinates miss of it."""


@dataclass(frozen=True, eq=False)
class Space:
    """Where a network's nodes are, and what every solve there needs and no solve changes.

    It has parts of the network, not the network: who holds that would keep it alive for good.
    """

    coordinates: Coordinates
    computed: bool
    """Whether the coordinates come from delays; False: the problem gives them."""
    hosting: IndexArray
    """The numbers of the nodes that run operators."""
    table: LinkTable

    @cached_property
    def index(self) -> SpaceIndex:
        """All nodes by place."""
        return SpaceIndex(self.coordinates.positions, self.coordinates.heights)

    @cached_property
    def hosts(self) -> BoolArray:
        """Whether each node runs operators."""
        mask = np.zeros(len(self.coordinates.positions), dtype=bool)
        mask[self.hosting] = True
        return mask

    @cached_property
    def host_index(self) -> SpaceIndex:
        """The nodes that host, by place: among many that don't, the nearest ones would be of no use."""
        if self.hosts.all():
            return self.index
        places = np.where(self.hosts[:, None], self.coordinates.positions, np.nan)
        return SpaceIndex(places, self.coordinates.heights)

    @cached_property
    def linked(self) -> bool:
        """Whether every two nodes can exchange a stream."""
        connected = self.table.connected
        return not self.computed or (isinstance(connected, np.ndarray) and bool(connected.all()))

    @cached_property
    def middle(self) -> FloatArray:
        """The middle of the nodes that host: a place for what hangs together with nothing pinned."""
        placed = np.setdiff1d(self.hosting, self.coordinates.unplaced)
        places = self.coordinates.positions[placed if len(placed) else self.hosting]
        return np.asarray(np.median(places, axis=0)) if len(places) else np.zeros(places.shape[1])

    @cached_property
    def residuals(self) -> FloatArray:
        """By how much each node's delays exceed its distances, half of it: a trait that coordinates miss.

        A node finds it from the delays to some peers, which it measures for its coordinates anyway.
        """
        places, delays, size = self.coordinates.positions, self.table.delay_ms, len(self.hosts)
        if not isinstance(delays, np.ndarray) or size < 2:
            # Delays come from the coordinates: there is nothing that these miss, but heights.
            return self.coordinates.heights
        steps = np.unique(np.linspace(1, size - 1, PEERS).astype(np.intp))
        here = np.arange(size)[:, None]
        peers = (here + steps) % size
        # The mean of both ways; where only one is known, that one.
        there, back = delays[here, peers], delays[peers, here]
        delay = (np.fmin(there, back) + np.fmax(there, back)) / 2.0
        excess = delay - np.sqrt(((places[here] - places[peers]) ** 2).sum(axis=2))
        excess[np.isnan(excess).all(axis=1)] = 0.0
        return np.asarray(np.nanmedian(excess, axis=1) / 2.0)

    @cached_property
    def as_trace(self) -> dict[str, Any]:
        """What a plan's trace says about coordinates."""
        trace: dict[str, Any] = {"coordinates": "computed" if self.computed else "given"}
        if self.coordinates.errors is not None:
            trace["coordinate_errors"] = self.coordinates.errors.as_trace()
        return trace


_KNOWN: WeakKeyDictionary[Network, dict[int, Space]] = WeakKeyDictionary()


def space_of(network: Network, seed: int = 0) -> Space:
    """A network's latency space; computed once for a network and a seed.

    The network's own coordinates where every node has them, or else Vivaldi (3 dimensions, no height) over
    its delays. Nodes that no delay relates to most of the others are far away from these (see `Coordinates`).
    """
    spaces = _KNOWN.setdefault(network, {})
    if seed in spaces:
        return spaces[seed]
    same = next((space for space in spaces.values() if not space.computed), None)
    if same is None:
        given = _given(network)
        coordinates = given or embed(network_samples(network, seed), seed=seed)
        same = Space(coordinates, given is None, network.hosting, network.table)
    spaces[seed] = same
    return same


def _given(network: Network) -> Coordinates | None:
    """The coordinates that the problem gives; None where a node has none."""
    if any(node.coordinates is None for node in network.nodes):
        return None
    positions = np.array([node.coordinates for node in network.nodes], dtype=np.float64)
    return Coordinates(positions, np.array([node.height_ms for node in network.nodes]), None)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Pairs of nodes with an estimated delay, in node order; `count` is of all, the rest of those listed."""

    count: int
    senders: IndexArray
    receivers: IndexArray
    delay_ms: FloatArray
    both_ways: BoolArray
    """Whether the estimate holds both ways; False: the other way has a link."""


@dataclass(frozen=True, eq=False)
class Located:
    """A network's new coordinates."""

    coordinates: Coordinates
    estimates: Estimates
    rejected: int
    """Delays that make no sense."""


def locate(
    network: Network,
    measured: tuple[IndexArray, IndexArray, FloatArray] | None,
    options: VivaldiOptions,
    seed: int,
    most_listed: int,
) -> Located:
    """Compute coordinates, and say which pairs have an estimated delay with them.

    Args:
        network: its delays are samples.
        measured: further samples: senders, receivers and one-way delays in ms.
        options: of the computation.
        seed: the same seed gives the same coordinates.
        most_listed: how many estimated pairs are listed.
    """
    samples = network_samples(network, seed)
    if measured is not None:
        samples = joined([samples, samples_from_pairs(len(network.nodes), *measured)])
    coordinates = embed(samples, options, seed)
    estimates = estimated_pairs(network, coordinates, most_listed)
    return Located(coordinates, estimates, samples.rejected)


def estimated_pairs(network: Network, coordinates: Coordinates, most: int) -> Estimates:
    """The pairs without a link, a matrix entry or a path, whose nodes both have coordinates now.

    Args:
        network: as it is without these coordinates.
        coordinates: of its nodes.
        most: how many pairs are listed. Of networks too large for matrices none is.
    """
    known = without_coordinates(network).table.delay_ms
    placed = np.ones(len(network.nodes), dtype=bool)
    placed[coordinates.unplaced] = False
    if not isinstance(known, np.ndarray):
        return _counted_only(network, known, placed)
    missing = np.isnan(known) & placed[:, None] & placed[None, :]
    first, second = np.nonzero(np.triu(missing | missing.T, 1))
    count = len(first)
    first, second = first[:most], second[:most]
    forth, back = missing[first, second], missing[second, first]
    senders, receivers = np.where(forth, first, second), np.where(forth, second, first)
    return Estimates(count, senders, receivers, coordinates.distances(senders, receivers), forth & back)


def _counted_only(network: Network, known: object, placed: BoolArray) -> Estimates:
    size = len(placed)
    senders, receivers = linked_pairs(network)
    linked = known[senders, receivers]  # type: ignore[index]
    back = known[receivers, senders]  # type: ignore[index]
    measured = ~np.isnan(linked) & ~np.isnan(back) & placed[senders] & placed[receivers]
    keys = np.minimum(senders, receivers) * size + np.maximum(senders, receivers)
    there = int(placed.sum())
    count = there * (there - 1) // 2 - len(np.unique(keys[measured]))
    none = np.zeros(0, dtype=np.intp)
    return Estimates(count, none, none, np.zeros(0), np.zeros(0, dtype=bool))
