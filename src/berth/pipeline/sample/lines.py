"""The lines of a folder: good records by number, garbage strewn in between, both rendered for the file.

Every kind of garbage has a fault that is reason enough for quarantine on its own: of a line, of a field's
text or value, or of a record whose fields are well and that makes no sense all the same (`Feed.faults`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds import FEEDS, Feed, Field
from berth.pipeline.feeds.feed import SPARK_TYPES
from berth.pipeline.feeds.sampling import Fault, Folder, Randomness, whole_quotient
from berth.pipeline.options import Format, SampleOptions

CENTURY_MS = 36_525 * 86_400_000
ISO = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"


LINE_FAULTS = [
    Fault("line: cut off", line=lambda line: F.expr("substring(line, 1, length(line) div 2)")),
    Fault("line: no JSON", line=lambda line: F.lit("connection reset by peer")),
    Fault("line: no object", line=lambda line: F.lit('[1, 2, 3, "go"]')),
    Fault("line: two records", line=lambda line: F.concat(line, line)),
    Fault("line: no UTF-8", line=lambda line: F.lit(bytearray(b'{"ts":\xff\xfe\x80\xc3(')).cast("string")),
    Fault("line: control characters", line=lambda line: F.lit("\0\0\0\0\1\2\3")),
]


def faults_of(problem: Problem, feed: Feed, form: Format) -> list[Fault]:
    """All faults of a feed's records, in a fixed order; Parquet has only those that its types allow."""
    strangers = _strangers(problem)
    found = [
        Fault("ts: in the future", columns=lambda: {"ts": F.col("ts") + F.lit(CENTURY_MS)}),
        *feed.faults,
    ]
    faults = _typed_faults if form == "parquet" else _text_faults
    for field in feed.fields:
        found += faults(field, strangers)
    return found if form == "parquet" else [*LINE_FAULTS, *found]


def _text_faults(field: Field, strangers: Mapping[str, str]) -> list[Fault]:
    """A field's faults in JSON."""
    texts: dict[str, str | None] = {} if field.optional else {"missing": None, "null": "null"}
    texts["a list"] = "[1]"
    if field.of is not None:
        texts |= {"a number": strangers["number"], "unknown": json.dumps(strangers[field.of]), "empty": '""'}
    elif field.kind == "flag":
        texts |= {"a number": "1", "text": '"perhaps"'}
    elif field.kind == "time":
        dates = {"text": '"yesterday"', "no such date": '"2024-13-45T25:61:00Z"'}
        texts |= {"a boolean": "true", "negative": "-5", "NaN": "NaN", **dates}
    else:
        texts |= {"a boolean": "true", "text": '"fast"', "NaN": "NaN", "infinite": "Infinity"}
        texts |= {"too large": "1e999", "negative": "-2" if field.whole else "-1.5"}
    return [Fault(f"{field.name}: {what}", texts={field.name: text}) for what, text in texts.items()]


def _typed_faults(field: Field, strangers: Mapping[str, str]) -> list[Fault]:
    """A field's faults in a typed column."""
    values: dict[str, object] = {} if field.optional else {"null": None}
    if field.of is not None:
        values |= {"unknown": strangers[field.of], "empty": ""}
    elif field.kind == "number" and field.whole:
        values |= {"negative": -2}
    elif field.kind == "number":
        values |= {"NaN": float("nan"), "infinite": float("inf"), "negative": -1.5}
    return [_typed_fault(f"{field.name}: {what}", field, value) for what, value in values.items()]


def _typed_fault(title: str, field: Field, value: object) -> Fault:
    kind = "bigint" if field.whole else SPARK_TYPES[field.kind]
    return Fault(title, columns=lambda: {field.name: F.lit(value).cast(kind)})


def _strangers(problem: Problem) -> dict[str, str]:
    """For every kind of name one that the problem doesn't have, and a number that is no name either."""
    nodes = set(problem.network.index)
    applications = {application.name for application in problem.applications}
    operators = {item.operator.name for item in problem.instances.operators}
    names = nodes | applications | operators
    return {
        "node": _unused("no-such-node", nodes),
        "application": _unused("no-such-application", applications),
        "operator": _unused("no-such-operator", operators),
        "instance": _unused("no-such-operator", operators) + "#0",
        "number": next(str(number) for number in count(7) if str(number) not in names),
    }


def _unused(name: str, names: set[str]) -> str:
    while name in names:
        name += "-"
    return name


