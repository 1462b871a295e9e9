"""Networks for tests and benchmarks of policies in the latency space."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from berth.generators.stream_tree import StreamTree
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


def measured_network(delays: FloatArray, count: int, rng: np.random.Generator) -> Network:
    """Some of a matrix's nodes, drawn at random."""
    chosen = np.sort(rng.choice(len(delays), min(count, len(delays)), replace=False))
    matrix = delays[np.ix_(chosen, chosen)]
    return Network(tuple(Node(f"n{k}") for k in chosen.tolist()), matrices={"delay_ms": matrix})


def noisy_network(count: int, rng: np.random.Generator) -> Network:
    """Five clusters in space, delays that the space meets only roughly (card X3.1, without data)."""
    return StreamTree(nodes=count, height_ms=2.0).network(rng, None)


def space_network(count: int, rng: np.random.Generator) -> Network:
    """Nodes that have coordinates and nothing else."""
    places = rng.normal(0, 40, (count, 3)).tolist()
    return Network(tuple(Node(f"n{k}", coordinates=tuple(place)) for k, place in enumerate(places)))


def problem_of(network: Network, operators: Sequence[Operator], streams: Sequence[Stream]) -> Problem:
    """A problem of one application whose objective is network usage."""
    application = Application("app", tuple(operators), tuple(streams))
    return Problem("graph", network, (application,), objective={"network_usage": 1.0})
