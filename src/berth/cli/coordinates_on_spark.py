"""`berth coordinates --spark`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from berth.cli.options import session_for
from berth.cli.progress import watching
from berth.model import Network

if TYPE_CHECKING:
    from berth.pipeline.coordinates import Located as SparkLocated
    from berth.pipeline.coordinates import Measurements
    from berth.space.coordinates import Coordinates
    from berth.space.network_space import Located
    from berth.space.samples import Samples
    from berth.space.vivaldi import VivaldiOptions
    from berth.spark import SparkSession


@dataclass(frozen=True)
class ProbeCounts:
    """What is said of tables of probes."""

    records: int
    pairs: int
    rejected: Mapping[str, int]


def locate_on_spark(
    network: Network,
    probes: list[Path],
    options: VivaldiOptions,
    seed: int,
    most_listed: int,
    beside: Path,
    master: str | None,
    configuration: list[str] | None,
) -> tuple[Located, ProbeCounts | None]:
    """The same as without Spark: the problem's delays and the probes are samples.

    Args:
        network: its delays are samples.
        probes: files and folders.
        options: of the computation.
        seed: the same seed gives the same coordinates.
        most_listed: how many estimated pairs are listed.
        beside: a folder that all workers see; tables in between are in a hidden part of it.
        master: where Spark runs.
        configuration: settings of Spark.
    """
    from berth.space.network_space import Located, estimated_pairs
    from berth.space.samples import network_samples

    known = network_samples(network, seed)
    with (
        session_for(master, configuration, "berth coordinates") as session,
        tempfile.TemporaryDirectory(prefix=".berth-coordinates-", dir=beside) as folder,
        watching(session, "reading probes") as steps,
    ):
        from berth.pipeline.coordinates import spark_coordinates

        found = spark_coordinates(
            _measurements(session, network, known, probes),
            Path(folder),
            options,
            seed,
            report=lambda done: steps(f"round {done.number}: mean error {done.mean_error_ms:.3g} ms"),
        )
        coordinates = _coordinates(found, len(network.nodes), options.dimensions)
    estimates = estimated_pairs(network, coordinates, most_listed)
    counts = ProbeCounts(found.records, found.probed_pairs, found.rejected) if probes else None
    return Located(coordinates, estimates, known.rejected), counts


def _measurements(
    session: SparkSession, network: Network, known: Samples, probes: list[Path]
) -> Measurements:
    import pyarrow as pa

    from berth.pipeline.coordinates import Measurements, read_probe_tables

    names = [node.name for node in network.nodes]
    nodes = pa.table({"node": np.arange(len(names), dtype=np.int64), "name": pa.array(names, pa.string())})
    delays = {
        "first": known.first.astype(np.int64),
        "second": known.second.astype(np.int64),
        "delay_ms": known.delay_ms,
    }
    return Measurements(
        read_probe_tables(session, probes) if probes else None,
        session.createDataFrame(nodes),
        session.createDataFrame(pa.table(delays)),
    )


def _coordinates(found: SparkLocated, nodes: int, dimensions: int) -> Coordinates:
    """All nodes' points: the problem that they are written into is in this process anyway."""
    from berth.space.coordinates import Coordinates
    from berth.space.vivaldi import apart

    table = found.coordinates.select("node", "coordinates", "height_ms", "island").toArrow()
    rows = table["node"].to_numpy()
    positions, heights = np.zeros((nodes, dimensions)), np.zeros(nodes)
    islands = np.full(nodes, -1, dtype=np.intp)
    positions[rows] = table["coordinates"].combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
    heights[rows] = table["height_ms"].to_numpy()
    islands[rows] = table["island"].to_numpy()
    # a node without any sample is an island of its own, behind those of several
    alone = np.flatnonzero(islands < 0)
    islands[alone] = islands.max(initial=-1) + 1 + np.arange(len(alone))
    return Coordinates(
        apart(positions, islands),
        heights,
        found.errors,
        resets=sum(each.resets for each in found.rounds),
        rounds=sum(not each.polish for each in found.rounds),
        polish_rounds=sum(each.polish for each in found.rounds),
        unplaced=np.flatnonzero(islands > 0),
        islands=islands,
    )
