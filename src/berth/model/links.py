"""What lies between every two nodes: one table, whether links are direct or routed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.model.pair_fields import Distance, Everywhere, Formula, Known, PairField, SameAs

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

TIE = 1e-12
"""Paths whose delays differ by less, relatively, are equally long: sums of floats are not exact."""
LINK_FIELDS = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")
PERFECT = {"availability": 1.0, "bandwidth_bytes_per_s": np.inf}
"""What a node's link to itself has; 0 in the other fields."""


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Matrices over node pairs; `delay_ms` is NaN where two nodes can't exchange a stream.

    With many nodes they are no arrays, but are computed where they are looked at: see `scattered_links`.
    """

    delay_ms: FloatArray | PairField
    availability: FloatArray | PairField
    bandwidth_bytes_per_s: FloatArray | PairField
    """Of the logical link; on a routed one the smallest along the path."""
    cost: FloatArray | PairField
    price_per_gb: FloatArray | PairField
    physical_bandwidth: FloatArray | PairField
    """What bounds the sum of all that crosses a (physical) link."""
    half_duplex: bool = False
    """Whether both directions of a link share its bandwidth."""
    next_hop: IndexArray | None = None
    """With routing: the node after u on the way from u to v; -1 where no path is."""

    @cached_property
    def connected(self) -> NDArray[np.bool_] | Known:
        """Whether a stream can go from u to v (always, from a node to itself)."""
        return Known(self.delay_ms) if isinstance(self.delay_ms, PairField) else ~np.isnan(self.delay_ms)

    @cached_property
    def bandwidth_bound(self) -> bool:
        """Whether any (physical) link has a limit at all."""
        field = self.physical_bandwidth
        values = field.entries[2] if isinstance(field, PairField) else field
        return bool(np.isfinite(values).any())

    def physical_hops(self, senders: IndexArray, receivers: IndexArray) -> tuple[IndexArray, IndexArray]:
        """The physical links that flows from senders to receivers cross.

        Returns the positions of the flows and, aligned, the links as numbers u * nodes + v. With half
        duplex both directions are one link, and u is the smaller number.
        """
        flows, links = self._hops(senders, receivers)
        if not self.half_duplex:
            return flows, links
        ends = np.divmod(links, len(self.delay_ms))
        return flows, np.minimum(*ends) * len(self.delay_ms) + np.maximum(*ends)

    def _hops(self, senders: IndexArray, receivers: IndexArray) -> tuple[IndexArray, IndexArray]:
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


def direct_links(
    given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None, half_duplex: bool
) -> LinkTable:
    """The table where every entry is a link of its own."""
    return _table(_filled(given, coordinate_delay, half_duplex), half_duplex)


def scattered_links(
    size: int,
    pairs: IndexArray,
    given: Mapping[str, FloatArray],
    distance: Distance | None,
    half_duplex: bool,
) -> LinkTable:
    """The table of `direct_links` without matrices, for many nodes with few links between them.

    Args:
        size: how many nodes there are.
        pairs: the links that are given, ascending, as numbers u * size + v.
        given: their fields; NaN where one is not given.
        distance: what the delay is where no link gives it.
        half_duplex: whether both directions of a link share its bandwidth.
    """
    usual: Formula = Everywhere(np.nan) if distance is None else distance
    ends = np.divmod(pairs, size)
    delay = np.where(np.isnan(given["delay_ms"]), usual(*ends), given["delay_ms"])
    delays = PairField(size, usual, 0.0, pairs, delay)
    formulas: dict[str, Formula] = {
        "availability": Everywhere(1.0),
        "bandwidth_bytes_per_s": Everywhere(np.inf),
        "cost": SameAs(delays),
        "price_per_gb": Everywhere(0.0),
    }
    fields = {"delay_ms": delays}
    for name, formula in formulas.items():
        there = np.flatnonzero(~np.isnan(given[name]) & ~np.isnan(delay))
        fields[name] = PairField(size, formula, PERFECT.get(name, 0.0), pairs[there], given[name][there])
    if half_duplex:
        wide = fields["bandwidth_bytes_per_s"]
        both = np.unique(np.concatenate([pairs, ends[1] * size + ends[0]]))
        there, back = np.divmod(both, size)
        narrower = np.minimum(wide[there, back], wide[back, there])
        fields["bandwidth_bytes_per_s"] = PairField(size, Everywhere(np.inf), np.inf, both, narrower)
    return _table(fields, half_duplex)


def routed_links(
    given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None, half_duplex: bool
) -> LinkTable:
    """The table where links are physical and a logical link is the path of least delay."""
    physical = _filled(given, None, half_duplex)
    next_hop, hops = _routes(physical["delay_ms"])
    logical = _along_routes(physical, next_hop, hops)
    if coordinate_delay is not None:
        missing = np.isnan(logical["delay_ms"])
        logical["delay_ms"][missing] = coordinate_delay[missing]
        logical["cost"][missing] = coordinate_delay[missing]
    return _table(logical, half_duplex, physical["bandwidth_bytes_per_s"], next_hop)


def _filled(
    given: Mapping[str, FloatArray], coordinate_delay: FloatArray | None, half_duplex: bool
) -> dict[str, FloatArray]:
    """The given fields with defaults in the gaps and where no link is; a node's link to itself is perfect.

    With half duplex the smaller of a link's two bandwidths holds both ways.
    """
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
    if half_duplex:
        bandwidth = fields["bandwidth_bytes_per_s"]
        fields["bandwidth_bytes_per_s"] = np.minimum(bandwidth, bandwidth.T)
    for name, values in fields.items():
        np.fill_diagonal(values, PERFECT.get(name, 0.0))
    return fields


def _routes(delay: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Next hops and hop counts of the paths of least delay; ties by fewer hops, then node order.

    Both are -1 where there is no path.
    """
    # scipy takes its time to load: only who has physical links pays for it
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    size = len(delay)
    here, there = np.nonzero(~np.isnan(delay) & ~np.eye(size, dtype=bool))
    links = csr_array((delay[here, there], (here, there)), shape=(size, size))
    distance = np.asarray(dijkstra(links))
    latest = distance * (1.0 + TIE)
    useful = delay[here, there] <= latest[here, there]
    here, there = here[useful], there[useful]
    length = delay[here, there]
    next_hop = np.full((size, size), -1, dtype=np.intp)
    hops = np.full((size, size), -1, dtype=np.intp)
    for goal in range(size):
        onward = (length + distance[there, goal] <= latest[here, goal]) & np.isfinite(distance[here, goal])
        next_hop[:, goal], hops[:, goal] = _fewest_hops(size, goal, here[onward], there[onward])
    return next_hop, hops


