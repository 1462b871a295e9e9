"""The good records of every folder, each from its number alone."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from berth.pipeline.sample.faults import NO_INSTANCE
from berth.pipeline.sample.planning import Sample
from berth.pipeline.sample.randomness import Randomness, whole_quotient

REFERENCE_MIPS = 1000.0
LEAST_WILD, MOST_WILD = 5.0, 50.0
"""A wild probe takes so many times as long as it should."""
LARGEST_WOBBLE = 0.2
"""Amounts vary by at most this share, so that cumulated ones never go down."""
JITTER = 0.02
"""Heartbeats come early or late by this share of their interval, at most."""


def probe_records(session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness) -> DataFrame:
    """Round trips over every link in turn: log-normal noise around twice the delay, a few far above."""
    options, record = sample.options, sf.col("record")
    table = _link_table(sample)
    links = len(table)
    # in turn, but far from node order: a feed with fewer probes than links still sees all nodes
    link = (record % links) * sf.lit(_stride(links)) % sf.lit(links)
    passed = (record + random.uniform("time", record)) / sf.lit(float(sample.probes))
    joined = _beside(session, lines.withColumns({"key": link, "passed": passed}), table)
    exponent = sf.lit(options.noise) * random.normal("noise", record) + sf.lit(options.drift) * (
        sf.col("passed") - sf.lit(0.5)
    )
    far = sf.lit(LEAST_WILD) * sf.pow(sf.lit(MOST_WILD / LEAST_WILD), random.uniform("how wild", record))
    wild = sf.when(random.uniform("wild", record) < sf.lit(options.wild), far).otherwise(sf.lit(1.0))
    return joined.withColumns(
        {
            "ts": _time(sample, sf.floor(sf.col("passed") * sf.lit(float(options.duration_ms)))),
            "rtt_ms": _micro(sf.lit(2.0) * sf.col("delay_ms") * sf.exp(exponent) * wild),
        }
    )


def heartbeat_records(
    session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
) -> DataFrame:
    """A heartbeat of every node at every tick, but for those in which it is silent."""
    options, outages, record = sample.options, sample.outages, sf.col("record")
    nodes = len(sample.problem.network.nodes)
    tick, node = whole_quotient(record, nodes), record % nodes
    joined = _beside(session, lines.withColumns({"tick": tick, "key": node}), _node_table(sample))
    states = _with_state(joined, outages.ticks, random)
    heard = states.where(~sf.col("silent") | sf.col("fault").isNotNull())
    inner = (sf.col("tick") > 0) & (sf.col("tick") < outages.ticks)
    early = sf.when(inner, sf.lit(JITTER) * _symmetric(random, "jitter", record)).otherwise(sf.lit(0.0))
    passed = (sf.col("tick") + early) / sf.lit(float(outages.ticks))
    wobble = sf.lit(1.0) + sf.lit(min(1.0, 2 * options.noise)) * _symmetric(random, "run queue", record)
    strength = sf.exp(sf.lit(options.noise / 5) * random.normal("mips", record))
    return heard.withColumns(
        {
            "ts": _time(sample, sf.floor(passed * sf.lit(float(options.duration_ms)))),
            "up": ~sf.col("down"),
            "run_queue": _micro(sf.col("queue") * wobble),
            "mips": _micro(sf.col("speed") * sf.lit(REFERENCE_MIPS) * strength),
        }
    )


def _with_state(beats: DataFrame, ticks: int, random: Randomness) -> DataFrame:
    """`down` and `silent` of every tick, from the node's spells as `Outages` describes them."""
    length = sf.col("period_length")
    # the first tick is outside all periods; so are those that are left over at the end
    period = whole_quotient(sf.col("tick") - 1, length)
    inside = (sf.col("tick") > 0) & (sf.col("tick") < ticks) & (period < sf.col("periods"))
    until, before = (
        whole_quotient(sf.col("down_ticks") * number, sf.col("periods")) for number in (period + 1, period)
    )
    spelled = beats.withColumns({"period": period, "inside": inside, "spell": until - before})
    # several spells are kept apart: the first tick of a period is up
    lead = (sf.col("periods") > 1).cast("long")
    room = sf.greatest(length - sf.col("spell") - lead + 1, sf.lit(1))
    first = lead + sf.pmod(random.bits("spell", sf.col("key"), sf.col("period")), room)
    place = (sf.col("tick") - 1) % length - first
    spell = sf.col("inside") & (place >= 0) & (place < sf.col("spell"))
    turn = (sf.col("key") + sf.col("period")) % 2 == 0
    return spelled.withColumn("spell_now", spell).withColumns(
        {
            "down": sf.col("always_down") | sf.col("spell_now"),
            "silent": sf.col("spell_now") & sf.col("may_be_silent") & ~sf.col("always_down") & turn,
        }
    )