def numbered_lines(session: SparkSession, folder: Folder, faults: int, random: Randomness) -> DataFrame:
    """Every line of a folder: `record`, the number of the good record, and `fault`, null where it is good.

    The lines are cut into as many equal parts as there is garbage, and each part has one piece of it
    somewhere. So there is exactly as much as there should be, every fault in turn, and any line knows what
    it is without the others.
    """
    lines = folder.slots + folder.garbage
    numbers = session.range(0, lines, 1, max(1, folder.files))
    if not folder.garbage:
        return numbers.select(F.col("id").alias("record"), F.lit(None).cast("int").alias("fault"))
    part = whole_quotient(F.col("id") * F.lit(folder.garbage), lines)
    parts = numbers.select("id", part.alias("part"))
    # the first line of a part: part x lines / parts, rounded up
    first, following = (
        whole_quotient(part * F.lit(lines) + F.lit(folder.garbage - 1), folder.garbage)
        for part in (F.col("part"), F.col("part") + 1)
    )
    place = first + F.pmod(random.bits("place of garbage", F.col("part")), following - first)
    placed = parts.select("id", "part", place.alias("place"))
    before = F.col("part") + (F.col("place") < F.col("id")).cast("long")
    record = F.least(F.col("id") - before, F.lit(folder.slots - 1))
    fault = (F.col("part") + F.lit(random.seed % faults)) % F.lit(faults)
    return placed.select(
        record.alias("record"), F.when(F.col("place") == F.col("id"), fault.cast("int")).alias("fault")
    )


def garbage_counts(folder: Folder, faults: Sequence[Fault], seed: int) -> dict[str, int]:
    """How often each fault is among a folder's lines; the faults take turns."""
    turns = len(faults)
    return {
        fault.name: len(range((number - seed) % turns, folder.garbage, turns))
        for number, fault in enumerate(faults)
    }


def spoiled(records: DataFrame, feed: Feed, faults: Sequence[Fault]) -> DataFrame:
    """The records with other values where a fault is one of values."""
    changes: dict[str, Column] = {}
    for number, fault in enumerate(faults):
        for name, value in fault.columns().items():
            changes[name] = F.when(F.col("fault") == number, value).otherwise(changes.get(name, F.col(name)))
    return records.select(
        "record",
        "fault",
        *[changes.get(field.name, F.col(field.name)).alias(field.name) for field in feed.fields],
    )


def as_json_lines(
    records: DataFrame, feed: Feed, faults: Sequence[Fault], options: SampleOptions, random: Randomness
) -> DataFrame:
    """One column `value`: a line of JSON for each record, or what a fault makes of it.

    The columns of names are JSON already: each name was quoted once, and not once for each record.
    """
    fields = [_fragment(field.name, _json(field, options, random), faults) for field in feed.fields]
    line = F.concat(F.lit("{"), F.substring(F.concat(*fields), 2, 2**31 - 1), F.lit("}"))
    lines = records.select("fault", line.alias("line"))
    spoiled_line = F.col("line")
    for number, fault in enumerate(faults):
        if fault.line is not None:
            spoiled_line = F.when(F.col("fault") == number, fault.line(F.col("line"))).otherwise(spoiled_line)
    value = F.when(F.col("fault").isNull(), F.col("line")).otherwise(spoiled_line)
    return lines.select(value.alias("value"))


def _fragment(name: str, value: Column, faults: Sequence[Fault]) -> Column:
    """`,"name":value`, or what a fault has in its place, which may be nothing."""
    good = F.concat(F.lit(f',"{name}":'), value)
    numbers = [number for number, fault in enumerate(faults) if name in fault.texts]
    if not numbers:
        return good
    # a field's faults stand together: a short list of them is a small plan
    first, last = numbers[0], numbers[-1]
    bad = [_bad_fragment(name, fault) for fault in faults[first : last + 1]]
    texts = F.array(*[F.lit(text).cast("string") for text in bad])
    return F.coalesce(F.get(texts, F.col("fault") - first), good)


def _bad_fragment(name: str, fault: Fault) -> str | None:
    if name not in fault.texts:
        return None
    text = fault.texts[name]
    return "" if text is None else f',"{name}":{text}'


def _json(field: Field, options: SampleOptions, random: Randomness) -> Column:
    column = F.col(field.name)
    if field.kind == "name":
        return column
    if field.kind != "time" or options.timestamps == "epoch":
        return column.cast("string")
    iso = F.concat(F.lit('"'), F.date_format(F.timestamp_millis(column), ISO), F.lit('"'))
    if options.timestamps == "iso":
        return iso
    heads = random.bits("form of time", F.col("record")) > 0
    return F.when(heads, iso).otherwise(column.cast("string"))


def as_columns(records: DataFrame, feed: Feed, options: SampleOptions) -> DataFrame:
    """The fields as columns; the time a timestamp or a number, in a mixed sample by turns."""
    mixed_iso = options.timestamps == "mixed" and FEEDS.index(feed) % 2 == 1
    time = F.timestamp_millis(F.col("ts")) if options.timestamps == "iso" or mixed_iso else F.col("ts")
    return records.select(time.alias("ts"), *[F.col(field.name) for field in feed.fields[1:]])
