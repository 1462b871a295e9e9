"""Totals and averages between the end of the warm-up and the end."""

from __future__ import annotations

import numpy as np

from berth.evaluation import Situation
from berth.simulate.quantiles import quantile_ms
from berth.simulate.series import latency_mean_ms
from berth.simulate.simulation import InstanceFigures, LinkFigures, Totals
from berth.simulate.snapshot import Snapshot, since
from berth.simulate.state import (
    CONSUMED,
    DONE,
    EMITTED,
    EVENTS,
    IN_FLIGHT,
    JOINED,
    LOST,
    SENT,
    TRAFFIC,
    WORST,
    State,
)
from berth.simulate.wiring import Routes


def totals(situation: Situation, state: State, begin: Snapshot, end: Snapshot, moves: int) -> Totals:
    """What happened between two moments."""
    seconds = end.time - begin.time
    counts, sums = end.counts - begin.counts, end.sums - begin.sums
    histogram = end.histogram - begin.histogram
    worst, path = _worst_path(situation, state, begin, end)
    # the classes of the histogram are a percent wide
    longest = 1000.0 * float(end.sums[WORST]) if counts[DONE] else float("nan")
    return Totals(
        seconds=seconds,
        emitted=int(counts[EMITTED]),
        results=int(counts[DONE]),
        lost=int(counts[LOST]),
        inside=end.inside,
        sent=int(counts[SENT]),
        served=int(counts[CONSUMED]),
        joined=int(counts[JOINED]),
        events=int(counts[EVENTS]),
        results_per_s=float(counts[DONE]) / seconds,
        latency_mean_ms=latency_mean_ms(end, begin),
        latency_p50_ms=min(longest, quantile_ms(histogram, 0.5)),
        latency_p95_ms=min(longest, quantile_ms(histogram, 0.95)),
        latency_p99_ms=min(longest, quantile_ms(histogram, 0.99)),
        latency_max_ms=longest,
        worst_path_ms=worst,
        worst_path=path,
        traffic_bytes_per_s=float(sums[TRAFFIC]) / seconds,
        network_usage_bytes=float(sums[IN_FLIGHT]) / seconds,
        moves=moves,
    )


def _worst_path(
    situation: Situation, state: State, begin: Snapshot, end: Snapshot
) -> tuple[float, tuple[str, str] | None]:
    """The highest mean latency between a source and a sink, and which they are."""
    count = end.pair_count - begin.pair_count
    if not count.any():
        return float("nan"), None
    means = np.where(count > 0, (end.pair_sum - begin.pair_sum) / np.maximum(count, 1), -1.0)
    row, column = np.unravel_index(int(np.argmax(means)), means.shape)
    names = situation.graph.names
    source = int(np.flatnonzero(state.work.instances["source"] == row)[0])
    sink = int(np.flatnonzero(state.work.instances["sink"] == column)[0])
    return 1000.0 * float(means[row, column]), (names[source], names[sink])


def instance_figures(situation: Situation, begin: Snapshot, end: Snapshot) -> tuple[InstanceFigures, ...]:
    """Averages of every instance that runs."""
    seconds = end.time - begin.time
    area, served = end.area - begin.area, end.served - begin.served
    arrived, lost = end.arrived - begin.arrived, end.lost - begin.lost
    busy = end.instance_busy - begin.instance_busy
    return tuple(
        InstanceFigures(
            name=situation.graph.names[number],
            node=situation.network.nodes[situation.node_of[number]].name,
            arriving_per_s=float(arrived[number]) / seconds,
            utilisation=float(busy[number]) / seconds,
            present=float(area[number]) / seconds,
            # by Little's law
            time_ms=1000.0 * float(area[number]) / int(served[number]) if served[number] else float("nan"),
            lost=int(lost[number]),
        )
        for number in situation.running.tolist()
    )


def link_figures(
    situation: Situation, routes: Routes, begin: Snapshot, end: Snapshot
) -> tuple[LinkFigures, ...]:
    """Averages of every link that was ever in use."""
    seconds, nodes = end.time - begin.time, situation.network.nodes
    carried = since(end.link_bytes, begin.link_bytes) / seconds
    busy = since(end.link_busy, begin.link_busy) / seconds
    wait, tuples = since(end.link_wait, begin.link_wait), since(end.link_tuples, begin.link_tuples)
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
