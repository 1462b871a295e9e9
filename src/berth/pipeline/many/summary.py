"""What a table of plans holds, by policy."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

STATUSES = ("optimal", "feasible", "infeasible", "unknown")


def summary_of(plans: DataFrame) -> list[dict[str, Any]]:
    """For each policy: rows, how many of each status, errors, and the median of seconds."""
    by_policy = (
        plans.groupBy("policy")
        .agg(
            F.count("*").alias("plans"),
            *(F.count_if(F.col("status") == status).alias(status) for status in STATUSES),
            F.count("error").alias("errors"),
            F.percentile_approx(F.when(F.col("error").isNull(), F.col("seconds")), 0.5).alias(
                "median_seconds"
            ),
        )
        .orderBy("policy")
    )
    return [row.asDict() for row in by_policy.collect()]  # a row for each policy
