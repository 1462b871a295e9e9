"""What every solve on a network needs and no solve changes: worked out once for a network."""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from berth.model import Network
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.space.index import SpaceIndex
from berth.space.network_space import Space, space_of

PEERS = 32
"""Peers by whose delays a node finds what coordinates miss of it."""


class NetworkFacts:
    """A network's hosts and spaces as arrays."""

    def __init__(self, network: Network) -> None:
        # The parts that are needed, not the network: who holds it would keep it alive for good.
        self._nodes = network.nodes
        self._index = network.index
        self.hosting = network.hosting
        self.hosting_count = len(self.hosting)
        self.spaces: dict[int, Space] = {}
        self._complete: bool | None = None
        self._indices: WeakKeyDictionary[Space, SpaceIndex] = WeakKeyDictionary()
        self._middles: WeakKeyDictionary[Space, FloatArray] = WeakKeyDictionary()
        self._residuals: WeakKeyDictionary[Space, FloatArray] = WeakKeyDictionary()

    @cached_property
    def hosts(self) -> BoolArray:
        """Whether each node runs operators."""
        mask = np.zeros(len(self._nodes), dtype=bool)
        mask[self.hosting] = True
        return mask

    def complete(self, network: Network, space: Space) -> bool:
        """Whether every two nodes can exchange a stream."""
        if self._complete is None:
            connected = network.table.connected
            dense = isinstance(connected, np.ndarray) and bool(connected.all())
            self._complete = dense or not space.computed
        return self._complete

    def index(self, space: Space) -> SpaceIndex:
        """The nodes that host, by place: among many that don't, the nearest ones would be of no use."""
        if self.hosting_count == len(self._nodes):
            return space.index
        if space not in self._indices:
            places = np.where(self.hosts[:, None], space.coordinates.positions, np.nan)
            self._indices[space] = SpaceIndex(places, space.coordinates.heights)
        return self._indices[space]

    def middle(self, space: Space) -> FloatArray:
        """The middle of the nodes that host: a place for what hangs together with nothing pinned."""
        if space not in self._middles:
            placed = np.setdiff1d(self.hosting, space.coordinates.unplaced)
            places = space.coordinates.positions[placed if len(placed) else self.hosting]
            self._middles[space] = np.median(places, axis=0) if len(places) else np.zeros(places.shape[1])
        return self._middles[space]

    def residuals(self, network: Network, space: Space) -> FloatArray:
        """By how much each node's delays exceed its distances, half of it: a trait that coordinates miss.

        A node finds it from the delays to some peers, which it measures for its coordinates anyway.
        """
        if space not in self._residuals:
            self._residuals[space] = _residuals(network, space)
        return self._residuals[space]

    def hosting_among(self, names: tuple[str, ...]) -> IndexArray:
        """Those of some nodes that run operators, in order."""
        numbers = sorted(self._index[name] for name in names)
        return np.array([number for number in numbers if self._nodes[number].hosts], dtype=np.intp)


def _residuals(network: Network, space: Space) -> FloatArray:
    size, delays = len(network.nodes), network.table.delay_ms
    if not isinstance(delays, np.ndarray) or size < 2:
        # Delays come from the coordinates: there is nothing that these miss, but heights.
        return space.coordinates.heights
    steps = np.unique(np.linspace(1, size - 1, PEERS).astype(np.intp))
    here = np.arange(size)[:, None]
    peers = (here + steps) % size
    # The mean of both ways; where only one is known, that one.
    there, back = delays[here, peers], delays[peers, here]
    delay = (np.fmin(there, back) + np.fmax(there, back)) / 2.0
    square = (space.coordinates.positions[here] - space.coordinates.positions[peers]) ** 2
    excess = delay - np.sqrt(square.sum(axis=2))
    excess[np.isnan(excess).all(axis=1)] = 0.0
    return np.asarray(np.nanmedian(excess, axis=1) / 2.0)


_KNOWN: WeakKeyDictionary[Network, NetworkFacts] = WeakKeyDictionary()


def facts_of(network: Network) -> NetworkFacts:
    """The facts of a network, worked out once."""
    facts = _KNOWN.get(network)
    if facts is None:
        facts = _KNOWN[network] = NetworkFacts(network)
    return facts


def known_space(network: Network, seed: int) -> Space:
    """The network's latency space, without a look at its nodes where it is known already."""
    spaces = facts_of(network).spaces
    if seed not in spaces:
        spaces[seed] = space_of(network, seed)
    return spaces[seed]