def operator_records(
    session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
) -> DataFrame:
    """The tuples that every instance took in since its last report, and the time it was busy with them."""
    reports = _reports(session, sample, lines, _instance_table(sample))
    busy_until, busy_before = (_wobbling(sample, random, counted) for counted in ("until", "before"))
    return reports.withColumns(
        {
            "tuples": (sf.col("until") - sf.col("before")).cast("long"),
            "busy_ms": _micro(sf.col("tuple_ms") * (busy_until - busy_before)),
        }
    )


def stream_records(session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness) -> DataFrame:
    """The tuples and bytes that every stream carried since its last report."""
    reports = _reports(session, sample, lines, _stream_table(sample))
    bytes_until, bytes_before = (
        sf.floor(sf.col("tuple_bytes") * _wobbling(sample, random, counted) + sf.lit(0.5))
        for counted in ("until", "before")
    )
    window = [_window_end(sample, sf.col("tick") + later) for later in (1, 0)]
    return reports.withColumns(
        {
            "tuples": (sf.col("until") - sf.col("before")).cast("long"),
            "bytes": bytes_until - bytes_before,
            "window_ms": window[0] - window[1],
        }
    )


def _reports(session: SparkSession, sample: Sample, lines: DataFrame, table: pa.Table) -> DataFrame:
    """One row for each report, with the tuples counted `until` its end and `before` its start.

    Counting on, with the ends of the windows a little early or late, makes the reports vary while their sum
    stays what it should be, to the tuple.
    """
    rows, record = len(table), sf.col("record")
    keyed = lines.withColumns({"tick": whole_quotient(record, rows), "key": record % rows})
    joined = _beside(session, keyed, table)
    return joined.withColumns(
        {
            "ts": _time(sample, _window_end(sample, sf.col("tick") + 1)),
            "until": _counted(sample, sf.col("tick") + 1),
            "before": _counted(sample, sf.col("tick")),
        }
    )


def _window_end(sample: Sample, tick: Column) -> Column:
    return whole_quotient(tick * sf.lit(sample.options.duration_ms), sample.reports)


def _counted(sample: Sample, tick: Column) -> Column:
    """Tuples up to the end of a window; windows of one application end early or late together."""
    shared = Randomness(sample.options.seed, "reports")
    early = sf.lit(_wobble(sample)) * _symmetric(shared, "windows", sf.col("application_number"), tick)
    inner = (tick > 0) & (tick < sample.reports)
    passed = (tick + sf.when(inner, early).otherwise(sf.lit(0.0))) / sf.lit(float(sample.reports))
    return sf.floor(sf.col("total") * passed).cast("double")


def _wobbling(sample: Sample, random: Randomness, counted: str) -> Column:
    """A number of tuples with noise on it that depends on the number alone: it cancels out in sums."""
    count = sf.col(counted)
    inner = (count > 0) & (count < sf.col("total"))
    amount = sf.lit(_wobble(sample)) * sf.greatest(
        sf.lit(1.0), sf.col("total") / sf.lit(float(sample.reports))
    )
    noise = amount * random.uniform("tuples", sf.col("key"), count)
    return count + sf.when(inner, noise).otherwise(sf.lit(0.0))


def _wobble(sample: Sample) -> float:
    return min(sample.options.noise, LARGEST_WOBBLE)


def _symmetric(random: Randomness, purpose: str, *keys: Column) -> Column:
    """Uniform from -1 to 1."""
    return sf.lit(2.0) * random.uniform(purpose, *keys) - sf.lit(1.0)


