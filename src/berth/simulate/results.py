"""What a simulation tells, at its end and to a planner while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import Plan
from berth.model.pair_fields import PairField
from berth.simulate.events import Outage
from berth.simulate.options import Options

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Move:
    """An instance that changed its node, and how long that stopped it."""

    time_s: float
    instance: str
    before: str
    after: str
    pause_s: float


@dataclass(frozen=True)
class Totals:
    """Everything after the warm-up; the numbers that are averages are over that time."""

    seconds: float
    emitted: int
    """Tuples that came in from outside."""
    results: int
    """Tuples that reached the end of their way."""
    lost: int
    inside: int
    """Tuples that were on their way at the end."""
    sent: int
    """Tuples that instances made."""
    served: int
    """Tuples that instances worked on. Without a warm-up emitted + sent = served + joined + lost + inside."""
    joined: int
    """Tuples that became one unit of work with others."""
    events: int
    results_per_s: float
    latency_mean_ms: float
    """NaN, as are the quantiles, where nothing reached its end."""
    latency_p50_ms: float
    latency_p95_ms: float
    latency_p99_ms: float
    latency_max_ms: float
    """Of the whole time, the warm-up included."""
    worst_path_ms: float
    """The highest mean latency between a source and a sink."""
    worst_path: tuple[str, str] | None
    traffic_bytes_per_s: float
    network_usage_bytes: float
    moves: int


@dataclass(frozen=True, eq=False)
class InstanceFigures:
    """Averages of every instance after the warm-up."""

    name: str
    node: str
    """Where it was at the end."""
    arriving_per_s: float
    utilisation: float
    present: float
    """Tuples that wait or are served there."""
    time_ms: float
    """How long a tuple is there; NaN where none was served."""
    lost: int


@dataclass(frozen=True)
class LinkFigures:
    """Averages of a link after the warm-up."""

    sender: str
    receiver: str
    bytes_per_s: float
    utilisation: float
    """0 where the bandwidth is unlimited."""
    wait_ms: float
    """How long a tuple waits until its transmission begins."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Totals, averages of every part, and series over windows of time."""

    options: Options
    plan: Plan
    """The plan that was in force at the end."""
    totals: Totals
    expected: Mapping[str, float]
    """What the judge says of the first plan."""
    series: Mapping[str, FloatArray]
    """Over windows: `time_s` is their ends; NaN where there is nothing to tell."""
    node_busy: FloatArray
    """Windows x nodes: how many processors were busy."""
    link_utilisation: FloatArray
    """Windows x links, aligned with `links`."""
    instances: tuple[InstanceFigures, ...]
    links: tuple[LinkFigures, ...]
    latency_counts: IntArray
    """The histogram of latencies after the warm-up: see `latency_edges_ms`."""
    latency_edges_ms: FloatArray
    moves: tuple[Move, ...]
    outages: tuple[Outage, ...]
    unstable: tuple[str, ...]
    """What can't keep up with the problem's own rates."""
    recorded: NDArray[np.void]
    """The first results: birth, finish, row of the source, instance of the sink."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a planner is told about the time since it was asked last."""

    time_s: float
    assignment: Mapping[str, str]
    down: tuple[str, ...]
    stream_bytes_per_s: FloatArray
    """Of the problem's streams, over all applications."""
    source_tuples_per_s: float
    delay_ms: FloatArray | PairField
    """Between all nodes, at this moment."""
    latency_mean_ms: float
    node_busy: FloatArray
