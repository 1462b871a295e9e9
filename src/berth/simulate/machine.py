"""The running system: tuples move in it, and what happens from outside is done to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.core import simulation as core
from berth.evaluation import Situation
from berth.model import BadInput
from berth.simulate.flow import TupleFlow
from berth.simulate.options import Options
from berth.simulate.routes import LOCAL, Outputs, Routes, outputs_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_INSIDE = 5_000_000
EVENTS_AT_ONCE = 100_000
"""After so many events, some 40 ms, Python gets the chance to notice Ctrl-C."""
MOST_PAIRS = 1_000_000
"""Sources times sinks up to which latencies are kept for each pair of instances; beyond, of operators."""

RESULT = [("birth", "f8"), ("finish", "f8"), ("origin", "i8"), ("target", "i8")]


class Machine:
    """Instances on nodes, with their queues and links, at a moment."""

    def __init__(
        self, situation: Situation, flow: TupleFlow, options: Options, random: np.random.Generator
    ) -> None:
        self._situation, self._flow, self._options = situation, flow, options
        self._work_s = situation.graph.work_ms / 1000.0 * np.maximum(flow.unit, 1.0)
        self.outputs = outputs_of(situation)
        self.routes = Routes(situation.problem)
        self.source_row, self.sink_column = _latency_table(situation, flow, self.outputs)
        self._core = core.Machine(
            random,
            situation.network.cores,
            unit=np.minimum(flow.unit, 1.0),
            source_row=_int32(self.source_row),
            sink_column=_int32(self.sink_column),
            first_output=_int32(self.outputs.first),
            tuple_bytes=flow.stream_bytes[self.outputs.stream],
            gain=flow.stream_gain[self.outputs.stream],
            first_receiver=_int32(self.outputs.receiver),
            receivers=_int32(self.outputs.count),
            first_route=_int32(self.outputs.pair),
            to_all=self.outputs.to_all,
            processors=options.processors,
            regular_arrivals=options.arrivals == "regular",
            fixed_service=options.service == "fixed",
            split_in_turn=options.split == "in-turn",
            jitter_s=options.jitter_ms / 1000.0,
            record=options.record,
            most_inside=MOST_INSIDE,
        )
        self._place(situation)
        self._paused_until = np.zeros(len(situation.graph))
        self._times_down = np.zeros(len(situation.network.nodes), dtype=np.int64)
        self._delay_factor: FloatArray | None = None
        first_gaps = self._first_gaps(random)
        for source in np.flatnonzero(flow.is_source).tolist():
            self._core.set_first_gaps(source, first_gaps[source])
        self.set_rates(np.ones(len(situation.graph)), 0.0)

    @property
    def down(self) -> NDArray[np.bool_]:
        """Which nodes are down."""
        return self._times_down > 0

    def snapshot(self, now: float) -> core.Snapshot:
        """How far everything is."""
        return self._core.snapshot(now)

    def recorded(self) -> NDArray[np.void]:
        """The first results, as many as the options ask for."""
        columns = self._core.results()
        found = np.zeros(len(columns[0]), dtype=RESULT)
        for (name, _), column in zip(RESULT, columns, strict=True):
            found[name] = column
        return found

    def advance(self, until: float) -> None:
        """Let tuples move until a time.

        Raises:
            BadInput: there are more of them inside than fit.
        """
        while not self._core.advance(until, EVENTS_AT_ONCE):
            if self._core.full:
                full = f"more than {MOST_INSIDE:,} tuples are inside after {self._core.now:.4g} s"
                raise BadInput([f"{full}: simulate a shorter time, lower rates or larger tuples"])

    # sources

    def _first_gaps(self, random: np.random.Generator) -> FloatArray:
        """When each source begins, in multiples of the time between two of its tuples."""
        graph, sources = self._situation.graph, np.flatnonzero(self._flow.is_source)
        if self._options.arrivals == "poisson":
            gaps = np.zeros(len(graph))
            gaps[sources] = random.standard_exponential(len(sources))
            return gaps
        first = np.array([item.first for item in graph.operators])[graph.operator_of]
        return np.asarray((np.arange(len(graph)) - first) / graph.operator_values("parallelism"))

    def set_rates(self, factor: FloatArray, now: float) -> None:
        """Let sources emit so many times what the problem says; what is due comes sooner or later by that."""
        for source in np.flatnonzero(self._flow.is_source).tolist():
            rate = self._flow.source_rate[source] * factor[source]
            self._core.set_gap(source, 1.0 / rate if rate > 0 else np.inf, now)

    # nodes and instances

    def set_down(self, node: int, change: int, now: float) -> None:
        """A node fails (1) or is back from a failure (-1)."""
        self._times_down[node] += change
        for instance in np.flatnonzero(self._situation.node_of == node).tolist():
            self.refresh(instance, now)

    def refresh(self, instance: int, now: float) -> None:
        """Stop an instance, or let it go on, as its node and its own pause ask for."""
        if not self._situation.computed[instance]:
            return
        if self.down[self._situation.node_of[instance]]:
            self._core.stop(instance, self._options.failures == "lose", now)
        elif self._paused_until[instance] > now:
            self._core.stop(instance, self._options.migrations == "lose", now)
        else:
            self._core.resume(instance, now)

    def move(self, situation: Situation, now: float) -> list[tuple[int, float]]:
        """Put another plan in force; gives what moved and how long that stops it."""
        before = self._situation.node_of
        moved = np.flatnonzero(situation.computed & (before != situation.node_of))
        pauses = self._pauses(situation, moved)
        for instance in moved.tolist():
            self._core.stop(instance, self._options.migrations == "lose", now)
        self._situation = situation
        self._place(situation)
        self._apply_delay_factor()
        self._paused_until[moved] = now + pauses
        for instance in moved.tolist():
            self.refresh(instance, now)
        return list(zip(moved.tolist(), pauses.tolist(), strict=True))

    def _place(self, situation: Situation) -> None:
        routes = self.routes.between(situation, self.outputs)
        first = np.array(self.routes.first)
        local = routes == LOCAL
        node = np.where(situation.computed, situation.node_of, -1)
        self._core.set_network(
            _int32(self.routes.hop_link), np.array(self.routes.hop_delay), np.array(self.routes.bandwidth)
        )
        self._core.place(
            _int32(node),
            self._work_s / situation.network.speed[np.maximum(node, 0)],
            _int32(np.where(local, -1, first[routes])),
            _int32(np.where(local, -1, first[np.minimum(routes + 1, len(first) - 1)])),
        )

    def _pauses(self, situation: Situation, moved: NDArray[np.intp]) -> FloatArray:
        """A fixed time, and the time that the state takes on the way."""
        bytes_moved = situation.graph.operator_values("state_bytes")[moved]
        here, there = self._situation.node_of[moved], situation.node_of[moved]
        bandwidth = np.asarray(situation.network.table.bandwidth_bytes_per_s[here, there])
        sending = np.divide(
            bytes_moved, bandwidth, out=np.where(bytes_moved > 0, np.inf, 0.0), where=bandwidth > 0
        )
        return np.asarray(self._options.pause_s + np.nan_to_num(sending, nan=0.0, posinf=np.inf))

    # delays

    def set_delay_factor(self, factor: FloatArray) -> None:
        """Let every delay between two nodes be so many times what the problem says."""
        self._delay_factor = factor
        self._apply_delay_factor()

    def _apply_delay_factor(self) -> None:
        if self._delay_factor is None or not self.routes.ends:
            return
        ends = np.array(list(self.routes.ends))
        factor = self._delay_factor[ends[:, 0], ends[:, 1]]
        self._core.set_delays(np.array(self.routes.hop_delay) * factor[self.routes.hop_route])


def _int32(values: IntArray | list[int]) -> NDArray[np.int32]:
    return np.asarray(values, dtype=np.int32)


def _latency_table(situation: Situation, flow: TupleFlow, outputs: Outputs) -> tuple[IntArray, IntArray]:
    """The row of every source and the column of every sink; -1 for the other instances."""
    sinks = situation.computed & (np.diff(outputs.first) == 0)
    by_operator = int(flow.is_source.sum()) * int(sinks.sum()) > MOST_PAIRS
    group = situation.graph.operator_of if by_operator else np.arange(len(situation.graph))
    return _numbered(group, flow.is_source), _numbered(group, sinks)


def _numbered(group: NDArray[np.integer], among: NDArray[np.bool_]) -> IntArray:
    """Numbers from 0 on for the groups of some instances; -1 for the others."""
    numbers = np.full(len(group), -1, dtype=np.int64)
    chosen = np.flatnonzero(among)
    numbers[chosen] = np.unique(group[chosen], return_inverse=True)[1]
    return numbers
