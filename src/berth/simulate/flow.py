"""How many tuples a second there are, how large they are, and what operators make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.amounts import in_unit
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
    """The units of work that one arriving tuple is: below 1 where a result takes several of them."""
    stream_gain: FloatArray
    """Tuples of every stream for each piece of work: a tuple, or so many as make up a unit."""
    stream_bytes: FloatArray
    """The size of one tuple of every stream."""
    assumed: tuple[str, ...]
    """A line for every stream whose tuples have no size in the problem."""


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
        self._rate, self._throughput = situation.lifted.stream_rate, situation.lifted.throughput
        pairs = situation.pairs
        operator_of = self._graph.operator_of
        self._streams_in: list[list[int]] = [[] for _ in self._graph.operators]
        self._streams_out: list[list[int]] = [[] for _ in self._graph.operators]
        self._pairs: dict[int, NDArray[np.intp]] = {}
        streams, first = np.unique(pairs.stream, return_index=True)
        order = np.argsort(pairs.stream, kind="stable")
        starts = np.searchsorted(pairs.stream[order], streams)
        parts = np.split(order, starts)[1:]
        for stream, at, part in zip(streams.tolist(), first.tolist(), parts, strict=True):
            self._streams_out[int(operator_of[pairs.sender[at]])].append(stream)
            self._streams_in[int(operator_of[pairs.receiver[at]])].append(stream)
            self._pairs[stream] = part
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
        unit, is_source = np.ones(count), np.zeros(count, dtype=bool)
        stream_gain, stream_bytes = np.zeros(len(graph.streams)), np.zeros(len(graph.streams))
        for number in self._order:
            item = graph.operators[number]
            own = slice(item.first, item.first + item.operator.parallelism)
            if not self._streams_in[number]:
                results = self._source_total(number)
                source_rate[own] = arriving[own] = results / item.operator.parallelism
                is_source[own] = True
            else:
                unit[own], results = self._worked_on(number, float(arriving[own].sum()))
            pieces = arriving[own] * np.minimum(unit[own], 1.0)
            worked = float(pieces.sum())
            for stream in self._streams_out[number]:
                tuples = self._tuples(stream, results)
                stream_bytes[stream] = self._rate[stream] / tuples if tuples > 0 else 0.0
                stream_gain[stream] = tuples / worked if worked > 0 else 0.0
                self._send(stream, item.first, pieces * stream_gain[stream], arriving)
        assumed = tuple(self._unsized(stream_bytes))
        return TupleFlow(source_rate, is_source, arriving, unit, stream_gain, stream_bytes, assumed)

    def _unknown(self) -> Iterator[str]:
        position = {
            id(stream): at
            for app in self._situation.problem.applications
            for at, stream in enumerate(app.streams)
        }
        for number in self._order:
            item = self._graph.operators[number]
            for stream in self._streams_out[number]:
                if np.isnan(self._rate[stream]):
                    application = self._graph.operators[self._graph.stream_ends[stream, 0]].application
                    at = position[id(self._graph.streams[stream])]
                    yield (
                        f"applications[{application}].streams[{at}]: its rate is unknown: give it "
                        "bytes_per_s, or its sender output_bytes (with throughput_per_s) or emits_bytes_per_s"
                    )
            alone = not self._streams_in[number] and not self._streams_out[number]
            if alone and np.isnan(self._throughput[number]) and item.operator.emits_bytes_per_s is None:
                yield f"{item.name}: its rate is unknown: give it emits_bytes_per_s, or throughput_per_s"

    def _source_total(self, number: int) -> float:
        """Tuples per second of a source: as many as the stream with the most of them has."""
        if not np.isnan(self._throughput[number]):
            return float(self._throughput[number])
        operator, streams = self._graph.operators[number].operator, self._streams_out[number]
        known = [stream for stream in streams if not np.isnan(self._graph.tuple_bytes[stream])]
        if known:
            return max(float(self._rate[stream] / self._graph.tuple_bytes[stream]) for stream in known)
        emitted = [float(self._rate[stream]) for stream in streams] or [operator.emits_bytes_per_s or 0.0]
        return max(emitted) / (operator.output_bytes or self._tuple_bytes)

    def _worked_on(self, number: int, incoming: float) -> tuple[float, float]:
        """The units of work that an arriving tuple is, and the results per second."""
        if incoming <= 0:
            return 1.0, 0.0
        throughput = float(self._throughput[number])
        if not np.isnan(throughput):
            return throughput / incoming, throughput
        return 1.0, incoming * self._graph.operators[number].operator.selectivity

    def _tuples(self, stream: int, results: float) -> float:
        """Tuples per second of a stream: its bytes by their size, or one for each result of its sender."""
        size = float(self._graph.tuple_bytes[stream])
        return results if np.isnan(size) or results <= 0 else float(self._rate[stream]) / size

    def _send(self, stream: int, first: int, made: FloatArray, arriving: FloatArray) -> None:
        """Add what each instance, from the first on, makes for a stream to those who receive it."""
        pairs, chosen = self._situation.pairs, self._pairs[stream]
        to_all = self._graph.streams[stream].grouping == "all"
        share = 1.0 if to_all else len(made) / len(chosen)
        np.add.at(arriving, pairs.receiver[chosen], made[pairs.sender[chosen] - first] * share)

    def _unsized(self, stream_bytes: FloatArray) -> Iterator[str]:
        """What the problem leaves open: a line for every size that is assumed."""
        for number in self._order:
            item = self._graph.operators[number]
            if not np.isnan(self._throughput[number]):
                continue
            for stream in self._streams_out[number]:
                if np.isnan(self._graph.tuple_bytes[stream]):
                    sender, receiver = (
                        self._graph.operators[end].name for end in self._graph.stream_ends[stream].tolist()
                    )
                    size = in_unit(float(stream_bytes[stream]), "bytes")
                    yield f"stream {sender} -> {receiver}: it has no tuple_bytes, {size} are assumed"
            if not (self._streams_in[number] or self._streams_out[number] or item.operator.output_bytes):
                size = in_unit(self._tuple_bytes, "bytes")
                yield f"operator {item.name}: it has no output_bytes, {size} are assumed"


def unstable(situation: Situation, flow: TupleFlow, processors: Processors) -> tuple[str, ...]:
    """A line for every node, instance and link that has more to do than it can, by the problem's own rates.

    Loads are the judge's. Those that it doesn't know follow from the tuples that are simulated.
    """
    network, running, nodes = situation.network, situation.running, situation.node_of[situation.running]
    simulated = (flow.arriving * flow.unit * situation.graph.work_ms / 1000.0)[running]
    loads = np.where(np.isnan(situation.load[running]), simulated, situation.load[running])
    cores, lines = loads / network.speed[nodes], []
    if processors != "own":
        known, needed = situation.node_load, np.bincount(nodes, loads, len(network.nodes))
        shares = np.where(np.isnan(known), needed, known) / network.processors
        lines += [
            _grows(f"node {network.nodes[at].name}", shares[at])
            for at in np.flatnonzero(shares >= FULL).tolist()
        ]
        # on a node of one core its line says the same
        cores = np.where(network.cores[nodes] > 1.0, cores, 0.0)
    lines += [
        _grows(f"instance {situation.graph.names[running[at]]}", cores[at])
        for at in np.flatnonzero(cores >= FULL).tolist()
    ]
    for here, there, share in _link_shares(situation):
        if share >= FULL:
            lines.append(_grows(f"link {network.nodes[here].name} -> {network.nodes[there].name}", share))
    return tuple(lines)


def _grows(what: str, share: float) -> str:
    return f"{what}: utilisation {share:.4g} (1 or more): its queue grows as long as it runs"


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
