"""Arrival times instead of enumerated paths (000, eq. 10, by potentials)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

from berth.exact.paths import PathTimes

if TYPE_CHECKING:
    from berth.exact.cpsat.model import CpSatModel


class ArrivalTimes:
    """A variable for when a data unit reaches each instance, in units of 1 / factor ms."""

    def __init__(self, model: CpSatModel, times: PathTimes, factor: float) -> None:
        self._model = model
        self._times = times
        self.factor = factor
        self._delays: dict[tuple[int, int, int], Any] = {}
        # Rounding up by at most a unit on each hop can't push a time beyond this.
        self.horizon = int(times.horizon * factor) + 2 * len(times.placement.graph) + 2
        graph = times.placement.graph
        self._own = [self._processing(number) for number in range(len(graph))]
        self._arrival: list[Any] = [0] * len(graph)
        for number in times.order:
            if times.incoming[number]:
                self._arrival[number] = self._after_inputs(number)

    def _after_inputs(self, number: int) -> Any:
        graph = self._times.placement.graph
        arrival = self._model.cp.new_int_var(0, self.horizon, "")
        for pair in self._times.incoming[number]:
            sender = graph.pair_sender[pair]
            self._model.cp.add(arrival >= self._arrival[sender] + self._own[sender] + self._delay(pair))
        return arrival

    def ends(self, instances: list[int]) -> list[Any]:
        """Expressions for when each of some instances that send nothing is done, and valid bounds on it."""
        expressions = []
        for number in instances:
            block = self._model.x[self._times.placement.block_of[number]]
            tail = self._whole(self._times.tail[number])
            if not self._times.outgoing[number]:
                expressions.append(self._arrival[number] + self._own[number])
            elif self._times.incoming[number]:
                expressions.append(self._arrival[number] + cp_model.LinearExpr.weighted_sum(block, tail))
            through = self._whole(self._times.head[number] + self._times.tail[number])
            expressions.append(cp_model.LinearExpr.weighted_sum(block, through))
        return expressions

    def _whole(self, times: np.ndarray) -> list[int]:
        """Times in whole units, rounded down by what rounding could have added along a path."""
        hops = 2 * len(self._times.placement.graph)
        scaled = np.minimum(times * self.factor, float(self.horizon))
        return [max(0, int(value)) for value in np.floor(scaled) - hops]

    def _processing(self, number: int) -> Any:
        """An instance's own time; in the load model it grows with what else runs on its node."""
        placement, model = self._times.placement, self._model
        block = int(placement.block_of[number])
        alone = self._times.processing(number)
        if not self._times.loaded or not alone.any():
            return cp_model.LinearExpr.weighted_sum(
                model.x[block], [round(value) for value in (alone * self.factor).tolist()]
            )
        nodes = placement.candidates[block].tolist()
        per_process = placement.graph.work_ms[number] / placement.network.speed[nodes] * self.factor
        time = model.cp.new_int_var(0, self.horizon, "")
        for node, literal, unit in zip(nodes, model.x[block], per_process.tolist(), strict=True):
            waiting = float(placement.network.run_queue[node])
            hosted = [
                (places[node], round(unit * len(placement.blocks[other])))
                for other, places in enumerate(model.at)
                if node in places
            ]
            crowd = cp_model.LinearExpr.weighted_sum([v for v, _ in hosted], [c for _, c in hosted])
            model.cp.add(time >= crowd + round(unit * waiting)).only_enforce_if(literal)
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
            whole = np.round(np.where(np.isfinite(matrix), matrix, 0.0) * self.factor).astype(np.int64)
            first, second = self._model.x[sender], self._model.x[receiver]
            if len(first) == 1:
                self._delays[key] = cp_model.LinearExpr.weighted_sum(second, whole[0].tolist())
            elif len(second) == 1:
                self._delays[key] = cp_model.LinearExpr.weighted_sum(first, whole[:, 0].tolist())
            else:
                self._delays[key] = self._model.pairs.conditional(first, second, whole)
        return self._delays[key]
