"""Heartbeats: a node is there, and how busy. They measure availability, speed and run queue of nodes.

How busy and how fast it is, a heartbeat need not say: then it tells only whether the node is up.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.files.problem_format import FASTEST, SLOWEST
from berth.model import Problem
from berth.pipeline.feeds.changes import update_nodes
from berth.pipeline.feeds.feed import SMALLEST, TIME, Evidence, Feed, Field, Measure, Rule, known_of, named
from berth.pipeline.feeds.outages import availability_of, looking_back
from berth.pipeline.feeds.sampling import Fault, Randomness, Sample, beside, micro, whole_quotient
from berth.pipeline.feeds.statistics import with_level
from berth.pipeline.storage import empty_table

SPEEDS = "window bigint, node string, mips double, speed double"
REFERENCES = "window bigint, reference_mips double"
REFERENCE_MIPS = 1000.0
"""Of a node of speed 1 in synthetic heartbeats."""
JITTER = 0.02
"""Synthetic heartbeats come early or late by this share of their interval, at most."""


RUN_QUEUE = Field("run_queue", "number", most=1e9, optional=True)


class Heartbeats(Feed):
    """Signs of life of nodes."""

    name = "heartbeats"
    fields = (
        TIME,
        named("node", "node"),
        Field("up", "flag"),
        RUN_QUEUE,
        Field("mips", "number", most=1e12, optional=True, level=True),
    )
    value_rules = (Rule("mips: zero on a node that is up", lambda: F.col("up") & (F.col("mips") < SMALLEST)),)
    each_record = ("node", "ts", "up")
    measures = (
        Measure("nodes", "availability", update_nodes("availability")),
        Measure("nodes", "speed", update_nodes("speed")),
        Measure("nodes", "run_queue", update_nodes("run_queue")),
        Measure("nodes", "mips", smoothed=False),
        Measure("nodes", "interval_ms", smoothed=False),
    )
    faults = (Fault("mips: 0 though up", columns=lambda: {"up": F.lit(True), "mips": F.lit(0.0)}),)

    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """Availability from the heartbeats' times; speed and run queue from those of a node that is up."""
        up = {name: F.sum(F.when(F.col("up"), F.col(name))) for name in (RUN_QUEUE.name, known_of(RUN_QUEUE))}
        counts = (
            evidence.sums_of(self)
            .groupBy("window", "node")
            .agg(
                F.sum("records").alias("samples"),
                F.try_divide(*up.values()).alias("run_queue"),
            )
        )
        pieces = evidence.shared("pieces", lambda: evidence.pieces)
        rows = (
            availability_of(pieces, evidence.past_intervals, evidence.options.window_ms)
            .join(counts, ["window", "node"], "full")
            .join(speeds_of(evidence), ["window", "node"], "left")
        )
        return {"nodes": rows}

    def slots(self, sample: Sample) -> int:
        """One for every node and tick."""
        return len(sample.problem.network.nodes) * (sample.outages.ticks + 1)

    def records(self, sample: Sample) -> int:
        """Without those that are missed."""
        return sample.outages.records

    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """A heartbeat of every node at every tick, but for those in which it is silent."""
        options, outages, record = sample.options, sample.outages, F.col("record")
        nodes = len(sample.problem.network.nodes)
        tick, node = whole_quotient(record, nodes), record % nodes
        joined = beside(session, lines.withColumns({"tick": tick, "key": node}), _node_table(sample))
        states = _with_state(joined, outages.ticks, random)
        heard = states.where(~F.col("silent") | F.col("fault").isNotNull())
        inner = (F.col("tick") > 0) & (F.col("tick") < outages.ticks)
        early = F.when(inner, F.lit(JITTER) * random.symmetric("jitter", record)).otherwise(F.lit(0.0))
        passed = (F.col("tick") + early) / F.lit(float(outages.ticks))
        wobble = F.lit(1.0) + F.lit(min(1.0, 2 * options.noise)) * random.symmetric("run queue", record)
        strength = F.exp(F.lit(options.noise / 5) * random.normal("mips", record))
        return heard.withColumns(
            {
                "ts": sample.time(F.floor(passed * F.lit(float(options.duration_ms)))),
                "up": ~F.col("down"),
                "run_queue": micro(F.col("queue") * wobble),
                "mips": micro(F.col("speed") * F.lit(REFERENCE_MIPS) * strength),
            }
        )


