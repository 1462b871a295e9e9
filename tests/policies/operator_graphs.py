"""The operator graphs and networks of paper 003, for tests and benchmarks."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from berth.generators.stream_tree import BYTES_PER_KBIT, StreamTree, StreamTreeParameters, stream_tree
from berth.model import Application, Network, Node, Operator, Problem, Stream

FloatArray = NDArray[np.float64]


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
    return StreamTree().network(StreamTreeParameters(nodes=count, height_ms=2.0), rng, None)


def space_network(count: int, rng: np.random.Generator) -> Network:
    """Nodes that have coordinates and nothing else."""
    places = rng.normal(0, 40, (count, 3)).tolist()
    return Network(tuple(Node(f"n{k}", coordinates=tuple(place)) for k, place in enumerate(places)))


def operator_graph(network: Network, size: Literal[6, 12], rng: np.random.Generator) -> Problem:
    """A tree of 6 or 12 operators (erratum E3.9): pinned sources, 2 to 5 unpinned ones, a pinned sink."""
    application = stream_tree("app", network, rng, StreamTreeParameters(size=size))
    return problem_of(network, application.operators, application.streams)


def problem_of(network: Network, operators: Sequence[Operator], streams: Sequence[Stream]) -> Problem:
    """A problem of one application whose objective is network usage."""
    application = Application("app", tuple(operators), tuple(streams))
    return Problem("graph", network, (application,), objective={"network_usage": 1.0})


def redrawn(problem: Problem, rng: np.random.Generator, selectivity: bool = False) -> Problem:
    """The same graph with new rates of its sources and, if asked for, new selectivities."""
    application = problem.applications[0]
    operators = []
    for operator in application.operators:
        if operator.emits_bytes_per_s is not None:
            operator = replace(operator, emits_bytes_per_s=float(rng.uniform(100, 200)) * BYTES_PER_KBIT)
        elif selectivity and operator.candidates is None:
            operator = replace(operator, selectivity=float(rng.uniform(0, 1)))
        operators.append(operator)
    return replace(problem, applications=(replace(application, operators=tuple(operators)),))
