"""A simulation as people and programs read it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from berth.cli.output import metric_value, number, out, plain_table
from berth.files import write_text
from berth.model import Problem
from berth.simulate import Simulation

MOST_ROWS = 40


def print_simulation(problem: Problem, simulation: Simulation) -> None:
    """The summary: what was measured beside what the judge expects, then every instance."""
    totals, expected = simulation.totals, simulation.expected
    seconds, events = number(totals.seconds), f"{totals.events:,} events"
    out.print(f"[bold]{escape(problem.name)}[/] · {seconds} s · {totals.emitted:,} tuples in · {events}\n")
    path = f" ({' -> '.join(totals.worst_path)})" if totals.worst_path else ""
    rows = [
        ("latency, mean", _time(totals.latency_mean_ms), ""),
        ("latency, median", _time(totals.latency_p50_ms), ""),
        ("latency, 95 %", _time(totals.latency_p95_ms), ""),
        ("latency, 99 %", _time(totals.latency_p99_ms), ""),
        (f"worst path{path}", _time(totals.worst_path_ms), "response_time_ms"),
        ("traffic", metric_value("traffic_bytes_per_s", totals.traffic_bytes_per_s), "traffic_bytes_per_s"),
        (
            "network usage",
            metric_value("network_usage_bytes", totals.network_usage_bytes),
            "network_usage_bytes",
        ),
        ("elastic energy", "", "elastic_energy"),
        ("results per second", number(totals.results_per_s), ""),
        ("busiest node", _busiest(simulation.node_busy, [node.name for node in problem.network.nodes]), ""),
        ("busiest link", _busiest(simulation.link_utilisation, _link_names(simulation)), ""),
        ("lost tuples", f"{totals.lost:,}", ""),
        ("inside at the end", f"{totals.inside:,}", ""),
        ("instances moved", f"{totals.moves:,}", ""),
    ]
    table = plain_table("", "measured", "expected", right=(1, 2))
    for name, measured, key in rows:
        table.add_row(escape(name), escape(measured), metric_value(key, expected.get(key)) if key else "")
    out.print(table)
    _print_instances(simulation)


def _print_instances(simulation: Simulation) -> None:
    out.print()
    table = plain_table("instance", "node", "arriving/s", "busy", "present", "time there", right=(2, 3, 4, 5))
    busiest = sorted(simulation.instances, key=lambda item: -item.utilisation)[:MOST_ROWS]
    shown = simulation.instances if len(simulation.instances) <= MOST_ROWS else busiest
    for item in shown:
        figures = number(item.arriving_per_s), f"{100 * item.utilisation:.1f} %", number(item.present)
        table.add_row(escape(item.name), escape(item.node), *figures, _time(item.time_ms))
    out.print(table)
    if len(shown) < len(simulation.instances):
        out.print(f"[dim]the busiest of {len(simulation.instances):,}; --json or --out has them all[/]")


def _time(value: float) -> str:
    return "-" if math.isnan(value) else metric_value("response_time_ms", value)


def _busiest(table: np.ndarray[Any, Any], names: Sequence[str]) -> str:
    """The highest mean over time, and whose it is."""
    means = table.mean(axis=0) if table.size else np.zeros(0)
    if not means.any():
        return "-"
    place = int(means.argmax())
    return f"{100 * means[place]:.1f} % ({names[place]})"


def _link_names(simulation: Simulation) -> list[str]:
    return [f"{link.sender} -> {link.receiver}" for link in simulation.links]


def document_of(simulation: Simulation, problem: Problem, violations: Iterable[str]) -> dict[str, Any]:
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


def write_tables(simulation: Simulation, problem: Problem, folder: Path) -> None:
    """The series and averages as CSV; an empty cell where there is nothing to tell."""
    times = simulation.series["time_s"].tolist()
    series = zip(*(values.tolist() for values in simulation.series.values()), strict=True)
    _write(folder / "series.csv", list(simulation.series), series)
    used = np.flatnonzero(simulation.node_busy.any(axis=0))
    names = [problem.network.nodes[at].name for at in used.tolist()]
    busy = zip(times, simulation.node_busy[:, used].tolist(), strict=True)
    _write(folder / "nodes.csv", ["time_s", *names], ([time, *row] for time, row in busy))
    links = zip(times, simulation.link_utilisation.tolist(), strict=True)
    _write(folder / "links.csv", ["time_s", *_link_names(simulation)], ([time, *row] for time, row in links))
    rows = [asdict(item) for item in simulation.instances]
    _write(folder / "instances.csv", list(rows[0]), (list(row.values()) for row in rows))
    moves = ([move.time_s, move.instance, move.before, move.after, move.pause_s] for move in simulation.moves)
    _write(folder / "moves.csv", ["time_s", "instance", "before", "after", "pause_s"], moves)


def _write(file: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row])
    write_text(file, text.getvalue())
