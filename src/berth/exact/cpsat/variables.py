"""Variables beyond the placement itself, made where a limit or an objective needs them.

Over pairs of blocks: what they cost together, what crosses which link. Over time: when a data unit reaches
each instance, instead of enumerated paths (000, eq. 10, by potentials).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.exact.cpsat.limits import at_least_entry
from berth.exact.paths import PathTimes
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
        self._model.look_at_clock()
        whole = np.round(costs * factor).astype(np.int64)
        if not whole.any():
            return []
        if len(first) == 1:
            return [(v, c) for v, c in zip(second, whole[0].tolist(), strict=True) if c]
        if len(second) == 1:
            return [(v, c) for v, c in zip(first, whole[:, 0].tolist(), strict=True) if c]
        apart = self._same_everywhere_apart(edge_number, whole)
        return apart or [(at_least_entry(self._model.cp, first, second, whole), 1)]

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
            for pairs, forward in edge.directions():
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
            for pairs, forward in edge.directions():
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


class ArrivalTimes:
    """A variable for when a data unit reaches each instance, in units of 1 / factor ms.

    Plans in which anything takes longer than the ceiling are ruled out.
    """

    def __init__(
        self,
        model: CpSatModel,
        times: PathTimes,
        factor: float,
        ceiling: float,
        instances: list[int] | None = None,
    ) -> None:
        self._model = model
        self._times = times
        self.factor = factor
        self._delays: dict[tuple[int, int, int], Any] = {}
        self.rounding = 2 * len(times.placement.graph) + 2
        """No path's rounding adds more units than this."""
        self.horizon = int(np.ceil(min(ceiling, times.horizon) * factor)) + self.rounding
        wanted = set(times.order if instances is None else instances)
        self._instances = [number for number in times.order if number in wanted]
        self._own = {number: self._processing(number) for number in self._instances}
        self._arrival: dict[int, Any] = {}
        for number in self._instances:
            self._arrival[number] = self._after_inputs(number) if times.incoming[number] else 0

    def _after_inputs(self, number: int) -> Any:
        graph = self._times.placement.graph
        arrival = self._model.cp.new_int_var(0, self.horizon, "")
        for pair in self._times.incoming[number]:
            self._model.look_at_clock()
            sender = graph.pair_sender[pair]
            self._model.cp.add(arrival >= self._arrival[sender] + self._own[sender] + self._delay(pair))
        return arrival

    @property
    def depth(self) -> int:
        """The most units that rounding, half a unit for each time, can have added to a path."""
        longest: dict[int, int] = {}
        graph = self._times.placement.graph
        for number in self._instances:
            before = [longest[int(graph.pair_sender[pair])] for pair in self._times.incoming[number]]
            longest[number] = max(before, default=0) + 1
        crowd = len(graph) if self._times.loaded else 1
        return max(longest.values(), default=0) * (1 + crowd) // 2 + 1

    def ends(self) -> list[Any]:
        """Expressions for when instances that send nothing are done, and valid bounds on the last of them."""
        expressions = []
        for number in self._instances:
            block = self._model.x[self._times.placement.block_of[number]]
            tail = self._whole(self._times.tail[number])
            if not self._times.outgoing[number]:
                expressions.append(self._arrival[number] + self._own[number])
            elif self._times.incoming[number]:
                expressions.append(self._arrival[number] + cp_model.LinearExpr.weighted_sum(block, tail))
            through = self._whole(self._times.head[number] + self._times.tail[number])
            expressions.append(cp_model.LinearExpr.weighted_sum(block, through))
        return expressions

    def _whole(self, times: FloatArray) -> list[int]:
        """Times in whole units, rounded down by what rounding could have added along a path."""
        scaled = np.minimum(times * self.factor, self.horizon + self.rounding + 1.0)
        return [max(0, int(value)) for value in np.floor(scaled) - self.rounding]

    def _units(self, times: FloatArray) -> NDArray[np.int64]:
        """Times in whole units; what is over the horizon may be any time over it."""
        return np.round(np.minimum(times * self.factor, self.horizon + 1.0)).astype(np.int64)

    def _processing(self, number: int) -> Any:
        """An instance's own time; in the load model it grows with what else runs on its node."""
        placement, model = self._times.placement, self._model
        block = int(placement.block_of[number])
        alone = self._times.processing(number)
        if not self._times.loaded or not alone.any():
            return cp_model.LinearExpr.weighted_sum(model.x[block], self._units(alone).tolist())
        nodes = placement.candidates[block].tolist()
        per_process = np.minimum(
            placement.graph.work_ms[number] / placement.network.speed[nodes] * self.factor, self.horizon + 1.0
        )
        time = model.cp.new_int_var(0, self.horizon, "")
        for node, literal, unit in zip(nodes, model.x[block], per_process.tolist(), strict=True):
            waiting = float(placement.network.run_queue[node])
            hosted = [
                (places[node], round(unit * len(placement.blocks[other])))
                for other, places in enumerate(model.at)
                if node in places
            ]
            crowd = cp_model.LinearExpr.weighted_sum([v for v, _ in hosted], [c for _, c in hosted])
            waited = round(min(unit * waiting, self.horizon + 1.0))
            model.cp.add(time >= crowd + waited).only_enforce_if(literal)
        return time

    def _delay(self, pair: int) -> Any:
        """A pair's transfer time, one variable for all pairs with the same times between the same blocks."""
        placement = self._times.placement
        sender = int(placement.block_of[placement.graph.pair_sender[pair]])
        receiver = int(placement.block_of[placement.graph.pair_receiver[pair]])
        if sender == receiver:
            return 0
        unit = int(placement.graph.pair_stream[pair]) if self._times.loaded else -1
        key = sender, receiver, unit
        if key not in self._delays:
            matrix = self._times.transfer(pair)
            # Where there is no link nothing can be placed: any time will do.
            whole = self._units(np.where(np.isfinite(matrix), matrix, 0.0))
            first, second = self._model.x[sender], self._model.x[receiver]
            if len(first) == 1:
                self._delays[key] = cp_model.LinearExpr.weighted_sum(second, whole[0].tolist())
            elif len(second) == 1:
                self._delays[key] = cp_model.LinearExpr.weighted_sum(first, whole[:, 0].tolist())
            else:
                self._delays[key] = at_least_entry(self._model.cp, first, second, whole)
        return self._delays[key]
