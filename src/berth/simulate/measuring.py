"""From one snapshot to another: totals, averages and series over windows of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from berth.core import simulation as core
from berth.evaluation import Situation
from berth.simulate.machine import Machine
from berth.simulate.results import InstanceFigures, LinkFigures, Phase, Totals
from berth.simulate.routes import Routes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EDGES_MS: FloatArray = 1000.0 * 10.0 ** (
    core.FIRST_DECADE + np.arange(core.DECADES * core.BINS_PER_DECADE + 1) / core.BINS_PER_DECADE
)
"""The edges of the classes of latencies."""
QUANTILES = {"latency_p50_ms": 0.5, "latency_p95_ms": 0.95, "latency_p99_ms": 0.99}
EXPECTED = ("response_time_ms", "traffic_bytes_per_s", "network_usage_bytes", "elastic_energy")
"""The judge's metrics that a simulation shows beside what it measures."""


def quantile_ms(counts: IntArray, share: float) -> float:
    """The latency that a share of all is not above, within 1.2 %; NaN without any."""
    total = int(counts.sum())
    if total == 0:
        return float("nan")
    reached = np.cumsum(counts)
    wanted = share * total
    place = int(np.searchsorted(reached, wanted))
    before = int(reached[place] - counts[place])
    part = (wanted - before) / int(counts[place])
    return float(EDGES_MS[place] * (EDGES_MS[place + 1] / EDGES_MS[place]) ** part)


def latency_mean_ms(now: core.Snapshot, before: core.Snapshot) -> float:
    """The mean latency between two moments; NaN where nothing reached its end."""
    results = now.results - before.results
    return 1000.0 * (now.latency_s - before.latency_s) / results if results else float("nan")


def grown(now: FloatArray | IntArray, before: FloatArray | IntArray) -> FloatArray:
    """The difference of two arrays, of which the later one may be longer."""
    earlier = np.zeros(len(now))
    earlier[: len(before)] = before
    return np.asarray(now - earlier, dtype=np.float64)


def totals(
    situation: Situation, machine: Machine, begin: core.Snapshot, end: core.Snapshot, moves: int
) -> Totals:
    """What happened between two moments."""
    seconds, results = end.time - begin.time, end.results - begin.results
    histogram = end.histogram - begin.histogram
    worst, path = _worst_path(situation, machine, begin, end)
    longest = 1000.0 * end.worst_latency_s if results else float("nan")
    return Totals(
        seconds=seconds,
        emitted=end.emitted - begin.emitted,
        results=results,
        lost=end.lost - begin.lost,
        inside=end.inside,
        sent=end.sent - begin.sent,
        served=end.served - begin.served,
        joined=end.joined - begin.joined,
        events=end.events - begin.events,
        results_per_s=results / seconds,
        latency_mean_ms=latency_mean_ms(end, begin),
        # the classes of the histogram are a percent wide
        **{name: min(longest, quantile_ms(histogram, share)) for name, share in QUANTILES.items()},
        latency_max_ms=longest,
        worst_path_ms=worst,
        worst_path=path,
        traffic_bytes_per_s=(end.traffic_bytes - begin.traffic_bytes) / seconds,
        network_usage_bytes=(end.byte_seconds - begin.byte_seconds) / seconds,
        moves=moves,
    )


def phases_between(marks: Sequence[tuple[str, core.Snapshot]], end: core.Snapshot) -> tuple[Phase, ...]:
    """What happened from each mark to the next, the last one until the end."""
    ends = [*(snapshot for _, snapshot in marks[1:]), end]
    return tuple(
        Phase(
            name=name,
            from_s=begin.time,
            to_s=until.time,
            latency_mean_ms=latency_mean_ms(until, begin),
            latency_p95_ms=quantile_ms(until.histogram - begin.histogram, 0.95),
            results_per_s=(until.results - begin.results) / (until.time - begin.time),
            lost=until.lost - begin.lost,
        )
        for (name, begin), until in zip(marks, ends, strict=True)
        if until.time > begin.time
    )


def _worst_path(
    situation: Situation, machine: Machine, begin: core.Snapshot, end: core.Snapshot
) -> tuple[float, tuple[str, str] | None]:
    """The highest mean latency between a source and a sink, and which they are."""
    count = end.pair_results - begin.pair_results
    if not count.any():
        return float("nan"), None
    latency = end.pair_latency_s - begin.pair_latency_s
    means = np.where(count > 0, latency / np.maximum(count, 1), -1.0)
    worst = int(np.argmax(means))
    row, column = divmod(worst, int(machine.sink_column.max()) + 1)
    names = situation.graph.names
    source = int(np.flatnonzero(machine.source_row == row)[0])
    sink = int(np.flatnonzero(machine.sink_column == column)[0])
    return 1000.0 * float(means[worst]), (names[source], names[sink])


