"""Streams: what streams carried. They measure rates and tuples of streams, and selectivities of operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds.changes import Changes, values_of
from berth.pipeline.feeds.feed import DAY_MS, TABLE_KEYS, TIME, Evidence, Feed, Field, Measure, Name, named
from berth.pipeline.feeds.flows import Flows
from berth.pipeline.feeds.sampling import Fault, Randomness, Sample, counting_reports, wobbling_count
from berth.pipeline.feeds.statistics import ordered_sum


def update_rates(changes: Changes, table: pd.DataFrame) -> None:
    """Put the rates of streams into the document, and what their senders emit where it says so."""
    _set_on_streams(changes, table, "bytes_per_s")
    changes.refresh_operators("emits_bytes_per_s", _sent(table, "bytes_per_s"))


def update_sizes(changes: Changes, table: pd.DataFrame) -> None:
    """Put the size of tuples into the document, and that of their senders' results where it says so."""
    _set_on_streams(changes, table[table["smoothed_tuple_bytes"] > 0], "tuple_bytes")
    changes.refresh_operators("output_bytes", _sent(table, "tuple_bytes"))


def _set_on_streams(changes: Changes, table: pd.DataFrame, measure: str) -> None:
    """A measure of streams in their field of the same name."""
    values = values_of(table, TABLE_KEYS["streams"], measure)
    missing = []
    for application in changes.document["applications"]:
        for stream in application.get("streams", ()):
            key = (application["name"], stream["from"], stream["to"])
            if key in values:
                stream[measure] = values[key]
            else:
                missing.append(f"{key[0]}/{key[1]} -> {key[2]}")
    changes.missing(f"{measure} of streams", missing)


def _sent(table: pd.DataFrame, measure: str) -> dict[tuple[str, str], float]:
    """A measure by sender: the mean over its streams."""
    sent = table.groupby(["application", "from"], as_index=False).mean(numeric_only=True)
    return values_of(sent, ["application", "from"], measure)


def update_selectivities(changes: Changes, table: pd.DataFrame) -> None:
    """Put the selectivities of operators into the document."""
    selectivity = values_of(table, TABLE_KEYS["operators"], "selectivity")
    changes.set_on_operators("selectivity", selectivity)
    applications = changes.problem.applications
    inner = {(app.name, stream.receiver) for app in applications for stream in app.streams}
    inner &= {(app.name, stream.sender) for app in applications for stream in app.streams}
    changes.missing(
        "selectivity of operators",
        ("/".join(key) for key, _ in changes.operators() if key in inner and key not in selectivity),
    )


class Streams(Feed):
    """What streams carried."""

    name = "streams"
    fields = (
        TIME,
        named("application", "application"),
        named("from", "operator"),
        named("to", "operator"),
        Field("tuples", "number", most=1e15, whole=True),
        Field("bytes", "number", most=1e18, whole=True),
        Field("window_ms", "number", most=366 * DAY_MS, zero=False, whole=True),
    )
    further_names = (Name("stream", ("application", "from", "to")),)
    measures = (
        Measure("streams", "bytes_per_s", update_rates),
        Measure("streams", "tuples_per_s"),
        Measure("streams", "tuple_bytes", update_sizes),
        Measure("operators", "selectivity", update_selectivities),
    )
    faults = (
        Fault("from, to: no such stream", columns=lambda: {"from": F.col("to"), "to": F.col("from")}),
        Fault("window_ms: 0", columns=lambda: {"window_ms": F.lit(0).cast("long")}),
    )

    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """Rates over the time that the records cover, and what they say of operators."""
        seconds = F.col("window_ms") / 1000  # a record's window is never 0
        streams = evidence.sums_of(self).select(
            "window",
            *TABLE_KEYS["streams"],
            (F.col("bytes") / seconds).alias("bytes_per_s"),
            (F.col("tuples") / seconds).alias("tuples_per_s"),
            F.try_divide("bytes", "tuples").alias("tuple_bytes"),
            F.col("records").alias("samples"),
        )
        return {"streams": streams, "operators": _selectivities(streams, evidence.problem)}

    def reporters(self, problem: Problem, flows: Flows) -> int:
        """The streams whose rate is known."""
        return len(flows.streams)

    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """The tuples and bytes that every stream carried since its last report."""
        rows = counting_reports(session, sample, lines, _stream_table(sample))
        until, before = (
            F.floor(F.col("tuple_bytes") * wobbling_count(sample, random, counted) + F.lit(0.5))
            for counted in ("until", "before")
        )
        window = [sample.report_end(F.col("tick") + later) for later in (1, 0)]
        return rows.withColumns(
            {
                "tuples": (F.col("until") - F.col("before")).cast("long"),
                "bytes": until - before,
                "window_ms": window[0] - window[1],
            }
        )


def _selectivities(streams: DataFrame, problem: Problem) -> DataFrame:
    """Output bytes over input bytes, if all inputs were measured; each outgoing stream is the output."""
    fan_in = Counter((app.name, stream.receiver) for app in problem.applications for stream in app.streams)
    inputs = streams.sparkSession.createDataFrame(
        [(*operator, count) for operator, count in fan_in.items()],
        "application string, operator string, inputs int",
    )
    received = streams.groupBy("window", "application", F.col("to").alias("operator")).agg(
        ordered_sum(F.col("bytes_per_s")).alias("input"), F.count("bytes_per_s").alias("measured")
    )
    sent = streams.groupBy("window", "application", F.col("from").alias("operator")).agg(
        (ordered_sum(F.col("bytes_per_s")) / F.count("bytes_per_s")).alias("output")
    )
    keys = ["window", *TABLE_KEYS["operators"]]
    return (
        received.join(sent, keys)
        .join(F.broadcast(inputs), ["application", "operator"])
        .where((F.col("measured") == F.col("inputs")) & (F.col("input") > 0))
        .select(*keys, (F.col("output") / F.col("input")).alias("selectivity"))
    )


def _stream_table(sample: Sample) -> pa.Table:
    graph, flows = sample.problem.instances, sample.flows
    senders = [graph.operators[number] for number in graph.stream_ends[flows.streams, 0].tolist()]
    streams = [graph.streams[number] for number in flows.streams.tolist()]
    applications = [sample.problem.applications[item.application].name for item in senders]
    return pa.table(
        {
            "application": pa.array(sample.names(applications), pa.string()),
            "application_number": np.array([item.application for item in senders], dtype=np.int64),
            "from": pa.array(sample.names(stream.sender for stream in streams), pa.string()),
            "to": pa.array(sample.names(stream.receiver for stream in streams), pa.string()),
            "tuple_bytes": flows.bytes / np.maximum(flows.tuples, 1),
            "total": flows.tuples.astype(float),
        }
    )
