"""Which records make sense: a reason for every one that doesn't, null for the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feed import HEARTBEATS, OPERATORS, PROBES, STREAMS, Field, Folder

_MOST_LITERALS = 1_000


@dataclass(frozen=True)
class Clock:
    """The times that a record may have, in epoch milliseconds; before `oldest` it comes too late to count."""

    newest: int
    oldest: int | None = None


def judged(records: DataFrame, folder: Folder, problem: Problem, clock: Clock) -> DataFrame:
    """The records with the column `reason`: the first thing that is wrong, or null."""
    known, checks = _NAMES[folder.name](problem)
    reason = F.coalesce(
        F.col("fault"),
        *(_missing(field) for field in folder.fields),
        *(_out_of_range(field) for field in folder.fields if field.kind == "number"),
        _out_of_time(clock),
        *checks,
    )
    return _with_known(records, known).withColumn("reason", reason)


def _missing(field: Field) -> Column:
    return F.when(F.col(f"`{field.name}`").isNull(), f"{field.name}: missing")


def _out_of_range(field: Field) -> Column:
    value = F.col(f"`{field.name}`")
    check = (
        F.when(F.isnan(value), f"{field.name}: NaN")
        .when(value < 0, f"{field.name}: negative")
        .when(value > field.most, f"{field.name}: impossibly large")
    )
    return check if field.zero else check.when(value == 0, f"{field.name}: zero")


def _out_of_time(clock: Clock) -> Column:
    time = F.col("ts")
    check = F.when(time < 0, "ts: negative").when(time > clock.newest, "ts: in the future")
    return (
        check
        if clock.oldest is None
        else check.when(time < clock.oldest, "ts: too late, behind the watermark")
    )


NameChecks = tuple[Mapping[str, tuple[Column, Collection[str]]], list[Column]]


def _with_known(records: DataFrame, known: Mapping[str, tuple[Column, Collection[str]]]) -> DataFrame:
    """A column for each question whether a name is known: literals if they are few, else a join."""
    for answer, (name, names) in known.items():
        if len(names) <= _MOST_LITERALS:
            records = records.withColumn(answer, name.isin(*names) if names else F.lit(False))
        else:
            listed = _listed(records.sparkSession, names, answer)
            records = (
                records.withColumn("_name", name).join(F.broadcast(listed), "_name", "left").drop("_name")
            )
            records = records.withColumn(answer, F.col(answer).isNotNull())
    return records


def _listed(session: SparkSession, names: Collection[str], answer: str) -> DataFrame:
    import pandas as pd

    frame = pd.DataFrame({"_name": sorted(names)})
    return session.createDataFrame(frame, "_name string").withColumn(answer, F.lit(True))


def _nodes(problem: Problem) -> list[str]:
    return [node.name for node in problem.network.nodes]


def _unless(answer: str, reason: str) -> Column:
    return F.when(~F.col(answer), reason)


def _probe_names(problem: Problem) -> NameChecks:
    nodes = _nodes(problem)
    known = {"_from_known": (F.col("from"), nodes), "_to_known": (F.col("to"), nodes)}
    return known, [
        _unless("_from_known", "from: unknown node"),
        _unless("_to_known", "to: unknown node"),
        F.when(F.col("from") == F.col("to"), "to: the same node as from"),
    ]


def _heartbeat_names(problem: Problem) -> NameChecks:
    known = {"_node_known": (F.col("node"), _nodes(problem))}
    return known, [
        _unless("_node_known", "node: unknown node"),
        F.when(F.col("up") & (F.col("mips") == 0), "mips: zero on a node that is up"),
    ]


def _operator_names(problem: Problem) -> NameChecks:
    known = {
        "_application_known": (F.col("application"), [item.name for item in problem.applications]),
        "_operator_known": (F.concat_ws("/", "application", "operator"), _operators(problem)),
        "_instance_known": (F.concat_ws("/", "application", "instance"), problem.instances.names),
        "_node_known": (F.col("node"), _nodes(problem)),
    }
    other = F.substring_index("instance", "#", 1) != F.col("operator")
    return known, [
        _unless("_application_known", "application: unknown application"),
        _unless("_operator_known", "operator: unknown operator"),
        _unless("_instance_known", "instance: unknown instance"),
        F.when(other, "instance: of another operator"),
        _unless("_node_known", "node: unknown node"),
    ]


def _stream_names(problem: Problem) -> NameChecks:
    operators = _operators(problem)
    streams = [
        f"{application.name}/{stream.sender}/{stream.receiver}"
        for application in problem.applications
        for stream in application.streams
    ]
    known = {
        "_application_known": (F.col("application"), [item.name for item in problem.applications]),
        "_from_known": (F.concat_ws("/", "application", "from"), operators),
        "_to_known": (F.concat_ws("/", "application", "to"), operators),
        "_stream_known": (F.concat_ws("/", "application", "from", "to"), streams),
    }
    return known, [
        _unless("_application_known", "application: unknown application"),
        _unless("_from_known", "from: unknown operator"),
        _unless("_to_known", "to: unknown operator"),
        _unless("_stream_known", "to: unknown stream"),
    ]


def _operators(problem: Problem) -> list[str]:
    return [f"{app.name}/{operator.name}" for app in problem.applications for operator in app.operators]


_NAMES: dict[str, Callable[[Problem], NameChecks]] = {
    PROBES.name: _probe_names,
    HEARTBEATS.name: _heartbeat_names,
    OPERATORS.name: _operator_names,
    STREAMS.name: _stream_names,
}