def instance_figures(
    situation: Situation, begin: core.Snapshot, end: core.Snapshot
) -> tuple[InstanceFigures, ...]:
    """Averages of every instance that runs."""
    seconds = end.time - begin.time
    arrived = end.instance_arrived - begin.instance_arrived
    served, lost = end.instance_served - begin.instance_served, end.instance_lost - begin.instance_lost
    tuple_seconds = end.instance_tuple_seconds - begin.instance_tuple_seconds
    busy = end.instance_busy - begin.instance_busy
    return tuple(
        InstanceFigures(
            name=situation.graph.names[number],
            node=situation.network.nodes[situation.node_of[number]].name,
            arriving_per_s=float(arrived[number]) / seconds,
            utilisation=float(busy[number]) / seconds,
            present=float(tuple_seconds[number]) / seconds,
            # by Little's law
            time_ms=1000.0 * float(tuple_seconds[number]) / int(served[number]) if served[number] else np.nan,
            lost=int(lost[number]),
        )
        for number in situation.running.tolist()
    )


def link_figures(
    situation: Situation, routes: Routes, begin: core.Snapshot, end: core.Snapshot
) -> tuple[LinkFigures, ...]:
    """Averages of every link that was ever in use."""
    seconds, nodes = end.time - begin.time, situation.network.nodes
    carried = grown(end.link_bytes, begin.link_bytes) / seconds
    busy = grown(end.link_busy, begin.link_busy) / seconds
    wait, tuples = grown(end.link_wait, begin.link_wait), grown(end.link_tuples, begin.link_tuples)
    waits = 1000.0 * wait / np.maximum(tuples, 1.0)
    return tuple(
        LinkFigures(
            sender=nodes[key // len(nodes)].name,
            receiver=nodes[key % len(nodes)].name,
            bytes_per_s=float(carried[number]),
            utilisation=float(busy[number]),
            wait_ms=float(waits[number]),
        )
        for key, number in routes.links.items()
    )


class Series:
    """What happened in every window."""

    def __init__(self, first: core.Snapshot, cores: FloatArray) -> None:
        self._before, self._cores = first, cores
        self._rows: list[dict[str, float]] = []
        self._nodes: list[FloatArray] = []
        self._links: list[FloatArray] = []

    def add(self, now: core.Snapshot, expected: dict[str, float], moves: int) -> None:
        """Add a window; `expected` is what the judge says of the plan in force, `moves` what moved in it."""
        before, seconds = self._before, now.time - self._before.time
        histogram = now.histogram - before.histogram
        busy = (now.node_busy - before.node_busy) / seconds
        links = grown(now.link_busy, before.link_busy) / seconds
        tuple_seconds = now.instance_tuple_seconds - before.instance_tuple_seconds
        self._rows.append(
            {
                "time_s": now.time,
                "emitted_per_s": (now.emitted - before.emitted) / seconds,
                "results_per_s": (now.results - before.results) / seconds,
                "lost_per_s": (now.lost - before.lost) / seconds,
                "latency_mean_ms": latency_mean_ms(now, before),
                **{name: quantile_ms(histogram, share) for name, share in QUANTILES.items()},
                "traffic_bytes_per_s": (now.traffic_bytes - before.traffic_bytes) / seconds,
                "network_usage_bytes": (now.byte_seconds - before.byte_seconds) / seconds,
                "tuples_at_instances": float(tuple_seconds.sum()) / seconds,
                "tuples_inside": float(now.inside),
                "busiest_node": float((busy / self._cores).max(initial=0.0)),
                "busiest_link": float(links.max(initial=0.0)),
                "moves": float(moves),
                **{f"expected_{key}": expected.get(key, np.nan) for key in EXPECTED},
            }
        )
        self._nodes.append(busy)
        self._links.append(links)
        self._before = now

    def columns(self) -> dict[str, FloatArray]:
        """The series by name."""
        return {name: np.array([row[name] for row in self._rows]) for name in self._rows[0]}

    def nodes(self) -> FloatArray:
        """Windows x nodes: busy processors."""
        return np.array(self._nodes)

    def links(self) -> FloatArray:
        """Windows x links: utilisation; links that were not used yet have 0."""
        table = np.zeros((len(self._links), len(self._links[-1])))
        for row, values in zip(table, self._links, strict=True):
            row[: len(values)] = values
        return table
