"""What every solve on a network needs and no solve changes: worked out once for a network."""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from berth.model import Network
from berth.space.network_space import Space, space_of

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

ROUNDING = 1e-9
"""Amounts are compared with this relative tolerance, as the judge does."""


class NetworkFacts:
    """A network's hosts, capacities and spaces as arrays."""

    def __init__(self, network: Network) -> None:
        # The parts that are needed, not the network: who holds it would keep it alive for good.
        self._nodes = network.nodes
        self._index = network.index
        self._headroom = network.headroom
        self.hosting = network.hosting
        self.hosting_count = len(self.hosting)
        self.speed = network.speed
        self._capacity: dict[str, FloatArray] = {}
        self._rooms: dict[tuple[object, ...], FloatArray] = {}
        self.spaces: dict[int, Space] = {}
        self._complete: bool | None = None
        self._middles: dict[int, FloatArray] = {}

    @cached_property
    def hosts(self) -> BoolArray:
        """Whether each node runs operators."""
        mask = np.zeros(len(self._nodes), dtype=bool)
        mask[self.hosting] = True
        return mask

    def complete(self, network: Network, space: Space) -> bool:
        """Whether every two nodes can exchange a stream."""
        if self._complete is None:
            self._complete = not space.computed or bool(network.table.connected.all())
        return self._complete

    def middle(self, space: Space) -> FloatArray:
        """The middle of the nodes that host: a place for what hangs together with nothing pinned."""
        if id(space) not in self._middles:
            placed = np.setdiff1d(self.hosting, space.coordinates.unplaced)
            places = space.coordinates.positions[placed if len(placed) else self.hosting]
            self._middles[id(space)] = np.median(places, axis=0) if len(places) else np.zeros(places.shape[1])
        return self._middles[id(space)]

    def hosting_among(self, names: tuple[str, ...]) -> IndexArray:
        """Those of some nodes that run operators, in order."""
        numbers = sorted(self._index[name] for name in names)
        return np.array([number for number in numbers if self._nodes[number].hosts], dtype=np.intp)

    def room(self, resources: tuple[str, ...], processors: bool, most: int | None) -> FloatArray:
        """What every node has of each resource [nodes, resources], for one solve to take from.

        Behind the resources come, where asked for, the processor (its speed) and places for operators.
        """
        key = (resources, processors, most)
        if key not in self._rooms:
            columns = [self._of(name) for name in resources]
            columns += [self.speed] if processors else []
            columns += [np.full(len(self._nodes), float(most))] if most is not None else []
            shape = (len(self._nodes), 0)
            room = np.stack(columns, axis=1) if columns else np.zeros(shape)
            self._rooms[key] = room * (1.0 + ROUNDING)
        return self._rooms[key].copy()

    def _of(self, resource: str) -> FloatArray:
        if resource not in self._capacity:
            there = np.array([node.capacity.get(resource, 0.0) for node in self._nodes])
            self._capacity[resource] = there * (1.0 - self._headroom)
        return self._capacity[resource]


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
