"""From sums to the tables: what was measured of links, nodes, operators and streams, window by window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.files.problem_format import FASTEST, SLOWEST
from berth.model import Problem
from berth.model.pair_fields import PairField
from berth.pipeline.feed import HEARTBEATS, OPERATORS, PROBES, STREAMS
from berth.pipeline.level import with_level
from berth.pipeline.options import IngestOptions
from berth.pipeline.outages import availability_of, looking_back
from berth.pipeline.smooth import smoothed
from berth.pipeline.storage import empty_table
from berth.pipeline.sums import ordered_sum

SPEEDS = "window bigint, node string, mips double, speed double"
REFERENCES = "window bigint, reference_mips double"
TABLES = ("links", "nodes", "operators", "streams")
TABLE_KEYS = {
    "links": ("from", "to"),
    "nodes": ("node",),
    "operators": ("application", "operator"),
    "streams": ("application", "from", "to"),
}
_DATES = "window_start timestamp, window_end timestamp"
TABLE_SCHEMAS = {
    "links": f"{_DATES}, `from` string, `to` string, delay_ms double, spread_ms double, samples bigint, "
    "smoothed_delay_ms double",
    "nodes": f"{_DATES}, node string, availability double, speed double, run_queue double, mips double, "
    "interval_ms double, samples bigint, smoothed_availability double, smoothed_speed double, "
    "smoothed_run_queue double",
    "operators": f"{_DATES}, application string, operator string, work_ms double, selectivity double, "
    "tuples double, samples bigint, smoothed_work_ms double, smoothed_selectivity double",
    "streams": f"{_DATES}, application string, `from` string, `to` string, bytes_per_s double, "
    "tuples_per_s double, tuple_bytes double, samples bigint, smoothed_bytes_per_s double, "
    "smoothed_tuples_per_s double, smoothed_tuple_bytes double",
}
NEEDS = {
    "links": (PROBES.name,),
    "nodes": (HEARTBEATS.name,),
    "operators": (OPERATORS.name, STREAMS.name),
    "streams": (STREAMS.name,),
}
"""The folders that a table is measured from; without any of them it is empty."""
MEASURES = {
    "links": ("delay_ms",),
    "nodes": ("availability", "speed", "run_queue"),
    "operators": ("work_ms", "selectivity"),
    "streams": ("bytes_per_s", "tuples_per_s", "tuple_bytes"),
}
"""The columns that go into the problem; each has a smoothed one beside it."""


@dataclass(frozen=True)
class Sums:
    """All that is known of a feed."""

    probes: DataFrame
    heartbeats: DataFrame
    pieces: DataFrame
    operators: DataFrame
    streams: DataFrame
    past_intervals: DataFrame
    """Of nodes in windows before these."""
    past_references: DataFrame
    """The reference for speeds in windows before these."""
    window_ms: int | None


def finished(
    table: DataFrame,
    name: str,
    options: IngestOptions,
    span: tuple[int, int],
    seeds: DataFrame | None = None,
) -> DataFrame:
    """A measured table as users see it: with smoothed columns, and with the times of its windows.

    Args:
        table: from `measured`.
        name: which table it is.
        options: the windows' length and the weight of a new one.
        span: the feed's first and last record, where there is one window over all of it.
        seeds: the averages up to the windows before these.
    """
    keys, measures = TABLE_KEYS[name], MEASURES[name]
    if options.window_ms is None:
        start, end = (F.lit(time).cast("bigint") for time in span)
        averaged = table.select("*", *(F.col(item).alias(f"smoothed_{item}") for item in measures))
    else:
        start, end = F.col("window"), F.col("window") + options.window_ms
        averaged = smoothed(table, keys, measures, options.weight, seeds)
    return averaged.select(
        F.timestamp_millis(start).alias("window_start"),
        F.timestamp_millis(end).alias("window_end"),
        *(item for item in averaged.columns if item != "window"),
    ).sortWithinPartitions("window_start", *keys)


@contextmanager
def measured(
    sums: Sums, problem: Problem, reference_mips: float | None, folders: Collection[str]
) -> Iterator[dict[str, DataFrame]]:
    """The tables that these folders tell something for: `window`, keys, measures and the number of samples.

    They are without their smoothed columns, and can be used as long as the `with` block lasts.
    """
    pieces = sums.pieces.persist()
    speeds = empty_table(pieces.sparkSession, SPEEDS)
    if HEARTBEATS.name in folders:
        speeds = speeds_of(sums, problem, reference_mips).persist()
    streams = streams_table(sums.streams)
    tables: dict[str, Callable[[], DataFrame]] = {
        "links": lambda: links_table(sums.probes, problem),
        "nodes": lambda: nodes_table(sums, speeds),
        "operators": lambda: operators_table(sums.operators, speeds, streams, problem),
        "streams": lambda: streams,
    }
    try:
        yield {name: table() for name, table in tables.items() if not set(folders).isdisjoint(NEEDS[name])}
    finally:
        speeds.unpersist()
        pieces.unpersist()


def links_table(probes: DataFrame, problem: Problem) -> DataFrame:
    """Half the round trip's level; where the network is symmetric, both directions are one link."""
    if pooled(problem):
        probes = _one_way(probes, problem)
    levels = with_level(probes, ["window", "from", "to"])
    return levels.select(
        "window",
        "from",
        "to",
        (F.col("level") / 2).alias("delay_ms"),
        (F.col("spread") / 2).alias("spread_ms"),
        "samples",
    )


