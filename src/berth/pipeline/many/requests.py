"""Which problems have to be solved in which variants: all of them, less what is there already."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, StructField, StructType

from berth.pipeline.many.schema import PLANS, REQUESTS, VARIANT
from berth.pipeline.many.solver import Terms
from berth.policies.variants import Variant

_ASKED = ArrayType(StructType([*VARIANT.fields[1:], StructField("fingerprint", PLANS["key"].dataType)]))
_IDENTITY = ("source", "digest")


def requests_for(
    problems: DataFrame,
    variants: Sequence[Variant],
    terms: Terms,
    finished: DataFrame | None = None,
    most_variants: int = 1,
) -> DataFrame:
    """The columns of `REQUESTS`: what of problems times variants is not finished yet.

    Args:
        problems: the columns of `PROBLEMS`.
        variants: the ways to solve each.
        terms: what holds for all of them.
        finished: plans that are there already; only `source`, `digest` and `key` count.
        most_variants: of one problem in one request. Its content is copied for each request.
    """
    asked = problems.withColumn("variants", _with_keys(variants, terms))
    if finished is not None:
        keys = finished.groupBy(*_IDENTITY).agg(F.collect_set("key").alias("finished"))
        asked = asked.join(keys, [*_IDENTITY], "left").withColumn("variants", _missing())
    parts = asked.where(F.size("variants") > 0).withColumn("variants", F.explode(_parts(most_variants)))
    return parts.select(*REQUESTS.fieldNames())


def _with_keys(variants: Sequence[Variant], terms: Terms) -> Column:
    """All variants of a problem, each with the key of its row."""
    asked = [
        {
            "policy": variant.policy,
            "parameters": dict(variant.parameters),
            "seed": variant.seed,
            "fingerprint": variant.fingerprint + terms.fingerprint,
        }
        for variant in variants
    ]
    # one literal however many there are: a column expression for each would take the planner minutes
    listed = F.from_json(F.lit(json.dumps(asked)), _ASKED)
    return F.transform(
        listed,
        lambda variant: F.struct(
            F.sha2(F.concat_ws("\n", "source", "digest", variant.fingerprint), 256).alias("key"),
            variant.policy.alias("policy"),
            variant.parameters.alias("parameters"),
            variant.seed.alias("seed"),
        ),
    )


def _missing() -> Column:
    finished = F.coalesce("finished", F.array().cast("array<string>"))
    return F.filter("variants", lambda variant: ~F.array_contains(finished, variant.key))


def _parts(most: int) -> Column:
    starts = F.sequence(F.lit(1), F.size("variants"), F.lit(most))
    return F.transform(starts, lambda start: F.slice("variants", start, most))
