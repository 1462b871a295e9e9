"""Response times in a relaxation: when data reach every instance, by the shares of pairs of nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.exact.paths import PathTimes
from berth.exact.placement import Placement
from berth.exact.relaxed.program import Program

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

PATHS = ("response_time", "response_time_sum", "loaded_response_time")


class Arrivals:
    """Rows for the worst path, or for those of all applications added up."""

    def __init__(
        self,
        program: Program,
        placement: Placement,
        name: str,
        factor: float,
        shares: Callable[[int], IndexArray],
        pairs: Callable[[int, int], IndexArray],
        most: FloatArray | None = None,
    ) -> None:
        """Add columns for times, in units of the objective, and rows that say what they are at least.

        Args:
            program: what is added to.
            placement: what is placed.
            name: the metric.
            factor: what it counts in the objective.
            shares: the columns of a block, by candidate.
            pairs: the columns of two blocks, by both candidates.
            most: limits of the times, which cost nothing then.
        """
        self._times = times = PathTimes(placement, loaded=name == "loaded_response_time")
        graph, block_of = placement.graph, placement.block_of
        arrival = program.add_columns(len(graph), most=np.inf)
        groups = graph.application_of if name == "response_time_sum" else np.zeros(len(graph), dtype=np.intp)
        worst = program.add_columns(int(groups.max()) + 1, most=np.inf)
        program.charge(worst, 1.0 if most is None else 0.0)
        if most is not None:
            program.cap(worst, most)
        self._last = np.array([k for k in range(len(graph)) if not times.outgoing[k]], dtype=np.intp)
        self._group_of_last = groups[self._last]
        self._ends = program.add_rows(len(self._last), 0.0, np.inf)
        program.put(self._ends, worst[self._group_of_last], 1.0)
        program.put(self._ends, arrival[self._last], -1.0)
        self._pairs = program.add_rows(len(graph.pair_sender), 0.0, np.inf)
        program.put(self._pairs, arrival[graph.pair_receiver], 1.0)
        program.put(self._pairs, arrival[graph.pair_sender], -1.0)
        leaving = [*zip(self._ends, self._last.tolist(), strict=True)]
        leaving += zip(self._pairs, graph.pair_sender.tolist(), strict=True)
        for row, number in leaving:
            program.put(row, shares(int(block_of[number])), -factor * times.processing(number))
        for pair, row in enumerate(self._pairs):
            ends = int(block_of[graph.pair_sender[pair]]), int(block_of[graph.pair_receiver[pair]])
            if ends[0] != ends[1]:
                transfer = times.transfer(pair)
                program.put(row, pairs(*ends), -factor * np.where(np.isfinite(transfer), transfer, 0.0))

    def mend(self, price: FloatArray) -> None:
        """Make prices of the rows such that no time is worth more than it costs, in place.

        They are a flow from the ends back to the sources: of every instance, no more comes in than goes out.
        """
        graph = self._times.placement.graph
        total = np.bincount(self._group_of_last, price[self._ends])
        price[self._ends] /= np.maximum(total, 1.0)[self._group_of_last]
        onward = np.zeros(len(graph))
        onward[self._last] = price[self._ends]
        for number in reversed(self._times.order):
            pairs = self._times.incoming[number]
            rows = self._pairs[pairs]
            coming = price[rows].sum()
            if coming > onward[number]:
                price[rows] *= onward[number] / coming
            np.add.at(onward, graph.pair_sender[pairs], price[rows])