def pooled(problem: Problem) -> bool:
    """Whether both directions are one link: the network is symmetric, and no delay in it says otherwise."""
    if not problem.network.symmetric:
        return False
    delay = problem.network.table.delay_ms
    if isinstance(delay, PairField):
        senders, receivers, forth = delay.entries
        return np.array_equal(forth, delay[receivers, senders], equal_nan=True)
    return np.array_equal(delay, delay.T, equal_nan=True)


def _one_way(probes: DataFrame, problem: Problem) -> DataFrame:
    """Probes of both directions under one: the problem's link's, or from the earlier node to the later."""
    session, index = probes.sparkSession, problem.network.index
    place = _listed(session, "name string, place int", list(index.items()))
    placed = probes.join(
        F.broadcast(place.select(F.col("name").alias("from"), F.col("place").alias("from_place"))), "from"
    ).join(F.broadcast(place.select(F.col("name").alias("to"), F.col("place").alias("to_place"))), "to")
    turned = F.col("from_place") > F.col("to_place")
    given = {(link.sender, link.receiver) for link in problem.network.links}
    backwards = [(a, b) for a, b in given if index[a] > index[b] and (b, a) not in given]
    if backwards:
        both = [(*pair, True) for a, b in backwards for pair in ((a, b), (b, a))]
        against = _listed(session, "`from` string, `to` string, against boolean", both)
        placed = placed.join(F.broadcast(against), ["from", "to"], "left")
        turned = turned != F.coalesce("against", F.lit(False))
    return placed.select(
        F.when(turned, F.col("to")).otherwise(F.col("from")).alias("from"),
        F.when(turned, F.col("from")).otherwise(F.col("to")).alias("to"),
        *(name for name in probes.columns if name not in ("from", "to")),
    )


def nodes_table(sums: Sums, speeds: DataFrame) -> DataFrame:
    """Availability from the heartbeats' times; speed and run queue from those of a node that is up."""
    up = {name: F.sum(F.when(F.col("up"), F.col(name))) for name in ("run_queue", "records")}
    counts = sums.heartbeats.groupBy("window", "node").agg(
        F.sum("records").alias("samples"), F.try_divide(up["run_queue"], up["records"]).alias("run_queue")
    )
    return (
        availability_of(sums.pieces, sums.past_intervals, sums.window_ms)
        .join(counts, ["window", "node"], "full")
        .join(speeds, ["window", "node"], "left")
        .select(
            "window",
            "node",
            "availability",
            "speed",
            "run_queue",
            "mips",
            "interval_ms",
            F.coalesce("samples", F.lit(0)).alias("samples"),
        )
    )


def speeds_of(sums: Sums, problem: Problem, reference_mips: float | None) -> DataFrame:
    """How fast every node is that said it while it was up: mips, and speed against the reference."""
    mips = _mips(sums.heartbeats)
    if reference_mips is None:
        references = _running(references_of(sums.heartbeats, problem), sums.past_references, sums.window_ms)
        mips = mips.join(F.broadcast(references), "window")
    else:
        mips = mips.withColumn("reference_mips", F.lit(reference_mips))
    speed = F.col("mips") / F.col("reference_mips")
    possible = F.when(speed.between(SLOWEST, FASTEST), speed)
    return mips.select("window", "node", "mips", possible.alias("speed"))


