"""What lies between every two nodes: one table, whether links are direct or routed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

LINK_FIELDS = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Matrices over node pairs; `delay_ms` is NaN where two nodes can't exchange a stream."""

    delay_ms: FloatArray
    availability: FloatArray
    bandwidth_bytes_per_s: FloatArray
    """Of the logical link; on a routed one the smallest along the path."""
    cost: FloatArray
    price_per_gb: FloatArray
    physical_bandwidth: FloatArray
    """What bounds the sum of all that crosses a (physical) link."""
    next_hop: IndexArray | None = None
    """With routing: the node after u on the way from u to v; -1 where no path is."""

    @property
    def connected(self) -> NDArray[np.bool_]:
        """Whether a stream can go from u to v (always, from a node to itself)."""
        return ~np.isnan(self.delay_ms)

    def physical_hops(self, senders: IndexArray, receivers: IndexArray) -> tuple[IndexArray, IndexArray]:
        """The physical links that flows from senders to receivers cross.

        Returns the positions of the flows and, aligned, the links as numbers u * nodes + v.
        """
        size = len(self.delay_ms)
        apart = senders != receivers
        if self.next_hop is None:
            return np.flatnonzero(apart), (senders * size + receivers)[apart]
        flows, links = [], []
        here, position = senders[apart], np.flatnonzero(apart)
        goal = receivers[apart]
        while len(here):
            following = self.next_hop[here, goal]
            routed = following >= 0
            flows.append(position[routed])
            links.append(here[routed] * size + following[routed])
            onward = routed & (following != goal)
            here, goal, position = following[onward], goal[onward], position[onward]
        none = np.zeros(0, dtype=np.intp)
        return np.concatenate(flows or [none]), np.concatenate(links or [none])


def direct_links(given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None) -> LinkTable:
    """The table where every entry is a link of its own."""
    return _table(_filled(given, coordinate_delay), None, None)


def routed_links(given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None) -> LinkTable:
    """The table where links are physical and a logical link is the path of least delay."""
    physical = _filled(given, None)
    next_hop, hops = _routes(physical["delay_ms"])
    logical = _along_routes(physical, next_hop, hops)
    if coordinate_delay is not None:
        missing = np.isnan(logical["delay_ms"])
        logical["delay_ms"][missing] = coordinate_delay[missing]
        logical["cost"][missing] = coordinate_delay[missing]
    return _table(logical, physical["bandwidth_bytes_per_s"], next_hop)


def _filled(given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None) -> dict[str, FloatArray]:
    """The given fields with defaults in the gaps and where no link is; a node's link to itself is perfect."""
    delay = given["delay_ms"].copy()
    if coordinate_delay is not None:
        gaps = np.isnan(delay)
        delay[gaps] = coordinate_delay[gaps]
    defaults: dict[str, FloatArray | float] = {
        "availability": 1.0,
        "bandwidth_bytes_per_s": np.inf,
        "cost": delay,
        "price_per_gb": 0.0,
    }
    fields = {
        name: np.where(np.isnan(given[name]) | np.isnan(delay), value, given[name])
        for name, value in defaults.items()
    }
    fields["delay_ms"] = delay
    perfect = {"availability": 1.0, "bandwidth_bytes_per_s": np.inf}
    for name, values in fields.items():
        np.fill_diagonal(values, perfect.get(name, 0.0))
    return fields


def _routes(delay: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Next hops and hop counts of the paths of least delay; ties by fewer hops, then node order.

    Delay and hops go into one whole number (exact in a float), so that ties are seen as ties.
    """
    size = len(delay)
    weights = _whole_weights(delay)
    neighbours = np.where(np.isnan(weights), 0.0, weights)
    distance = np.asarray(dijkstra(csr_array(neighbours)))
    next_hop = np.full((size, size), -1, dtype=np.intp)
    for start in range(size):
        adjacent = np.flatnonzero(neighbours[start])
        if len(adjacent):
            through = neighbours[start, adjacent][:, None] + distance[adjacent]
            tight = (through == distance[start]) & np.isfinite(distance[start])
            found = tight.any(axis=0)
            next_hop[start, found] = adjacent[tight.argmax(axis=0)][found]
    np.fill_diagonal(next_hop, np.arange(size))
    hops = np.where(np.isfinite(distance), np.mod(np.where(np.isfinite(distance), distance, 0), size), -1)
    return next_hop, hops.astype(np.intp)


def _whole_weights(delay: FloatArray) -> FloatArray:
    """Delays in whole units of a power of ten, times the number of nodes, plus one for the hop."""
    size = len(delay)
    off_diagonal = delay.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    longest = float(np.nansum(np.nanmax(np.nan_to_num(off_diagonal, nan=0.0), axis=1))) or 1.0
    room = 2.0**52 / (size + 1)
    digits = int(np.floor(np.log10(room / longest)))
    return np.asarray(np.round(off_diagonal * 10.0 ** min(digits, 9)) * size + 1.0)


def _along_routes(
    physical: Mapping[str, FloatArray], next_hop: IndexArray, hops: IndexArray
) -> dict[str, FloatArray]:
    """Add delay, cost and price along every path, multiply availability, take the least bandwidth."""
    size = len(next_hop)
    start = {"availability": 1.0, "bandwidth_bytes_per_s": np.inf, "cost": 0.0, "price_per_gb": 0.0}
    join = {"availability": np.multiply, "bandwidth_bytes_per_s": np.minimum}
    logical = {name: np.full((size, size), start.get(name, np.nan)) for name in LINK_FIELDS}
    np.fill_diagonal(logical["delay_ms"], 0.0)
    for count in range(1, int(hops.max(initial=0)) + 1):
        here, goal = np.nonzero(hops == count)
        following = next_hop[here, goal]
        for name, values in logical.items():
            combine = join.get(name, np.add)
            values[here, goal] = combine(physical[name][here, following], values[following, goal])
    return logical


def _table(
    logical: Mapping[str, FloatArray], physical_bandwidth: FloatArray | None, next_hop: IndexArray | None
) -> LinkTable:
    bandwidth = logical["bandwidth_bytes_per_s"]
    return LinkTable(
        delay_ms=logical["delay_ms"],
        availability=logical["availability"],
        bandwidth_bytes_per_s=bandwidth,
        cost=logical["cost"],
        price_per_gb=logical["price_per_gb"],
        physical_bandwidth=bandwidth if physical_bandwidth is None else physical_bandwidth,
        next_hop=next_hop,
    )
