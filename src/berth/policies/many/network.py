"""Nodes and what lies between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.model import Network
from berth.model.pair_fields import whole

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Nodes(NamedTuple):
    """Of every node, and of every two."""

    speed: FloatArray
    card: FloatArray
    connected: BoolArray
    bandwidth: FloatArray
    """Of the logical link."""
    next_hop: IntArray
    """The node after u on the way to v: v itself where links are direct; -1 where there is no path."""
    link: IntArray
    """The number of the (physical) link from u to v; -1: it has no limit."""


def nodes_of(network: Network) -> Nodes:
    """The arrays of a network.

    Raises:
        AllPairsError: there are too many nodes for matrices.
    """
    table, size = network.table, len(network.nodes)
    next_hop = np.tile(np.arange(size), (size, 1)) if table.next_hop is None else table.next_hop
    return Nodes(
        network.speed,
        network.nic_bytes_per_s,
        ~np.isnan(whole(table.delay_ms)),
        np.ascontiguousarray(whole(table.bandwidth_bytes_per_s)),
        np.ascontiguousarray(next_hop, dtype=np.int64),
        _links(whole(table.physical_bandwidth), table.half_duplex),
    )


def _links(bandwidth: FloatArray, half_duplex: bool) -> IntArray:
    """Links with a limit, numbered; with half duplex both directions are one link."""
    bound = np.isfinite(bandwidth)
    if half_duplex:
        bound = np.triu(bound | bound.T)
    number = np.full(bandwidth.shape, -1, dtype=np.int64)
    number[bound] = np.arange(int(bound.sum()))
    return np.maximum(number, number.T) if half_duplex else number
