"""The machines and the network between them, as the user describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from berth.model.fingerprint import fingerprint_of
from berth.model.links import LINK_FIELDS, LinkTable, direct_links, routed_links, scattered_links
from berth.model.pair_fields import Distance, Known

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MOST_IN_MATRICES = 4_000
"""Nodes up to which the table has matrices even if none is given: six of them take 768 MB then."""


@dataclass(frozen=True)
class Node:
    """A machine: it runs operators, holds data objects, or both."""

    name: str
    hosts: bool = True
    capacity: Mapping[str, float] = field(default_factory=dict)
    speed: float = 1.0
    """Of each core, against the reference processor."""
    cores: float = 1.0
    availability: float = 1.0
    run_queue: float = 0.0
    nic_bytes_per_s: float = float("inf")
    cost_per_hour: float = 0.0
    carbon_g_per_hour: float = 0.0
    coordinates: tuple[float, ...] | None = None
    height_ms: float = 0.0
    holds: frozenset[str] = frozenset()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """One entry of the network's links; a field that is None is not given there."""

    sender: str
    receiver: str
    delay_ms: float | None = None
    availability: float | None = None
    bandwidth_bytes_per_s: float | None = None
    cost: float | None = None
    price_per_gb: float | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes with the links, matrices or coordinates that tell what lies between them."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...] = ()
    matrices: Mapping[str, FloatArray] = field(default_factory=dict)
    """Full matrices in node order by field name (`delay_ms`, ...); NaN where there is no entry."""
    symmetric: bool = True
    routing: Literal["direct", "shortest_path"] = "direct"
    duplex: Literal["full", "half"] = "full"
    one_port: bool = False
    headroom: float = 0.0
    max_utilisation: float | None = None
    """The share of its processors that a node, and of one core that an instance, may keep busy."""

    @cached_property
    def fingerprint(self) -> str:
        """What tells this network from others."""
        return fingerprint_of(self)

    @cached_property
    def index(self) -> dict[str, int]:
        """Node numbers by name."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def hosting(self) -> NDArray[np.intp]:
        """The numbers of the nodes that may run operators."""
        return np.flatnonzero([node.hosts for node in self.nodes])

    @cached_property
    def holders(self) -> dict[str, list[int]]:
        """The numbers of the nodes that hold each object, by its name."""
        found: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for name in node.holds:
                found.setdefault(name, []).append(number)
        return found

    @cached_property
    def speed(self) -> FloatArray:
        """S_u of every node, against the reference processor."""
        return np.array([node.speed for node in self.nodes], dtype=np.float64)

    @cached_property
    def cores(self) -> FloatArray:
        """How many processors every node has, each of its speed."""
        return np.array([node.cores for node in self.nodes], dtype=np.float64)

    @cached_property
    def processors(self) -> FloatArray:
        """What every node can do, in reference processors."""
        return self.speed * self.cores

    @cached_property
    def usable_processors(self) -> FloatArray:
        """As much of that as may be kept busy."""
        return self.processors if self.max_utilisation is None else self.max_utilisation * self.processors

    @cached_property
    def availability(self) -> FloatArray:
        """A_u of every node."""
        return np.array([node.availability for node in self.nodes], dtype=np.float64)

    @cached_property
    def cost_per_hour(self) -> FloatArray:
        """What every node costs while it hosts anything."""
        return np.array([node.cost_per_hour for node in self.nodes], dtype=np.float64)

    @cached_property
    def carbon_g_per_hour(self) -> FloatArray:
        """The carbon dioxide that every node emits while it hosts anything."""
        return np.array([node.carbon_g_per_hour for node in self.nodes], dtype=np.float64)

    @cached_property
    def nic_bytes_per_s(self) -> FloatArray:
        """What every node's network card can send plus receive."""
        return np.array([node.nic_bytes_per_s for node in self.nodes], dtype=np.float64)

    @cached_property
    def cards_bound(self) -> bool:
        """Whether any node's network card has a limit."""
        return bool(np.isfinite(self.nic_bytes_per_s).any())

    @cached_property
    def run_queue(self) -> FloatArray:
        """The processes that already wait for every node's processor."""
        return np.array([node.run_queue for node in self.nodes], dtype=np.float64)

    def capacity(self, resource: str) -> FloatArray:
        """What every node has of a resource for operators: its capacity less the headroom."""
        if resource not in self._capacities:
            values = [node.capacity.get(resource, 0.0) for node in self.nodes]
            self._capacities[resource] = np.array(values, dtype=np.float64)
        return self._capacities[resource] * (1.0 - self.headroom)

    @cached_property
    def _capacities(self) -> dict[str, FloatArray]:
        return {}

    @cached_property
    def positions(self) -> FloatArray | None:
        """The coordinates of every node, NaN where it has none; None if no node has any."""
        first = next((node.coordinates for node in self.nodes if node.coordinates is not None), None)
        if first is None:
            return None
        unknown = (np.nan,) * len(first)
        places = [unknown if node.coordinates is None else node.coordinates for node in self.nodes]
        return np.array(places, dtype=np.float64)

    @cached_property
    def heights(self) -> FloatArray:
        """What every node's way into the network takes, in ms, beside its coordinates."""
        return np.array([node.height_ms for node in self.nodes], dtype=np.float64)

    def lay_out(self) -> None:
        """Work out the table now: whoever loads a network waits, not the first who judges a plan on it."""
        _ = self.table

    @cached_property
    def table(self) -> LinkTable:
        """Delay, availability, bandwidth, cost and price between every two nodes."""
        half_duplex = self.duplex == "half"
        if self.scattered:
            pairs, given = self._given_links
            return scattered_links(len(self.nodes), pairs, given, self._distance, half_duplex)
        build = routed_links if self.routing == "shortest_path" else direct_links
        return build(self._given_fields(), self._coordinate_delays(), half_duplex)

    @property
    def scattered(self) -> bool:
        """Whether the table has no matrices: there are many nodes, and neither matrices nor routes."""
        return len(self.nodes) > MOST_IN_MATRICES and not self.matrices and self.routing == "direct"

    def _given_fields(self) -> dict[str, FloatArray]:
        """The fields of links laid over the matrices; NaN where neither has a value."""
        size = len(self.nodes)
        pairs, given = self._given_links
        fields = {}
        for name in LINK_FIELDS:
            matrix = self.matrices.get(name)
            laid = np.full((size, size), np.nan) if matrix is None else matrix.copy()
            there = ~np.isnan(given[name])
            laid[np.divmod(pairs[there], size)] = given[name][there]
            fields[name] = laid
        return fields

    @property
    def _given_links(self) -> tuple[IndexArray, dict[str, FloatArray]]:
        """Links as ascending numbers u * nodes + v, those that hold both ways twice, and their fields."""
        size = len(self.nodes)
        senders = np.array([self.index[link.sender] for link in self.links], dtype=np.intp)
        receivers = np.array([self.index[link.receiver] for link in self.links], dtype=np.intp)
        mirrored = self._without_opposite(senders, receivers)
        forth, back = senders * size + receivers, (receivers * size + senders)[mirrored]
        pairs = np.unique(np.concatenate([forth, back]))
        fields = {}
        for name in LINK_FIELDS:
            values = np.array([_or_nan(getattr(link, name)) for link in self.links], dtype=np.float64)
            laid = np.full(len(pairs), np.nan)
            for places, part in ((back, values[mirrored]), (forth, values)):
                given = ~np.isnan(part)
                laid[np.searchsorted(pairs, places[given])] = part[given]
            fields[name] = laid
        return pairs, fields

    def _without_opposite(self, senders: NDArray[np.intp], receivers: NDArray[np.intp]) -> NDArray[np.bool_]:
        """The links that hold both ways: the network is symmetric and no entry gives the other way."""
        if not self.symmetric:
            return np.zeros(len(senders), dtype=bool)
        size = len(self.nodes)
        return ~np.isin(receivers * size + senders, senders * size + receivers)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """Which nodes have a link, a matrix entry or coordinates in common with any other node."""
        there = np.zeros(len(self.nodes), dtype=bool)
        matrix = self.matrices.get("delay_ms")
        if matrix is not None:
            known = ~np.isnan(matrix)
            np.fill_diagonal(known, False)
            there |= known.any(axis=0) | known.any(axis=1)
        there[[self.index[name] for link in self.links for name in (link.sender, link.receiver)]] = True
        placed = np.array([node.coordinates is not None for node in self.nodes])
        return there | placed if placed.sum() > 1 else there

    @cached_property
    def parts(self) -> IndexArray | None:
        """By node, the part of the network that links connect it with; None where there are too many."""
        connected = self.table.connected
        if isinstance(connected, Known):
            return None
        # only who looks for what is missing waits for scipy
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(csr_array(connected), connection="weak")[1], dtype=np.intp)

    def without(self, lost: IndexArray) -> Network:
        """The network after a loss: these nodes host nothing, hold nothing and have no links.

        They keep their numbers, so that everything known of the others stays right.
        """
        gone = frozenset(lost.tolist())
        names = {self.nodes[number].name for number in gone}
        matrices = {name: matrix.copy() for name, matrix in self.matrices.items()}
        for matrix in matrices.values():
            matrix[lost, :] = matrix[:, lost] = np.nan
        return replace(
            self,
            nodes=tuple(
                replace(node, hosts=False, holds=frozenset(), coordinates=None, height_ms=0.0)
                if number in gone
                else node
                for number, node in enumerate(self.nodes)
            ),
            links=tuple(link for link in self.links if not names & {link.sender, link.receiver}),
            matrices=matrices,
        )

    @property
    def _distance(self) -> Distance | None:
        return None if self.positions is None else Distance(self.positions, self.heights)

    def _coordinate_delays(self) -> FloatArray | None:
        """Euclidean distance plus both heights, NaN where a node has no coordinates."""
        numbers = np.arange(len(self.nodes))
        return None if self._distance is None else self._distance(numbers[:, None], numbers[None, :])


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
