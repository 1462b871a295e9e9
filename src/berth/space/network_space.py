"""The latency space of a network: its own coordinates, or such as are computed from its delays."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from berth.model import Network
from berth.space.coordinates import Coordinates
from berth.space.index import SpaceIndex
from berth.space.network_samples import network_samples
from berth.space.vivaldi import embed


@dataclass(frozen=True, eq=False)
class Space:
    """Where a network's nodes are, and an index to find them by place."""

    coordinates: Coordinates
    index: SpaceIndex
    computed: bool
    """Whether the coordinates come from delays; False: the problem gives them."""


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
        index = SpaceIndex(coordinates.positions, coordinates.heights)
        same = Space(coordinates, index, given is None)
    spaces[seed] = same
    return same


def _given(network: Network) -> Coordinates | None:
    """The coordinates that the problem gives; None where a node has none."""
    if any(node.coordinates is None for node in network.nodes):
        return None
    positions = np.array([node.coordinates for node in network.nodes], dtype=np.float64)
    return Coordinates(positions, np.array([node.height_ms for node in network.nodes]), None)