HEARTBEATS = Heartbeats()


def speeds_of(evidence: Evidence) -> DataFrame:
    """How fast every node is that said it while it was up: mips, and speed against the reference."""
    if HEARTBEATS.name not in evidence.sums:
        return empty_table(evidence.session, SPEEDS)
    return evidence.shared("speeds", lambda: _speeds(evidence))


def _speeds(evidence: Evidence) -> DataFrame:
    heartbeats, options = evidence.sums_of(HEARTBEATS), evidence.options
    mips = _mips(heartbeats)
    if options.reference_mips is None:
        own = references_of(heartbeats, evidence.problem)
        mips = mips.join(F.broadcast(_running(own, evidence.past_references, options.window_ms)), "window")
    else:
        mips = mips.withColumn("reference_mips", F.lit(options.reference_mips))
    speed = F.col("mips") / F.col("reference_mips")
    possible = F.when(speed.between(SLOWEST, FASTEST), speed)
    return mips.select("window", "node", "mips", possible.alias("speed"))


def _running(references: DataFrame, past: DataFrame, window_ms: int | None) -> DataFrame:
    """For each window the median over it and those before: which nodes report changes between windows."""
    every = references.unionByName(past)
    running = F.percentile("reference_mips", F.lit(0.5)).over(looking_back(Window.partitionBy(), window_ms))
    return every.select("window", running.alias("reference_mips"))


def _mips(heartbeats: DataFrame) -> DataFrame:
    said = heartbeats.where("up and bucket is not null")
    levels = with_level(said, ["window", "node"]).where(F.col("level") > 0)
    return levels.select("window", "node", F.col("level").alias("mips"))


def references_of(heartbeats: DataFrame, problem: Problem) -> DataFrame:
    """window, reference_mips: what a node of speed 1 has, the median over the nodes of mips / given speed."""
    ratios = (
        _mips(heartbeats)
        .join(F.broadcast(given_speeds(heartbeats.sparkSession, problem)), "node")
        .withColumn("ratio", F.col("mips") / F.col("given_speed"))
    )
    return ratios.groupBy("window").agg(F.percentile("ratio", F.lit(0.5)).alias("reference_mips"))


def given_speeds(session: SparkSession, problem: Problem) -> DataFrame:
    """node, given_speed: what the problem says."""
    speeds = [(node.name, float(node.speed)) for node in problem.network.nodes]
    return session.createDataFrame(speeds, "node string, given_speed double")


def _with_state(beats: DataFrame, ticks: int, random: Randomness) -> DataFrame:
    """`down` and `silent` of every tick, from the node's spells as `Outages` describes them."""
    length = F.col("period_length")
    # the first tick is outside all periods; so are those that are left over at the end
    period = whole_quotient(F.col("tick") - 1, length)
    inside = (F.col("tick") > 0) & (F.col("tick") < ticks) & (period < F.col("periods"))
    until, before = (
        whole_quotient(F.col("down_ticks") * number, F.col("periods")) for number in (period + 1, period)
    )
    spelled = beats.withColumns({"period": period, "inside": inside, "spell": until - before})
    # several spells are kept apart: the first tick of a period is up
    lead = (F.col("periods") > 1).cast("long")
    room = F.greatest(length - F.col("spell") - lead + 1, F.lit(1))
    first = lead + F.pmod(random.bits("spell", F.col("key"), F.col("period")), room)
    place = (F.col("tick") - 1) % length - first
    spell = F.col("inside") & (place >= 0) & (place < F.col("spell"))
    turn = (F.col("key") + F.col("period")) % 2 == 0
    return spelled.withColumn("spell_now", spell).withColumns(
        {
            "down": F.col("always_down") | F.col("spell_now"),
            "silent": F.col("spell_now") & F.col("may_be_silent") & ~F.col("always_down") & turn,
        }
    )


def _node_table(sample: Sample) -> pa.Table:
    network, outages = sample.problem.network, sample.outages
    return pa.table(
        {
            "node": pa.array(sample.names(network.index), pa.string()),
            "queue": network.run_queue.astype(float),
            "speed": network.speed.astype(float),
            "down_ticks": outages.down,
            "periods": outages.periods,
            "period_length": np.maximum(outages.period_length, 1),
            "always_down": outages.always,
            "may_be_silent": outages.may_be_silent,
        }
    )
