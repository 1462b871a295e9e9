"""What a simulation tells, at its end and to a planner while it runs; also as plain data and as tables."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.model import Plan, Problem
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
class Phase:
    """The time before a loss, until its failover is done, or afterwards."""

    name: str
    from_s: float
    to_s: float
    latency_mean_ms: float
    """NaN, as are the quantiles, where nothing reached its end."""
    latency_p95_ms: float
    results_per_s: float
    lost: int
    """Tuples."""


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
    phases: tuple[Phase, ...]
    """Before, during and after losses; empty without any."""
    outages: tuple[Outage, ...]
    unstable: tuple[str, ...]
    """What can't keep up with the problem's own rates."""
    assumed: tuple[str, ...]
    """The sizes of tuples that the problem doesn't have."""
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


def simulation_document(
    simulation: Simulation, problem: Problem, violations: Iterable[str] = (), warnings: Iterable[str] = ()
) -> dict[str, Any]:
    """Everything as plain data; null where there is nothing to tell."""
    counts, edges = simulation.latency_counts, simulation.latency_edges_ms
    filled = np.flatnonzero(counts)
    document: dict[str, Any] = _plain(
        {
            "problem": problem.name,
            "options": asdict(simulation.options),
            "totals": asdict(simulation.totals),
            "expected": dict(simulation.expected),
            "violations": list(violations),
            "warnings": list(warnings),
            "assumed": list(simulation.assumed),
            "unstable": list(simulation.unstable),
            "instances": [asdict(item) for item in simulation.instances],
            "nodes": dict(
                zip(problem.network.index, simulation.node_busy.mean(axis=0).tolist(), strict=True)
            ),
            "links": [asdict(item) for item in simulation.links],
            "moves": [asdict(item) for item in simulation.moves],
            "phases": [asdict(item) for item in simulation.phases],
            "outages": [asdict(item) for item in simulation.outages],
            "latency_histogram": [
                {"from_ms": edges[at], "to_ms": edges[at + 1], "tuples": int(counts[at])} for at in filled
            ],
            "series": {name: values.tolist() for name, values in simulation.series.items()},
        }
    )
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def simulation_tables(simulation: Simulation, problem: Problem) -> dict[str, str]:
    """The series and averages as CSV, by file name; an empty cell where there is nothing to tell."""
    times = simulation.series["time_s"].tolist()
    series = zip(*(values.tolist() for values in simulation.series.values()), strict=True)
    used = np.flatnonzero(simulation.node_busy.any(axis=0))
    nodes = [problem.network.nodes[at].name for at in used.tolist()]
    busy = zip(times, simulation.node_busy[:, used].tolist(), strict=True)
    links = zip(times, simulation.link_utilisation.tolist(), strict=True)
    instances = [asdict(item) for item in simulation.instances]
    return {
        "series.csv": _csv(list(simulation.series), series),
        "nodes.csv": _csv(["time_s", *nodes], ([time, *row] for time, row in busy)),
        "links.csv": _csv(["time_s", *link_names(simulation)], ([time, *row] for time, row in links)),
        "instances.csv": _csv(list(instances[0]), (list(row.values()) for row in instances)),
        "moves.csv": _csv([field.name for field in fields(Move)], map(astuple, simulation.moves)),
    }


def link_names(simulation: Simulation) -> list[str]:
    """What the links are called, as `simulation.links` has them."""
    return [f"{link.sender} -> {link.receiver}" for link in simulation.links]


def _csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row])
    return text.getvalue()
