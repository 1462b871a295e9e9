"""What crosses links in a relaxation, and the fullest link and the busiest node as columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.exact.placement import Placement
from berth.exact.relaxed.program import Program

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Flow = tuple[IndexArray, IndexArray, IndexArray, float]
"""Columns, the nodes of sender and receiver, and bytes per second."""

PEAKS = ("bandwidth_max", "utilisation_max")


def flows(placement: Placement, pairs: Callable[[int, int], IndexArray]) -> list[Flow]:
    """For each two blocks and way, what goes between which nodes by which columns."""
    found = []
    for edge in placement.edges:
        here, there = placement.grid(edge.first, edge.second)
        columns = pairs(edge.first, edge.second)
        for positions, forward in edge.directions():
            rate = float(placement.rate[positions].sum())
            ends = (here, there) if forward else (there, here)
            if rate > 0:
                found.append((columns.ravel(), ends[0].ravel(), ends[1].ravel(), rate))
    return found


def crossings(
    placement: Placement, pairs: Callable[[int, int], IndexArray]
) -> dict[int, list[tuple[IndexArray, float]]]:
    """For each link with a bandwidth, the columns of what crosses it, with bytes per second."""
    table = placement.network.table
    bandwidth = table.physical_bandwidth.ravel()
    found: dict[int, list[tuple[IndexArray, float]]] = {}
    for columns, here, there, rate in flows(placement, pairs):
        position, link = table.physical_hops(here, there)
        order = np.argsort(link, kind="stable")
        limited = order[np.isfinite(bandwidth[link[order]])]
        starts = np.flatnonzero(np.diff(link[limited])) + 1
        for part in np.split(limited, starts):
            if len(part):
                found.setdefault(int(link[part[0]]), []).append((columns[position[part]], rate))
    return found


class Peak:
    """A column that is at least what every link, or every node, is used."""

    def __init__(self, program: Program, cost: float) -> None:
        self._program, self._cost = program, cost
        self._column = program.add_columns(1, most=np.inf)
        program.charge(self._column, cost)
        self._rows: list[IndexArray] = []

    def add_links(self, placement: Placement, pairs: Callable[[int, int], IndexArray]) -> None:
        """It is at least the share of every link's bandwidth in use."""
        bandwidth = placement.network.table.physical_bandwidth.ravel()
        for link, terms in crossings(placement, pairs).items():
            if bandwidth[link] <= 0:
                continue  # nothing crosses it
            row = self._below(1)
            for columns, rate in terms:
                self._program.put(row, columns, rate / bandwidth[link])

    def add_nodes(self, placement: Placement, shares: Callable[[int], IndexArray]) -> None:
        """It is at least the utilisation of every node, and of a core by every instance."""
        loads, network = placement.graph.load, placement.network
        rows = self._below(len(network.nodes))
        for block, numbers in enumerate(placement.blocks):
            nodes = placement.candidates[block]
            whole = loads[numbers].sum() / network.processors[nodes]
            self._program.put(rows[nodes], shares(block), whole)
            self._program.put(self._below(1), shares(block), loads[numbers].max() / network.speed[nodes])

    def _below(self, count: int) -> IndexArray:
        rows = self._program.add_rows(count, -np.inf, 0.0)
        self._program.put(rows, self._column, -1.0)
        self._rows.append(rows)
        return rows

    def mend(self, price: FloatArray) -> None:
        """Make prices of the rows such that the peak is not worth more than it costs, in place."""
        rows = np.concatenate(self._rows) if self._rows else np.zeros(0, dtype=np.intp)
        worth = -price[rows].sum()
        if worth > self._cost:
            price[rows] *= self._cost / worth