def _micro(value: Column) -> Column:
    """Six decimals; rint is much cheaper than round, which goes by way of decimals."""
    return sf.rint(value * sf.lit(1e6)) / sf.lit(1e6)


def _time(sample: Sample, passed_ms: Column) -> Column:
    return sf.lit(sample.start_ms) + passed_ms


def _stride(links: int) -> int:
    """A step around a circle of links that meets all of them."""
    stride = max(1, round(0.618 * links))
    while np.gcd(stride, links) != 1:
        stride += 1
    return stride


def _beside(session: SparkSession, lines: DataFrame, table: pa.Table) -> DataFrame:
    """Each line with the row of a small table that its `key` names; the order of the lines stays."""
    numbered = table.append_column("key", pa.array(np.arange(len(table), dtype=np.int64)))
    return lines.join(sf.broadcast(session.createDataFrame(numbered)), "key")


def _names(sample: Sample, names: Iterable[str]) -> np.ndarray:
    """Names as the file has them: JSON lines have them quoted."""
    if sample.options.format == "parquet":
        return np.array(list(names), dtype=object)
    return np.array([json.dumps(name, ensure_ascii=False) for name in names], dtype=object)


def _link_table(sample: Sample) -> pa.Table:
    network = sample.problem.network
    linked = network.table.connected & ~np.eye(len(network.nodes), dtype=bool)
    senders, receivers = np.nonzero(linked)
    names = _names(sample, network.index)
    return pa.table(
        {
            "from": pa.array(names[senders], pa.string()),
            "to": pa.array(names[receivers], pa.string()),
            "delay_ms": network.table.delay_ms[senders, receivers],
        }
    )


def _node_table(sample: Sample) -> pa.Table:
    network, outages = sample.problem.network, sample.outages
    return pa.table(
        {
            "node": pa.array(_names(sample, network.index), pa.string()),
            "queue": network.run_queue.astype(float),
            "speed": network.speed.astype(float),
            "down_ticks": outages.down,
            "periods": outages.periods,
            "period_length": np.maximum(outages.period_length, 1),
            "always_down": outages.always,
            "may_be_silent": outages.may_be_silent,
        }
    )


def _instance_table(sample: Sample) -> pa.Table:
    graph, flows = sample.problem.instances, sample.flows
    operators = [graph.operators[number] for number in graph.operator_of[flows.instances].tolist()]
    applications = [sample.problem.applications[item.application].name for item in operators]
    full_names = [graph.names[number] for number in flows.instances.tolist()]
    strangers = [f"{item.operator.name}#{item.operator.parallelism + 98}" for item in operators]
    nodes = _names(sample, sample.problem.network.index)
    return pa.table(
        {
            "application": pa.array(_names(sample, applications), pa.string()),
            "application_number": graph.application_of[flows.instances].astype(np.int64),
            "operator": pa.array(_names(sample, (item.operator.name for item in operators)), pa.string()),
            "instance": pa.array(_names(sample, (name.split("/", 1)[1] for name in full_names)), pa.string()),
            NO_INSTANCE: pa.array(_names(sample, strangers), pa.string()),
            "node": pa.array(nodes[flows.nodes], pa.string()),
            "tuple_ms": graph.work_ms[flows.instances] / sample.problem.network.speed[flows.nodes],
            "total": flows.taken.astype(float),
        }
    )


def _stream_table(sample: Sample) -> pa.Table:
    graph, flows = sample.problem.instances, sample.flows
    senders = [graph.operators[number] for number in graph.stream_ends[flows.streams, 0].tolist()]
    streams = [graph.streams[number] for number in flows.streams.tolist()]
    applications = [sample.problem.applications[item.application].name for item in senders]
    return pa.table(
        {
            "application": pa.array(_names(sample, applications), pa.string()),
            "application_number": np.array([item.application for item in senders], dtype=np.int64),
            "from": pa.array(_names(sample, (stream.sender for stream in streams)), pa.string()),
            "to": pa.array(_names(sample, (stream.receiver for stream in streams)), pa.string()),
            "tuple_bytes": flows.bytes / np.maximum(flows.tuples, 1),
            "total": flows.tuples.astype(float),
        }
    )
