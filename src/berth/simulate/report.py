"""A simulation as plain data and as tables, for programs that read it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from berth.model import Problem
from berth.simulate.results import Simulation


def simulation_document(
    simulation: Simulation, problem: Problem, violations: Iterable[str] = ()
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
            "unstable": list(simulation.unstable),
            "instances": [asdict(item) for item in simulation.instances],
            "nodes": dict(
                zip(problem.network.index, simulation.node_busy.mean(axis=0).tolist(), strict=True)
            ),
            "links": [asdict(item) for item in simulation.links],
            "moves": [asdict(item) for item in simulation.moves],
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
    moves = ([move.time_s, move.instance, move.before, move.after, move.pause_s] for move in simulation.moves)
    return {
        "series.csv": _csv(list(simulation.series), series),
        "nodes.csv": _csv(["time_s", *nodes], ([time, *row] for time, row in busy)),
        "links.csv": _csv(["time_s", *link_names(simulation)], ([time, *row] for time, row in links)),
        "instances.csv": _csv(list(instances[0]), (list(row.values()) for row in instances)),
        "moves.csv": _csv(["time_s", "instance", "before", "after", "pause_s"], moves),
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
