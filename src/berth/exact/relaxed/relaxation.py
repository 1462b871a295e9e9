"""The relaxation of a placement: shares of nodes, of pairs of nodes, and of nodes that two blocks share.

Every block has a share of each of its candidates, and every two blocks that exchange anything a share of
each pair of candidates. That alone is worth little: where all blocks spread in the same way, nothing crosses
a link. So two things are added. Who is on a node together with a block has to fit beside it there (capacities
times shares, as the reformulation-linearisation technique does it). And who shares a node with a block's
companion shares it with the block: such triangles, and the pairs of which they speak, come where a solution
breaks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.exact.costs import Costs
from berth.exact.placement import Edge, Placement
from berth.exact.relaxed.paths import PATHS, Arrivals
from berth.exact.relaxed.peaks import PEAKS, Peak
from berth.exact.relaxed.program import Arrays, Program

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

BROKEN = 1e-3
"""By so much a triangle has to be broken to be added."""
MOST_TRIANGLES = 4_000
"""So many are added at once, those that are broken most."""
NOISE = 1e-9
"""The share of all that is added up in a bound that rounding may come to."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proved bound, and what every choice costs beyond it at least."""

    value: float
    beyond: list[FloatArray]
    """For each block, by candidate."""

    def within(self, most: float) -> list[BoolArray]:
        """For each block, the candidates of plans that cost at most this."""
        return [self.value + beyond <= most + 1e-7 * abs(most) + 1e-12 for beyond in self.beyond]


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The columns of two blocks that exchange something, by both candidates, and which of them are linked."""

    first: int
    second: int
    columns: IndexArray
    linked: BoolArray


class Relaxation:
    """A linear program whose optimum no plan is below."""

    def __init__(
        self, placement: Placement, costs: Costs, unit: float = 1.0, every_edge: bool = False
    ) -> None:
        """Build it.

        Args:
            placement: what is placed.
            costs: what is minimised.
            unit: what costs are counted in: best such that good plans cost about 1.
            every_edge: pairs of nodes for blocks whose exchange costs nothing, too.
        """
        self.program = Program()
        self.triangles = 0
        self._placement, self._unit = placement, unit
        self._nodes = np.unique(np.concatenate(placement.candidates))
        self._at = [np.searchsorted(self._nodes, nodes) for nodes in placement.candidates]
        """For each block, its candidates as positions in `_nodes`, which are called places here."""
        self._needed, self._room, self._group = placement.limit_arrays(self._nodes)
        self._share = self._add_shares(costs)
        """[block, place]: the column; -1: none."""
        self._used = self._add_used(costs)
        """By place, whether it hosts anything; -1: that costs nothing."""
        self._add_limits()
        blocks, places = self._share.shape
        self._together = np.full((blocks, blocks, places), -1, dtype=np.intp)
        """[block, block, place]: the column of both being there; -1: none yet."""
        self._later: list[tuple[IndexArray, IndexArray, IndexArray, IndexArray]] = []
        """Columns of blocks that exchange nothing, with both blocks and the place."""
        timed = {name: costs.factors[name] / unit for name in PATHS if costs.factors.get(name, 0.0) > 0}
        every_edge = every_edge or costs.factors.get("bandwidth_max", 0.0) > 0
        self._columns: dict[tuple[int, int], IndexArray] = {}
        self._pairs = [
            pairs
            for edge, cost in zip(placement.edges, costs.edge, strict=True)
            if (every_edge or cost is not None or timed) and (pairs := self._add_edge(edge, cost)) is not None
        ]
        self._beside = [self._add_beside(needed, room) for needed, room in self._node_limits()]
        """For each limit of nodes, [block, place]: the row of what has to fit beside the block there."""
        self._arrivals = [
            Arrivals(self.program, placement, name, factor, self.shares_of, self.pairs_of)
            for name, factor in timed.items()
        ]
        self._peaks = [
            self._peak(name, costs.factors[name] / unit) for name in PEAKS if costs.factors.get(name, 0.0) > 0
        ]
        self._known_triangles: set[tuple[int, int, int, int]] = set()

    def shares_of(self, block: int) -> IndexArray:
        """The columns of a block, by candidate."""
        columns: IndexArray = self._share[block, self._at[block]]
        return columns

    def pairs_of(self, first: int, second: int) -> IndexArray:
        """The columns of two blocks that exchange something, by both candidates."""
        straight = (first, second) in self._columns
        return self._columns[first, second] if straight else self._columns[second, first].T

    def _peak(self, name: str, cost: float) -> Peak:
        peak = Peak(self.program, cost)
        if name == "bandwidth_max":
            peak.add_links(self._placement, self.pairs_of)
        else:
            peak.add_nodes(self._placement, self.shares_of)
        return peak

    def _add_shares(self, costs: Costs) -> IndexArray:
        share = np.full((len(self._at), len(self._nodes)), -1, dtype=np.intp)
        for block, at in enumerate(self._at):
            share[block, at] = self.program.add_columns(len(at))
            self.program.charge(share[block, at], costs.block[block] / self._unit)
        rows = self.program.add_rows(len(share), 1.0, 1.0)
        blocks, places = np.nonzero(share >= 0)
        self.program.put(rows[blocks], share[blocks, places], 1.0)
        return share

    def _add_used(self, costs: Costs) -> IndexArray:
        price = costs.node[self._nodes] / self._unit
        used = np.full(len(self._nodes), -1, dtype=np.intp)
        dear = np.flatnonzero(price > 0)
        used[dear] = self.program.add_columns(len(dear))
        self.program.charge(used[dear], price[dear])
        blocks, places = np.nonzero((self._share >= 0) & (used >= 0))
        rows = self.program.add_rows(len(blocks), -np.inf, 0.0)
        self.program.put(rows, self._share[blocks, places], 1.0)
        self.program.put(rows, used[places], -1.0)
        return used

    def _add_limits(self) -> None:
        """What places have room for; a node that is paid for has as much of it as it is used."""
        for needed, room, group in zip(self._needed, self._room, self._group, strict=True):
            leaders, index = np.unique(group, return_inverse=True)
            paid = (self._used[leaders] >= 0) & (len(leaders) == len(group))
            rows = self.program.add_rows(len(leaders), -np.inf, np.where(paid, 0.0, room[leaders]))
            blocks, places = np.nonzero((self._share >= 0) & (needed > 0)[:, None])
            self.program.put(rows[index[places]], self._share[blocks, places], needed[blocks])
            self.program.put(rows[paid], self._used[leaders[paid]], -room[leaders[paid]])

    def _add_edge(self, edge: Edge, cost: FloatArray | None) -> _Pairs | None:
        """Columns for two blocks that exchange something; None where one of them has a single candidate."""
        first, second = edge.first, edge.second
        here, there = self._at[first], self._at[second]
        same = here[:, None] == there
        linked = self._placement.linked(edge) & ~(same & ~self._fits(first, second)[here][:, None])
        cost = np.zeros(linked.shape) if cost is None else np.where(linked, cost / self._unit, 0.0)
        alone = 1 in linked.shape
        if alone:
            other = self.shares_of(second) if len(here) == 1 else self.shares_of(first)[:, None]
            columns = np.broadcast_to(other, linked.shape)
        else:
            columns = self.program.add_columns(linked.shape)
            for block, pairs in ((first, columns), (second, columns.T)):
                rows = self.program.add_rows(len(pairs), 0.0, 0.0)
                self.program.put(rows[:, None], pairs, 1.0)
                self.program.put(rows, self.shares_of(block), -1.0)
        self.program.charge(columns, cost)
        self.program.cap(columns[~linked], 0.0)
        self._columns[first, second] = columns
        of_first, of_second = np.nonzero(same)
        place = here[of_first]
        self._together[first, second, place] = columns[of_first, of_second]
        self._together[second, first, place] = columns[of_first, of_second]
        return None if alone else _Pairs(first, second, columns, linked)

    def _fits(self, one: int, other: int) -> BoolArray:
        """By place, whether it has room for two blocks."""
        fits = np.ones(len(self._nodes), dtype=bool)
        for needed, room, group in zip(self._needed, self._room, self._group, strict=True):
            fits &= needed[one] + needed[other] <= room[group] * (1 + NOISE)
        return fits

    def _node_limits(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """What blocks need, and what places have room for, of limits of single nodes."""
        for needed, room, group in zip(self._needed, self._room, self._group, strict=True):
            if (group == np.arange(len(group))).all():
                yield needed, room

    def _add_beside(self, needed: FloatArray, room: FloatArray) -> IndexArray:
        blocks, places = np.nonzero(self._share >= 0)
        rows = np.full(self._share.shape, -1, dtype=np.intp)
        rows[blocks, places] = self.program.add_rows(len(blocks), -np.inf, 0.0)
        left = room[places] - needed[blocks]
        self.program.put(rows[blocks, places], self._share[blocks, places], -left)
        blocks, others, places = np.nonzero((self._together >= 0) & (needed > 0)[None, :, None])
        self.program.put(rows[blocks, places], self._together[blocks, others, places], needed[others])
        return rows

    def add_triangles(self, primal: FloatArray) -> int:
        """Add the triangles that a solution breaks most; how many."""
        primal = np.append(primal, 0.0)
        together, share = primal[self._together], primal[self._share]
        broken = []
        for middle, place in np.argwhere(share > BROKEN).tolist():
            near = np.flatnonzero(together[middle, :, place] > BROKEN)
            beside = together[middle, near, place]
            apart = share[middle, place] + together[near[:, None], near, place]
            excess = np.triu(beside[:, None] + beside - apart, 1)
            for one, other in np.argwhere(excess > BROKEN).tolist():
                triangle = int(near[one]), middle, int(near[other]), place
                if triangle not in self._known_triangles:
                    broken.append((-float(excess[one, other]), triangle))
        worst = [triangle for _, triangle in sorted(broken)[:MOST_TRIANGLES]]
        if worst:
            self._add(*np.array(worst, dtype=np.intp).T)
            self._known_triangles.update(worst)
            self.triangles += len(worst)
        return len(worst)

    def _add(self, one: IndexArray, middle: IndexArray, other: IndexArray, place: IndexArray) -> None:
        self._bring_together(one, other, place)
        rows = self.program.add_rows(len(one), -np.inf, 0.0)
        self.program.put(rows, self._together[one, middle, place], 1.0)
        self.program.put(rows, self._together[middle, other, place], 1.0)
        self.program.put(rows, self._share[middle, place], -1.0)
        both = self._together[one, other, place]
        self.program.put(rows[both >= 0], both[both >= 0], -1.0)

    def _bring_together(self, one: IndexArray, other: IndexArray, place: IndexArray) -> None:
        """Columns for two blocks at one place, where there are none yet and it has room for both."""
        new = self._together[one, other, place] < 0
        new &= (self._share[one, place] >= 0) & (self._share[other, place] >= 0)
        for needed, room, group in zip(self._needed, self._room, self._group, strict=True):
            new &= needed[one] + needed[other] <= room[group[place]] * (1 + NOISE)
        one, other, place = np.unique(np.stack([one, other, place])[:, new], axis=1)
        columns = self.program.add_columns(len(one))
        self._together[one, other, place] = self._together[other, one, place] = columns
        for block in (one, other):
            rows = self.program.add_rows(len(columns), -np.inf, 0.0)
            self.program.put(rows, columns, 1.0)
            self.program.put(rows, self._share[block, place], -1.0)
        for (needed, _), rows in zip(self._node_limits(), self._beside, strict=True):
            self.program.put(rows[one, place], columns, needed[other])
            self.program.put(rows[other, place], columns, needed[one])
        self._later.append((columns, one, other, place))

    def certificate(self, program: Arrays, dual: FloatArray) -> Certificate:
        """The bound that follows from prices of rows, whichever they are.

        They are made such that nothing can be gained without end; then every block takes its cheapest place.
        """
        price = np.where(np.isinf(program.low), np.minimum(dual, 0.0), dual)
        price = np.where(np.isinf(program.high), np.maximum(price, 0.0), price)
        for arrivals in self._arrivals:
            arrivals.mend(price)
        for peak in self._peaks:
            peak.mend(price)
        reduced = program.cost - program.matrix.T @ price
        limit = np.where(price > 0, program.low, program.high)
        paid = np.multiply(limit, price, where=price != 0, out=np.zeros(len(price)))
        cost = np.where(self._share >= 0, reduced[self._share], np.inf)
        cost[(self._share >= 0) & (program.most[self._share] == 0)] = np.inf
        for pairs in self._pairs:
            # what a pair costs is passed on to its blocks, until no pair costs less than nothing
            left = np.where(pairs.linked, reduced[pairs.columns], np.inf)
            least = left.min(axis=1)
            cost[pairs.first, self._at[pairs.first]] += least
            left -= np.where(np.isfinite(least), least, 0.0)[:, None]
            cost[pairs.second, self._at[pairs.second]] += left.min(axis=0)
        for columns, one, other, place in self._later:
            gain = np.minimum(reduced[columns], 0.0) / 2
            np.add.at(cost, (one, place), gain)
            np.add.at(cost, (other, place), gain)
        used = np.minimum(reduced[self._used[self._used >= 0]], 0.0)
        lowest = cost.min(axis=1)
        if np.isinf(lowest).any():
            return Certificate(np.inf, [np.zeros(len(at)) for at in self._at])
        noise = NOISE * float(np.abs(paid).sum() + np.abs(used).sum() + np.abs(lowest).sum())
        value = float(paid.sum() + used.sum() + lowest.sum()) - noise
        beyond = [(cost[block, at] - lowest[block]) * self._unit for block, at in enumerate(self._at)]
        return Certificate(value * self._unit, beyond)
