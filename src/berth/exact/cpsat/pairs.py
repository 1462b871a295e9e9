"""Variables over pairs of blocks: what they cost together, what crosses which link."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.model.pair_fields import PairField

if TYPE_CHECKING:
    from berth.exact.cpsat.model import CpSatModel

FloatArray = NDArray[np.float64]
Terms = list[tuple[Any, float]]


class PairVariables:
    """Made on demand: most models need few of them."""

    def __init__(self, model: CpSatModel) -> None:
        self._model = model
        self._placement = model.placement
        self._both: dict[tuple[int, int, int, int], Any] = {}
        self._split: dict[int, Any] = {}

    def both(self, first: int, here: int, second: int, there: int) -> Any:
        """True exactly where one block is on one node and another on another (y of 000, eq. 13 and 14)."""
        key = first, here, second, there
        if key not in self._both:
            one, other = self._model.at[first][here], self._model.at[second][there]
            if len(self._model.x[first]) == 1:
                self._both[key] = other
            elif len(self._model.x[second]) == 1:
                self._both[key] = one
            else:
                literal = self._model.cp.new_bool_var("")
                self._model.cp.add_implication(literal, one)
                self._model.cp.add_implication(literal, other)
                self._model.cp.add_bool_or([literal, one.negated(), other.negated()])
                self._both[key] = literal
        return self._both[key]

    def cost_terms(self, edge_number: int, costs: FloatArray, factor: float) -> list[tuple[Any, int]]:
        """Terms, in units of 1 / factor, that sum to at least the cost of where an edge's blocks are.

        They reach it exactly when minimised or bounded from above, which is all they are used for.
        """
        edge = self._placement.edges[edge_number]
        first, second = self._model.x[edge.first], self._model.x[edge.second]
        whole = np.round(costs * factor).astype(np.int64)
        if not whole.any():
            return []
        if len(first) == 1:
            return [(v, c) for v, c in zip(second, whole[0].tolist(), strict=True) if c]
        if len(second) == 1:
            return [(v, c) for v, c in zip(first, whole[:, 0].tolist(), strict=True) if c]
        apart = self._same_everywhere_apart(edge_number, whole)
        return apart or [(self.conditional(first, second, whole), 1)]

    def conditional(self, first: list[Any], second: list[Any], whole: NDArray[np.int64]) -> Any:
        """A variable that is at least the entry of a matrix at the two blocks' candidates."""
        return at_least_entry(self._model.cp, first, second, whole)

    def _same_everywhere_apart(self, edge_number: int, whole: NDArray[np.int64]) -> list[tuple[Any, int]]:
        """A cost that is one value wherever the blocks are apart: one literal for each shared node."""
        edge = self._placement.edges[edge_number]
        here, there = self._placement.grid(edge.first, edge.second)
        apart = whole[here != there]
        if len(apart) == 0 or apart.min() != apart.max() or np.any(whole[here == there]):
            return []
        return [(self.split(edge_number), int(apart[0]))]

    def split(self, edge_number: int) -> Any:
        """True exactly where an edge's blocks are on different nodes."""
        if edge_number in self._split:
            return self._split[edge_number]
        edge, cp = self._placement.edges[edge_number], self._model.cp
        first, second = self._model.at[edge.first], self._model.at[edge.second]
        common = []
        for node in first.keys() & second.keys():
            literal = cp.new_bool_var("")
            cp.add_implication(literal, first[node])
            cp.add_implication(literal, second[node])
            cp.add_bool_or([literal, first[node].negated(), second[node].negated()])
            common.append(literal)
        self._split[edge_number] = literal = cp.new_bool_var("")
        cp.add_exactly_one([literal, *common])
        return literal

    def crossings(
        self, bandwidth: FloatArray | PairField, share: float = 1.0
    ) -> dict[int, Callable[[], Terms]]:
        """For every link that could be used beyond a share of it, how to get what crosses it."""
        placement = self._placement
        found: dict[int, list[tuple[int, bool, float, int, int]]] = {}
        for number, edge in enumerate(placement.edges):
            here, there = placement.grid(edge.first, edge.second)
            for pairs, forward in edge.ways():
                rate = float(placement.rate[pairs].sum())
                if rate <= 0:
                    continue
                ends = (here.ravel(), there.ravel()) if forward else (there.ravel(), here.ravel())
                position, link = placement.network.table.physical_hops(*ends)
                limited = np.isfinite(bandwidth.ravel()[link])
                for flow, crossed in zip(position[limited].tolist(), link[limited].tolist(), strict=True):
                    row, column = divmod(flow, here.shape[1])
                    found.setdefault(crossed, []).append((number, forward, rate, row, column))
        return {
            link: _bind(self._crossing_terms, entries)
            for link, entries in found.items()
            if sum({(n, f): r for n, f, r, _, _ in entries}.values()) > share * bandwidth.ravel()[link]
        }

    def _crossing_terms(self, entries: list[tuple[int, bool, float, int, int]]) -> Terms:
        terms = []
        for number, _, rate, row, column in entries:
            edge = self._placement.edges[number]
            here = int(self._placement.candidates[edge.first][row])
            there = int(self._placement.candidates[edge.second][column])
            terms.append((self.both(edge.first, here, edge.second, there), rate))
        return terms

    def leaving(self, node: int, most: float) -> Terms:
        """What goes between a node and all others."""
        placement, model = self._placement, self._model
        concerned = []
        for edge in placement.edges:
            rate = float(placement.rate[np.concatenate([edge.forward, edge.backward])].sum())
            one, other = model.at[edge.first].get(node), model.at[edge.second].get(node)
            if rate > 0 and (one is not None or other is not None):
                concerned.append((one, other, rate))
        if sum(rate for _, _, rate in concerned) <= most:
            return []
        return [(self._exactly_one(one, other), rate) for one, other, rate in concerned]

    def _exactly_one(self, one: Any | None, other: Any | None) -> Any:
        if one is None or other is None:
            return other if one is None else one
        literal = self._model.cp.new_bool_var("")
        self._model.cp.add_bool_or([literal, one.negated(), other])
        self._model.cp.add_bool_or([literal, one, other.negated()])
        return literal

    def port_shares(self) -> dict[tuple[int, str], Terms]:
        """For every node and way, the shares of link bandwidth that results take (004, constraint 2)."""
        placement = self._placement
        bandwidth = placement.network.table.bandwidth_bytes_per_s
        shares: dict[tuple[int, str], Terms] = {}
        for edge in placement.edges:
            for pairs, forward in edge.ways():
                rate = float(placement.rate[pairs].sum())
                for here in placement.candidates[edge.first].tolist():
                    for there in placement.candidates[edge.second].tolist():
                        ends = (here, there) if forward else (there, here)
                        room = float(bandwidth[ends])
                        if rate <= 0 or here == there or np.isinf(room):
                            continue
                        # A share above 1 breaks the limit alone; how far above does not matter.
                        share = min(rate / room, 2.0) if room else 2.0
                        literal = self.both(edge.first, here, edge.second, there)
                        shares.setdefault((ends[0], "sending"), []).append((literal, share))
                        shares.setdefault((ends[1], "receiving"), []).append((literal, share))
        return shares


def _bind(make: Callable[[Any], Terms], entries: Any) -> Callable[[], Terms]:
    return lambda: make(entries)


def at_least_entry(
    cp: cp_model.CpModel, first: list[Any], second: list[Any], whole: NDArray[np.int64]
) -> Any:
    """A variable that is at least the entry of a matrix at what is chosen in two places."""
    variable = cp.new_int_var(int(whole.min()), int(whole.max()), "")
    for choice, others, rows in ((first, second, whole), (second, first, whole.T)):
        lowest = rows.min(axis=1)
        for literal, row, least in zip(choice, rows, lowest.tolist(), strict=True):
            # Only what is above the row's least entry needs terms: exactly one of `others` is true.
            raised = row - least
            over = np.flatnonzero(raised)
            expression = cp_model.LinearExpr.weighted_sum(
                [others[k] for k in over.tolist()], raised[over].tolist()
            )
            cp.add(variable >= expression + least).only_enforce_if(literal)
        cp.add(variable >= cp_model.LinearExpr.weighted_sum(choice, lowest.tolist()))
    return variable
