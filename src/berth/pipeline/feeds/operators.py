"""Operators: what instances did since their last report. They measure the work of operators."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds.changes import Changes, values_of
from berth.pipeline.feeds.feed import DAY_MS, TABLE_KEYS, TIME, Evidence, Feed, Field, Measure, Rule, named
from berth.pipeline.feeds.flows import Flows
from berth.pipeline.feeds.heartbeats import given_speeds, speeds_of
from berth.pipeline.feeds.sampling import (
    Fault,
    Randomness,
    Sample,
    counting_reports,
    micro,
    wobbling_count,
)
from berth.pipeline.feeds.statistics import ordered_sum

NO_INSTANCE = "no_instance"
"""The column with the name of an instance that the record's operator doesn't have."""


def update_work(changes: Changes, table: pd.DataFrame) -> None:
    """Put the work of operators into the document; equal ones get one value."""
    work = values_of(table, TABLE_KEYS["operators"], "work_ms")
    changes.set_on_operators("work_ms", work)
    changes.make_equal_agree("work_ms", work)
    changes.missing(
        "work_ms of operators", ("/".join(key) for key, _ in changes.operators() if key not in work)
    )


class Operators(Feed):
    """What instances of operators did."""

    name = "operators"
    fields = (
        TIME,
        named("application", "application"),
        named("operator", "operator"),
        named("instance", "instance"),
        named("node", "node"),
        Field("tuples", "number", most=1e15, whole=True),
        Field("busy_ms", "number", most=366 * DAY_MS, fraction=2.0**20),
    )
    name_rules = (
        Rule(
            "instance: of another operator",
            lambda: F.substring_index("instance", "#", 1) != F.col("operator"),
        ),
    )
    measures = (
        Measure("operators", "work_ms", update_work),
        Measure("operators", "tuples", smoothed=False),
    )
    faults = (Fault("instance: not there", columns=lambda: {"instance": F.col(NO_INSTANCE)}),)

    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """work_ms: the busy time of a tuple, brought to the reference processor by the speed of its node."""
        speed = F.coalesce("speed", "given_speed")
        given = given_speeds(evidence.session, evidence.problem)
        work = (
            evidence.sums_of(self)
            .join(F.broadcast(speeds_of(evidence).drop("mips")), ["window", "node"], "left")
            .join(F.broadcast(given), "node")
            .groupBy("window", *TABLE_KEYS["operators"])
            .agg(
                F.try_divide(ordered_sum(F.col("busy_ms") * speed), F.sum("tuples")).alias("work_ms"),
                F.sum("tuples").alias("tuples"),
                F.sum("records").alias("samples"),
            )
        )
        return {"operators": work}

    def reporters(self, problem: Problem, flows: Flows) -> int:
        """The instances that run somewhere."""
        return len(flows.instances)

    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """The tuples that every instance took in since its last report, and how long they kept it busy."""
        rows = counting_reports(session, sample, lines, _instance_table(sample))
        until, before = (wobbling_count(sample, random, counted) for counted in ("until", "before"))
        return rows.withColumns(
            {
                "tuples": (F.col("until") - F.col("before")).cast("long"),
                "busy_ms": micro(F.col("tuple_ms") * (until - before)),
            }
        )


def _instance_table(sample: Sample) -> pa.Table:
    graph, flows = sample.problem.instances, sample.flows
    operators = [graph.operators[number] for number in graph.operator_of[flows.instances].tolist()]
    applications = [sample.problem.applications[item.application].name for item in operators]
    full_names = [graph.names[number] for number in flows.instances.tolist()]
    strangers = [f"{item.operator.name}#{item.operator.parallelism + 98}" for item in operators]
    nodes = sample.names(sample.problem.network.index)
    return pa.table(
        {
            "application": pa.array(sample.names(applications), pa.string()),
            "application_number": graph.application_of[flows.instances].astype(np.int64),
            "operator": pa.array(sample.names(item.operator.name for item in operators), pa.string()),
            "instance": pa.array(sample.names(name.split("/", 1)[1] for name in full_names), pa.string()),
            NO_INSTANCE: pa.array(sample.names(strangers), pa.string()),
            "node": pa.array(nodes[flows.nodes], pa.string()),
            "tuple_ms": graph.work_ms[flows.instances] / sample.problem.network.speed[flows.nodes],
            "total": flows.taken.astype(float),
        }
    )
