"""Energy: what nodes draw. It measures their power, and from that how much carbon they emit."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds.changes import Changes, values_of
from berth.pipeline.feeds.feed import TIME, Evidence, Feed, Field, Measure, named
from berth.pipeline.feeds.flows import Flows
from berth.pipeline.feeds.sampling import Randomness, Sample, micro, reports


def update_carbon(changes: Changes, table: pd.DataFrame) -> None:
    """Put grams per hour into the document: kilowatts x grams per kilowatt-hour, if these are given."""
    intensity = changes.options.carbon_intensity
    if intensity is not None:
        power = values_of(table, ["node"], "watts")
        carbon = {node: watts / 1000 * intensity for node, watts in power.items()}
        changes.set_on_nodes("carbon_g_per_hour", carbon)


class Energy(Feed):
    """The power that nodes draw."""

    name = "energy"
    fields = (TIME, named("node", "node"), Field("watts", "number", most=1e9))
    measures = (Measure("nodes", "watts", update_carbon),)

    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """The mean power."""
        sums = evidence.sums_of(self)
        watts, samples = (F.col("watts") / F.col("records")).alias("watts"), F.col("records").alias("samples")
        return {"nodes": sums.select("window", "node", watts, samples)}

    def has_sample(self, problem: Problem) -> bool:
        """Only where a node emits carbon: telemetry of other problems says nothing about energy."""
        return bool((problem.network.carbon_g_per_hour > 0).any())

    def reporters(self, problem: Problem, flows: Flows) -> int:
        """All nodes."""
        return len(problem.network.nodes) if self.has_sample(problem) else 0

    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """The power that gives every node its carbon, a little more or less with each report."""
        network, options = sample.problem.network, sample.options
        watts = network.carbon_g_per_hour / options.carbon_intensity * 1000
        table = pa.table({"node": pa.array(sample.names(network.index), pa.string()), "mean_watts": watts})
        wobble = F.lit(1.0) + F.lit(sample.wobble) * random.symmetric("watts", F.col("record"))
        rows = reports(session, sample, lines, table)
        return rows.withColumn("watts", micro(F.col("mean_watts") * wobble))
