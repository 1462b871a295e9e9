"""A problem's network located on Spark: its own delays and tables of probes become coordinates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from berth.disk import temporary_folder
from berth.files.probes import ProbeCounts
from berth.model import Network
from berth.pipeline.coordinates.job import Located as SparkCoordinates
from berth.pipeline.coordinates.job import Measurements, spark_coordinates
from berth.pipeline.coordinates.measurements import read_probe_tables
from berth.space.coordinates import Coordinates
from berth.space.network_space import Located, estimated_pairs
from berth.space.samples import Samples, network_samples
from berth.space.vivaldi import VivaldiOptions, apart


def locate_on_spark(
    session: SparkSession,
    network: Network,
    probes: list[Path],
    options: VivaldiOptions,
    seed: int,
    most_listed: int,
    beside: Path,
    report: Callable[[str], None] = lambda text: None,
) -> tuple[Located, ProbeCounts | None]:
    """The same as `berth.space.network_space.locate`, for more probes than one machine can hold.

    Args:
        session: where it is computed.
        network: its delays are samples.
        probes: files and folders.
        options: of the computation.
        seed: the same seed gives the same coordinates.
        most_listed: how many estimated pairs are listed.
        beside: a folder that all workers see; tables in between are in a hidden part of it.
        report: is told how far it is.
    """
    known = network_samples(network, seed)
    with temporary_folder(".berth-coordinates-", beside) as folder:
        found = spark_coordinates(
            _measurements(session, network, known, probes),
            folder,
            options,
            seed,
            report=lambda done: report(f"round {done.number}: mean error {done.mean_error_ms:.3g} ms"),
        )
        coordinates = _coordinates(found, len(network.nodes), options.dimensions)
    estimates = estimated_pairs(network, coordinates, most_listed)
    counts = ProbeCounts(found.records, found.probed_pairs, found.rejected) if probes else None
    return Located(coordinates, estimates, known.rejected), counts


def _measurements(
    session: SparkSession, network: Network, known: Samples, probes: list[Path]
) -> Measurements:
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


def _coordinates(found: SparkCoordinates, nodes: int, dimensions: int) -> Coordinates:
    """All nodes' points: the problem that they are written into is in this process anyway."""
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
