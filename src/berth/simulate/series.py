"""Series over windows of time, from one snapshot after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.simulate.judging import JUDGED
from berth.simulate.quantiles import quantile_ms
from berth.simulate.snapshot import Snapshot, since
from berth.simulate.state import DONE, EMITTED, IN_FLIGHT, LATENCY, LOST, TRAFFIC

FloatArray = NDArray[np.float64]

QUANTILES = {"latency_p50_ms": 0.5, "latency_p95_ms": 0.95, "latency_p99_ms": 0.99}


class Series:
    """What happened in every window."""

    def __init__(self, first: Snapshot) -> None:
        self._before = first
        self._rows: list[dict[str, float]] = []
        self._nodes: list[FloatArray] = []
        self._links: list[FloatArray] = []

    def add(self, now: Snapshot, expected: dict[str, float], moves: int) -> None:
        """A window ends; `expected` is what the judge says of the plan in force, `moves` what moved in it."""
        before, length = self._before, now.time - self._before.time
        counts, sums = now.counts - before.counts, now.sums - before.sums
        histogram = now.histogram - before.histogram
        busy = (now.node_busy - before.node_busy) / length
        links = since(now.link_busy, before.link_busy) / length
        self._rows.append(
            {
                "time_s": now.time,
                "emitted_per_s": counts[EMITTED] / length,
                "results_per_s": counts[DONE] / length,
                "lost_per_s": counts[LOST] / length,
                "latency_mean_ms": latency_mean_ms(now, before),
                **{name: quantile_ms(histogram, share) for name, share in QUANTILES.items()},
                "traffic_bytes_per_s": sums[TRAFFIC] / length,
                "network_usage_bytes": sums[IN_FLIGHT] / length,
                "tuples_at_instances": float((now.area - before.area).sum()) / length,
                "tuples_inside": float(now.inside),
                "busiest_node": float(busy.max(initial=0.0)),
                "busiest_link": float(links.max(initial=0.0)),
                "moves": float(moves),
                **{f"expected_{key}": expected.get(key, np.nan) for key in JUDGED},
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

    def links(self, count: int) -> FloatArray:
        """Windows x links: utilisation; links that were not used yet have 0."""
        table = np.zeros((len(self._links), count))
        for row, values in zip(table, self._links, strict=True):
            row[: len(values)] = values
        return table


def latency_mean_ms(now: Snapshot, before: Snapshot) -> float:
    """The mean latency between two moments; NaN where nothing reached its end."""
    done = int(now.counts[DONE] - before.counts[DONE])
    return 1000.0 * float(now.sums[LATENCY] - before.sums[LATENCY]) / done if done else float("nan")
