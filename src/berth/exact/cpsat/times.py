"""Arrival times instead of enumerated paths (000, eq. 10, by potentials)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.exact.paths import PathTimes

if TYPE_CHECKING:
    from berth.exact.cpsat.model import CpSatModel

FloatArray = NDArray[np.float64]


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
                self._delays[key] = self._model.pairs.conditional(first, second, whole)
        return self._delays[key]
