"""Pairs of nodes whose delay is a distance between coordinates, because nothing else is known of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import Network
from berth.space.coordinates import Coordinates
from berth.space.network_samples import without_coordinates

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Pairs of nodes with an estimated delay, in node order; `count` is of all, the rest of those listed."""

    count: int
    senders: IndexArray
    receivers: IndexArray
    delay_ms: FloatArray
    both_ways: NDArray[np.bool_]
    """Whether the estimate holds both ways; False: the other way has a link."""


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


def _counted_only(network: Network, known: object, placed: NDArray[np.bool_]) -> Estimates:
    size = len(placed)
    ends = [(network.index[link.sender], network.index[link.receiver]) for link in network.links]
    senders, receivers = np.array(ends, dtype=np.intp).reshape(-1, 2).T
    linked = known[senders, receivers]  # type: ignore[index]
    back = known[receivers, senders]  # type: ignore[index]
    measured = ~np.isnan(linked) & ~np.isnan(back) & placed[senders] & placed[receivers]
    keys = np.minimum(senders, receivers) * size + np.maximum(senders, receivers)
    there = int(placed.sum())
    count = there * (there - 1) // 2 - len(np.unique(keys[measured]))
    none = np.zeros(0, dtype=np.intp)
    return Estimates(count, none, none, np.zeros(0), np.zeros(0, dtype=bool))
