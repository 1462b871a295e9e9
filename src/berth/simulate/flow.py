"""How many tuples a second there are, how large they are, and what operators make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.model import BadInput
from berth.simulate.options import Processors

FloatArray = NDArray[np.float64]

FULL = 1.0 - 1e-9
"""A utilisation from here on can't be kept up."""


@dataclass(frozen=True, eq=False)
class TupleFlow:
    """Tuples instead of bytes. Arrays over instances, unless said."""

    source_rate: FloatArray
    """Tuples per second that come in from outside; 0 for what is no source."""
    is_source: NDArray[np.bool_]
    arriving: FloatArray
    """Tuples per second that are expected to arrive, those from outside included."""
    unit: FloatArray
    """The part of a unit of work that one arriving tuple is: 1, or less where a result takes several."""
    gain: FloatArray
    """Results per unit of work; each goes to every outgoing stream."""
    stream_bytes: FloatArray
    """The size of one tuple of every stream."""


def tuple_flow(situation: Situation, tuple_bytes: float) -> TupleFlow:
    """The tuples that follow from a problem's rates.

    Raises:
        BadInput: a rate is unknown.
    """
    return _Flow(situation, tuple_bytes).flow()


class _Flow:
    def __init__(self, situation: Situation, tuple_bytes: float) -> None:
        self._situation = situation
        self._graph = situation.graph
        self._tuple_bytes = tuple_bytes
        pairs = situation.pairs
        operator_of = self._graph.operator_of
        self._streams_in: list[list[int]] = [[] for _ in self._graph.operators]
        self._streams_out: list[list[int]] = [[] for _ in self._graph.operators]
        streams, first = np.unique(pairs.stream, return_index=True)
        self._sender = np.full(len(self._graph.streams), -1)
        for stream, at in zip(streams.tolist(), first.tolist(), strict=True):
            sender, receiver = int(operator_of[pairs.sender[at]]), int(operator_of[pairs.receiver[at]])
            self._sender[stream] = sender
            self._streams_out[sender].append(stream)
            self._streams_in[receiver].append(stream)
        runs = np.zeros(len(self._graph.operators), dtype=bool)
        runs[operator_of[situation.computed]] = True
        self._computed = runs
        self._order = self._provided_first()

    def _provided_first(self) -> list[int]:
        """The computed operators, senders before receivers, reused results included."""
        waiting = {
            number: len(self._streams_in[number]) for number in np.flatnonzero(self._computed).tolist()
        }
        ready = [number for number in self._graph.operator_order if waiting.get(number) == 0]
        for number in ready:
            for stream in self._streams_out[number]:
                receiver = int(self._graph.stream_ends[stream, 1])
                waiting[receiver] -= 1
                if waiting[receiver] == 0:
                    ready.append(receiver)
        return ready

    def flow(self) -> TupleFlow:
        mistakes = list(self._unknown())
        if mistakes:
            raise BadInput(mistakes)
        graph, count = self._graph, len(self._graph)
        arriving, source_rate = np.zeros(count), np.zeros(count)
        unit, gain, is_source = np.ones(count), np.ones(count), np.zeros(count, dtype=bool)
        stream_bytes = np.zeros(len(graph.streams))
        for number in self._order:
            item = graph.operators[number]
            own = slice(item.first, item.first + item.operator.parallelism)
            if not self._streams_in[number]:
                total = self._source_total(number)
                source_rate[own] = arriving[own] = total / item.operator.parallelism
                is_source[own] = True
                made = arriving[own]
            else:
                incoming = float(arriving[own].sum())
                unit[own], gain[own] = self._made_of(number, incoming)
                made = arriving[own] * unit[own] * gain[own]
            self._send(number, made, arriving)
            results = float(made.sum())
            for stream in self._streams_out[number]:
                rate = self._situation.lifted.stream_rate[stream]
                stream_bytes[stream] = rate / results if results > 0 else 0.0
        return TupleFlow(source_rate, is_source, arriving, unit, gain, stream_bytes)

    def _unknown(self) -> Iterator[str]:
        rate, throughput = self._situation.lifted.stream_rate, self._situation.lifted.throughput
        position = {
            id(stream): at
            for app in self._situation.problem.applications
            for at, stream in enumerate(app.streams)
        }
        for number in self._order:
            item = self._graph.operators[number]
            for stream in self._streams_out[number]:
                if np.isnan(rate[stream]):
                    application = self._graph.operators[self._graph.stream_ends[stream, 0]].application
                    at = position[id(self._graph.streams[stream])]
                    yield (
                        f"applications[{application}].streams[{at}]: its rate is unknown: give it "
                        "bytes_per_s, or its sender output_bytes (with throughput_per_s) or emits_bytes_per_s"
                    )
            alone = not self._streams_in[number] and not self._streams_out[number]
            if alone and np.isnan(throughput[number]) and item.operator.emits_bytes_per_s is None:
                yield f"{item.name}: its rate is unknown: give it emits_bytes_per_s, or throughput_per_s"

    def _source_total(self, number: int) -> float:
        """Tuples per second of a source."""
        throughput = self._situation.lifted.throughput[number]
        if not np.isnan(throughput):
            return float(throughput)
        operator = self._graph.operators[number].operator
        rates = [float(self._situation.lifted.stream_rate[stream]) for stream in self._streams_out[number]]
        emitted = max(rates) if rates else float(operator.emits_bytes_per_s or 0.0)
        return emitted / (operator.output_bytes or self._tuple_bytes)

    def _made_of(self, number: int, incoming: float) -> tuple[float, float]:
        """The unit of work that a tuple is, and the results of one unit."""
        operator = self._graph.operators[number].operator
        throughput = float(self._situation.lifted.throughput[number])
        if incoming <= 0:
            return 1.0, 0.0
        if not np.isnan(throughput):
            unit = min(1.0, throughput / incoming)
            return unit, throughput / (incoming * unit) if unit > 0 else 0.0
        rates = [float(self._situation.lifted.stream_rate[stream]) for stream in self._streams_out[number]]
        if operator.output_bytes and rates:
            return 1.0, max(rates) / operator.output_bytes / incoming
        return 1.0, operator.selectivity

    def _send(self, number: int, made: FloatArray, arriving: FloatArray) -> None:
        """Add what an operator's results are to those who receive them."""
        for stream in self._streams_out[number]:
            receiver = self._graph.operators[self._graph.stream_ends[stream, 1]]
            first, count = receiver.first, receiver.operator.parallelism
            grouping = self._graph.streams[stream].grouping
            if grouping == "global":
                arriving[first] += made.sum()
            else:
                share = 1.0 if grouping == "all" else 1.0 / count
                arriving[first : first + count] += made.sum() * share


