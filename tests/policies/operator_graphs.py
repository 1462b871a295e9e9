"""The operator graphs and networks of paper 003, for tests and benchmarks."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from berth.model import Application, Network, Node, Operator, Problem, Stream

FloatArray = NDArray[np.float64]

KBPS = 125.0
"""Bytes per second."""


def planetlab(part: int) -> FloatArray | None:
    """One-way delays of 490 PlanetLab nodes, in ms; None where the data isn't there."""
    file = Path(os.environ.get("BERTH_DATA", "")) / "planetlab_490" / f"PlanetLabData_0{part}.tsv.gz"
    if not file.is_file():
        return None
    with gzip.open(file, "rt") as lines:
        return np.loadtxt(lines) / 2.0


def iot_lab() -> FloatArray | None:
    """One-way delays of 283 nodes of a test-bed, NaN where none was measured; None without the data."""
    file = Path(os.environ.get("BERTH_DATA", "")) / "fit_iot_283" / "rtt_round_0.csv"
    if not file.is_file():
        return None
    rows = list(csv.reader(file.read_text().splitlines()))[1:]
    delays = np.array([[float(cell) if cell not in ("", "NA") else np.nan for cell in row] for row in rows])
    delays[delays == 0] = np.nan
    np.fill_diagonal(delays, 0.0)
    return delays / 2.0


def skyplane() -> FloatArray | None:
    """One-way delays of 69 cloud regions; None without the data."""
    file = Path(os.environ.get("BERTH_DATA", "")) / "skyplane_69" / "latency.csv"
    if not file.is_file():
        return None
    entries = list(csv.DictReader(file.read_text().splitlines()))
    index = {name: k for k, name in enumerate(sorted({entry["src_region"] for entry in entries}))}
    delays = np.full((len(index), len(index)), np.nan)
    for entry in entries:
        if entry["dst_region"] in index:
            delays[index[entry["src_region"]], index[entry["dst_region"]]] = float(entry["avg_rtt"]) / 2.0
    np.fill_diagonal(delays, 0.0)
    return delays


def measured_network(delays: FloatArray, count: int, rng: np.random.Generator) -> Network:
    """Some of a matrix's nodes, drawn at random."""
    chosen = np.sort(rng.choice(len(delays), min(count, len(delays)), replace=False))
    matrix = delays[np.ix_(chosen, chosen)]
    return Network(tuple(Node(f"n{k}") for k in chosen.tolist()), matrices={"delay_ms": matrix})


def noisy_network(count: int, rng: np.random.Generator) -> Network:
    """Five clusters in space, delays that the space meets only roughly (card X3.1, without data)."""
    centres = rng.uniform(0, 120, (5, 3))
    places = centres[rng.integers(5, size=count)] + rng.normal(0, 12, (count, 3))
    delays = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    noise = np.triu(rng.normal(0, 0.15, (count, count)), 1)
    heights = rng.exponential(2.0, count)
    delays = delays * np.exp(noise + noise.T) + heights[:, None] + heights[None, :]
    np.fill_diagonal(delays, 0.0)
    return Network(tuple(Node(f"n{k}") for k in range(count)), matrices={"delay_ms": delays})


def space_network(count: int, rng: np.random.Generator) -> Network:
    """Nodes that have coordinates and nothing else."""
    places = rng.normal(0, 40, (count, 3)).tolist()
    return Network(tuple(Node(f"n{k}", coordinates=tuple(place)) for k, place in enumerate(places)))


def operator_graph(network: Network, size: int, rng: np.random.Generator) -> Problem:
    """A tree of 6 or 12 operators (erratum E3.9): pinned sources, 2 to 5 unpinned ones, a pinned sink."""
    children = _tree(size, rng)
    operators = [Operator(f"operator{k}", selectivity=float(rng.uniform(0, 1))) for k in range(len(children))]
    streams = [Stream("operator0", "sink")]
    for parent, entries in enumerate(children):
        for child in entries:
            if child is None:
                name = f"source{len(operators) - len(children)}"
                rate = float(rng.uniform(100, 200)) * KBPS
                operators.append(Operator(name, candidates=_anywhere(network, rng), emits_bytes_per_s=rate))
            else:
                name = f"operator{child}"
            streams.append(Stream(name, f"operator{parent}"))
    operators.append(Operator("sink", candidates=_anywhere(network, rng)))
    return problem_of(network, operators, streams)


def problem_of(network: Network, operators: Sequence[Operator], streams: Sequence[Stream]) -> Problem:
    """A problem of one application whose objective is network usage."""
    application = Application("app", tuple(operators), tuple(streams))
    return Problem("graph", network, (application,), objective={"network_usage": 1.0})


def _anywhere(network: Network, rng: np.random.Generator) -> tuple[str]:
    return (network.nodes[int(rng.integers(len(network.nodes)))].name,)


def _tree(size: int, rng: np.random.Generator) -> list[list[int | None]]:
    """For each unpinned operator its children: numbers of unpinned ones, None for a source."""
    if size == 6:
        counts = [2, 2]
    elif rng.random() < 0.5:
        counts = [2] * 5
    else:
        counts = rng.permutation([2, 2, 3, 3]).tolist()
    children: list[list[int | None]] = [[None] * count for count in counts]
    open_places = [(0, place) for place in range(counts[0])]
    for operator in range(1, len(counts)):
        parent, place = open_places.pop(int(rng.integers(len(open_places))))
        children[parent][place] = operator
        open_places += [(operator, place) for place in range(counts[operator])]
    return children


def redrawn(problem: Problem, rng: np.random.Generator, selectivity: bool = False) -> Problem:
    """The same graph with new rates of its sources and, if asked for, new selectivities."""
    application = problem.applications[0]
    operators = []
    for operator in application.operators:
        if operator.emits_bytes_per_s is not None:
            operator = replace(operator, emits_bytes_per_s=float(rng.uniform(100, 200)) * KBPS)
        elif selectivity and operator.candidates is None:
            operator = replace(operator, selectivity=float(rng.uniform(0, 1)))
        operators.append(operator)
    return replace(problem, applications=(replace(application, operators=tuple(operators)),))