def _fewest_hops(size: int, goal: int, here: IndexArray, there: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Every node's next hop and hops to a goal over some links, which are in node order."""
    next_hop = np.full(size, -1, dtype=np.intp)
    hops = np.full(size, -1, dtype=np.intp)
    next_hop[goal], hops[goal] = goal, 0
    count = 0
    while (hops == count).any():
        joining = np.flatnonzero((hops[there] == count) & (hops[here] < 0))
        nodes, first = np.unique(here[joining], return_index=True)
        next_hop[nodes] = there[joining[first]]
        count += 1
        hops[nodes] = count
    return next_hop, hops


def _along_routes(
    physical: Mapping[str, FloatArray], next_hop: IndexArray, hops: IndexArray
) -> dict[str, FloatArray]:
    """Add delay, cost and price along every path, multiply availability, take the least bandwidth."""
    size = len(next_hop)
    start = {"availability": 1.0, "bandwidth_bytes_per_s": np.inf, "price_per_gb": 0.0}
    join = {"availability": np.multiply, "bandwidth_bytes_per_s": np.minimum}
    logical = {name: np.full((size, size), start.get(name, np.nan)) for name in LINK_FIELDS}
    for name in ("delay_ms", "cost"):
        np.fill_diagonal(logical[name], 0.0)
    for count in range(1, int(hops.max(initial=0)) + 1):
        here, goal = np.nonzero(hops == count)
        following = next_hop[here, goal]
        for name, values in logical.items():
            combine = join.get(name, np.add)
            values[here, goal] = combine(physical[name][here, following], values[following, goal])
    return logical


def _table(
    logical: Mapping[str, FloatArray] | Mapping[str, PairField],
    half_duplex: bool,
    physical_bandwidth: FloatArray | None = None,
    next_hop: IndexArray | None = None,
) -> LinkTable:
    bandwidth = logical["bandwidth_bytes_per_s"]
    return LinkTable(
        delay_ms=logical["delay_ms"],
        availability=logical["availability"],
        bandwidth_bytes_per_s=bandwidth,
        cost=logical["cost"],
        price_per_gb=logical["price_per_gb"],
        physical_bandwidth=bandwidth if physical_bandwidth is None else physical_bandwidth,
        half_duplex=half_duplex,
        next_hop=next_hop,
    )