def unstable(situation: Situation, flow: TupleFlow, processors: Processors) -> tuple[str, ...]:
    """A line for every server and link that has more to do than it can, by the problem's own rates."""
    graph, network = situation.graph, situation.network
    running = situation.running
    speed = network.speed[situation.node_of[running]]
    load = flow.arriving[running] * flow.unit[running] * graph.work_ms[running] / 1000.0 / speed
    end = "its queue grows as long as it runs"
    if processors == "own":
        lines = [
            f"instance {graph.names[running[at]]}: utilisation {load[at]:.4g} (1 or more): {end}"
            for at in np.flatnonzero(load >= FULL).tolist()
        ]
    else:
        loads = np.bincount(situation.node_of[running], load, len(network.nodes))
        lines = [
            f"node {network.nodes[at].name}: utilisation {loads[at]:.4g} (1 or more): {end}"
            for at in np.flatnonzero(loads >= FULL).tolist()
        ]
    for here, there, share in _link_shares(situation):
        if share >= FULL:
            ends = f"{network.nodes[here].name} -> {network.nodes[there].name}"
            lines.append(f"link {ends}: utilisation {share:.4g} (1 or more): {end}")
    return tuple(lines)


def _link_shares(situation: Situation) -> list[tuple[int, int, float]]:
    """The ends of every physical link in use, and the share of its bandwidth that all streams take."""
    pairs, table = situation.pairs, situation.network.table
    ends = situation.node_of[pairs.sender], situation.node_of[pairs.receiver]
    flows, crossed = table.physical_hops(*ends)
    links, group = np.unique(crossed, return_inverse=True)
    carried = np.bincount(group, pairs.rate[flows], len(links))
    here, there = np.divmod(links, len(situation.network.nodes))
    bandwidth = np.asarray(table.physical_bandwidth[here, there])
    shares = np.divide(carried, bandwidth, out=np.where(carried > 0, np.inf, 0.0), where=bandwidth > 0)
    return list(zip(here.tolist(), there.tolist(), shares.tolist(), strict=True))
