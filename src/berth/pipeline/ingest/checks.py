"""Which records make sense: a reason for every one that doesn't, null for the others.

Values are judged record by record. Names are judged by columns that are also keys of the sums, so they can
be judged behind these, where each name comes once and not in millions of records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds.feed import SMALLEST, Feed, Field, Named

_MOST_LITERALS = 1_000


@dataclass(frozen=True)
class Clock:
    """The times that a record may have, in epoch milliseconds; before `oldest` it comes too late to count."""

    newest: int
    oldest: int | None = None


def with_values_judged(records: DataFrame, feed: Feed, clock: Clock) -> DataFrame:
    """The records with the column `reason`: the first thing that is wrong with their values, or null."""
    checks = [
        F.when(F.col(f"`{field.name}`").isNull(), f"{field.name}: missing")
        for field in feed.fields
        if not field.optional
    ]
    checks += [_out_of_range(field) for field in feed.fields if field.kind == "number"]
    checks.append(_out_of_time(clock))
    checks += [F.when(rule.broken(), rule.reason) for rule in feed.value_rules]
    return records.withColumn("reason", F.coalesce(F.col("fault"), *checks))


def _out_of_range(field: Field) -> Column:
    value = F.col(f"`{field.name}`")
    check = (
        F.when(F.isnan(value), f"{field.name}: NaN")
        .when(value < 0, f"{field.name}: negative")
        .when(value > field.most, f"{field.name}: impossibly large")
    )
    return check if field.zero else check.when(value < SMALLEST, f"{field.name}: zero")


def _out_of_time(clock: Clock) -> Column:
    time = F.col("ts")
    check = F.when(time < 0, "ts: negative").when(time > clock.newest, "ts: in the future")
    if clock.oldest is None:
        return check
    return check.when(time < clock.oldest, "ts: too late, behind the watermark")


def with_names_judged(rows: DataFrame, feed: Feed, problem: Problem) -> DataFrame:
    """Rows that have a `reason` and the feed's names, with a reason for unknown names, too."""
    known = _known_names(problem)
    columns = rows.columns
    checks = []
    for number, name in enumerate(feed.names):
        rows = _with_answer(rows, f"_known_{number}", name.columns, known[name.of])
        checks.append(F.when(~F.col(f"_known_{number}"), name.reason))
    judged = F.coalesce(F.col("reason"), *checks, *_broken_name_rules(feed)).alias("reason")
    return rows.select(*(F.col(f"`{name}`") for name in columns if name != "reason"), judged)


def unknown_names(judged: DataFrame, feed: Feed, most: int) -> dict[str, list[str]] | None:
    """The names that rows were refused for, by reason; None: more than `most`.

    Args:
        judged: from `with_names_judged`.
        feed: whose records they are.
        most: how many names are few.
    """
    refused = F.coalesce(
        *(F.when(F.col("reason") == name.reason, F.concat_ws("/", *name.columns)) for name in feed.names)
    )
    names = judged.select("reason", refused.alias("name")).where(F.col("name").isNotNull()).distinct()
    found: dict[str, list[str]] = {}
    for row in names.limit(most + 1).collect():
        found.setdefault(row["reason"], []).append(row["name"])
    return None if sum(map(len, found.values())) > most else found


def with_refused_names(rows: DataFrame, feed: Feed, refused: Mapping[str, Collection[str]]) -> DataFrame:
    """As `with_names_judged`, for rows all of whose unknown names are already known, and few."""
    checks = [
        F.when(_is_one_of(name.columns, refused[name.reason]), name.reason)
        for name in feed.names
        if name.reason in refused
    ]
    reason = F.coalesce(F.col("reason"), *checks, *_broken_name_rules(feed))
    return rows.withColumn("reason", reason)


def _broken_name_rules(feed: Feed) -> list[Column]:
    """Known names that don't go together."""
    return [F.when(rule.broken(), rule.reason) for rule in feed.name_rules]


def _known_names(problem: Problem) -> Mapping[Named, Collection[str]]:
    """All names of a problem; of what belongs to an application, the application's comes first."""
    applications = problem.applications
    return {
        "node": [node.name for node in problem.network.nodes],
        "application": [app.name for app in applications],
        "operator": [f"{app.name}/{each.name}" for app in applications for each in app.operators],
        "instance": problem.instances.names,
        "stream": [
            f"{app.name}/{each.sender}/{each.receiver}" for app in applications for each in app.streams
        ],
    }


def _with_answer(rows: DataFrame, answer: str, columns: tuple[str, ...], known: Collection[str]) -> DataFrame:
    """A column that says whether a name is known: by literals if these are few, else by a join."""
    if len(known) <= _MOST_LITERALS:
        return rows.withColumn(answer, _is_one_of(columns, known))
    listed = rows.sparkSession.createDataFrame(
        pd.DataFrame({"_name": list(known), answer: True}), f"_name string, {answer} boolean"
    )
    joined = rows.withColumn("_name", F.concat_ws("/", *columns)).join(F.broadcast(listed), "_name", "left")
    return joined.drop("_name").withColumn(answer, F.col(answer).isNotNull())


def _is_one_of(columns: tuple[str, ...], names: Collection[str]) -> Column:
    if not names:
        return F.lit(False)
    quoted = [f"`{column}`" for column in columns]
    name = quoted[0] if len(columns) == 1 else f"concat_ws('/', {', '.join(quoted)})"
    # as text it is one message to Java, and not one for each name
    return F.expr(f"{name} in ({', '.join(map(literal, names))})")


def literal(text: str) -> str:
    """A text within an expression of Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