def _running(references: DataFrame, past: DataFrame, window_ms: int | None) -> DataFrame:
    """For each window the median over it and those before: which nodes report changes between windows."""
    every = references.unionByName(past)
    running = F.percentile("reference_mips", F.lit(0.5)).over(looking_back(Window.partitionBy(), window_ms))
    return every.select("window", running.alias("reference_mips"))


def _mips(heartbeats: DataFrame) -> DataFrame:
    levels = with_level(heartbeats.where("up"), ["window", "node"]).where(F.col("level") > 0)
    return levels.select("window", "node", F.col("level").alias("mips"))


def references_of(heartbeats: DataFrame, problem: Problem) -> DataFrame:
    """window, reference_mips: what a node of speed 1 has, the median over the nodes of mips / given speed."""
    given = _given_speeds(heartbeats.sparkSession, problem)
    ratios = (
        _mips(heartbeats)
        .join(F.broadcast(given), "node")
        .withColumn("ratio", F.col("mips") / F.col("given_speed"))
    )
    return ratios.groupBy("window").agg(F.percentile("ratio", F.lit(0.5)).alias("reference_mips"))


def operators_table(
    operators: DataFrame, speeds: DataFrame, streams: DataFrame, problem: Problem
) -> DataFrame:
    """work_ms: the busy time of a tuple, brought to the reference processor by the speed of its node."""
    given = _given_speeds(operators.sparkSession, problem)
    speed = F.coalesce("speed", "given_speed")
    work = (
        operators.join(F.broadcast(speeds.drop("mips")), ["window", "node"], "left")
        .join(F.broadcast(given), "node")
        .groupBy("window", "application", "operator")
        .agg(
            F.try_divide(ordered_sum(F.col("busy_ms") * speed), F.sum("tuples")).alias("work_ms"),
            F.sum("tuples").alias("tuples"),
            F.sum("records").alias("samples"),
        )
    )
    return work.join(_selectivities(streams, problem), ["window", "application", "operator"], "full").select(
        "window",
        "application",
        "operator",
        "work_ms",
        "selectivity",
        "tuples",
        F.coalesce("samples", F.lit(0)).alias("samples"),
    )


def _selectivities(streams: DataFrame, problem: Problem) -> DataFrame:
    """Output bytes over input bytes, if all inputs were measured; each outgoing stream is the output."""
    fan_in = Counter((app.name, stream.receiver) for app in problem.applications for stream in app.streams)
    inputs = _listed(
        streams.sparkSession,
        "application string, operator string, inputs int",
        [(*operator, count) for operator, count in fan_in.items()],
    )
    received = streams.groupBy("window", "application", F.col("to").alias("operator")).agg(
        ordered_sum(F.col("bytes_per_s")).alias("input"), F.count("bytes_per_s").alias("measured")
    )
    sent = streams.groupBy("window", "application", F.col("from").alias("operator")).agg(
        (ordered_sum(F.col("bytes_per_s")) / F.count("bytes_per_s")).alias("output")
    )
    keys = ["window", "application", "operator"]
    return (
        received.join(sent, keys)
        .join(F.broadcast(inputs), ["application", "operator"])
        .where((F.col("measured") == F.col("inputs")) & (F.col("input") > 0))
        .select(*keys, (F.col("output") / F.col("input")).alias("selectivity"))
    )


def streams_table(streams: DataFrame) -> DataFrame:
    """Rates over the time that the records cover."""
    seconds = F.col("window_ms") / 1000  # a record's window is never 0
    return streams.select(
        "window",
        "application",
        "from",
        "to",
        (F.col("bytes") / seconds).alias("bytes_per_s"),
        (F.col("tuples") / seconds).alias("tuples_per_s"),
        F.try_divide("bytes", "tuples").alias("tuple_bytes"),
        F.col("records").alias("samples"),
    )


def _given_speeds(session: SparkSession, problem: Problem) -> DataFrame:
    return _listed(
        session,
        "node string, given_speed double",
        [(node.name, float(node.speed)) for node in problem.network.nodes],
    )


def _listed(session: SparkSession, schema: str, rows: Sequence[tuple[object, ...]]) -> DataFrame:
    return session.createDataFrame(rows, schema)
