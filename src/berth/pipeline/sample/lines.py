"""The lines of a folder: good records by number, garbage strewn in between, both rendered for the file."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from berth.pipeline.sample.faults import Fault
from berth.pipeline.sample.fields import FIELDS, NAMES, Kind
from berth.pipeline.sample.options import SampleOptions
from berth.pipeline.sample.planning import Folder
from berth.pipeline.sample.randomness import Randomness, whole_quotient

ISO = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"


def numbered_lines(session: SparkSession, folder: Folder, faults: int, random: Randomness) -> DataFrame:
    """Every line of a folder: `record`, the number of the good record, and `fault`, null where it is good.

    The lines are cut into as many equal parts as there is garbage, and each part has one piece of it
    somewhere. So there is exactly as much as there should be, every fault in turn, and any line knows what
    it is without the others.
    """
    lines = folder.slots + folder.garbage
    numbers = session.range(0, lines, 1, max(1, folder.files))
    if not folder.garbage:
        return numbers.select(sf.col("id").alias("record"), sf.lit(None).cast("int").alias("fault"))
    part = whole_quotient(sf.col("id") * sf.lit(folder.garbage), lines)
    parts = numbers.select("id", part.alias("part"))
    first, following = (
        _first_line(part, lines, folder.garbage) for part in (sf.col("part"), sf.col("part") + 1)
    )
    place = first + sf.pmod(random.bits("place of garbage", sf.col("part")), following - first)
    placed = parts.select("id", "part", place.alias("place"))
    before = sf.col("part") + (sf.col("place") < sf.col("id")).cast("long")
    record = sf.least(sf.col("id") - before, sf.lit(folder.slots - 1))
    fault = (sf.col("part") + sf.lit(random.seed % faults)) % sf.lit(faults)
    return placed.select(
        record.alias("record"), sf.when(sf.col("place") == sf.col("id"), fault.cast("int")).alias("fault")
    )


def garbage_counts(folder: Folder, faults: Sequence[Fault], seed: int) -> dict[str, int]:
    """How often each fault is among a folder's lines; the faults take turns."""
    turns = len(faults)
    return {
        fault.name: len(range((number - seed) % turns, folder.garbage, turns))
        for number, fault in enumerate(faults)
    }


def _first_line(part: Column, lines: int, parts: int) -> Column:
    """The first line of a part: part x lines / parts, rounded up."""
    return whole_quotient(part * sf.lit(lines) + sf.lit(parts - 1), parts)


def spoiled(records: DataFrame, folder: str, faults: Sequence[Fault]) -> DataFrame:
    """The records with other values where a fault is one of values."""
    changes: dict[str, Column] = {}
    for number, fault in enumerate(faults):
        for name, value in fault.columns().items():
            changes[name] = sf.when(sf.col("fault") == number, value).otherwise(
                changes.get(name, sf.col(name))
            )
    return records.select(
        "record", "fault", *[changes.get(name, sf.col(name)).alias(name) for name in FIELDS[folder]]
    )


def as_json_lines(
    records: DataFrame, folder: str, faults: Sequence[Fault], options: SampleOptions, random: Randomness
) -> DataFrame:
    """One column `value`: a line of JSON for each record, or what a fault makes of it.

    The columns of names are JSON already: each name was quoted once, and not once for each record.
    """
    fields = [
        _fragment(name, _json(name, kind, options, random), faults) for name, kind in FIELDS[folder].items()
    ]
    line = sf.concat(sf.lit("{"), sf.substring(sf.concat(*fields), 2, 2**31 - 1), sf.lit("}"))
    lines = records.select("fault", line.alias("line"))
    spoiled_line = sf.col("line")
    for number, fault in enumerate(faults):
        if fault.line is not None:
            spoiled_line = sf.when(sf.col("fault") == number, fault.line(sf.col("line"))).otherwise(
                spoiled_line
            )
    value = sf.when(sf.col("fault").isNull(), sf.col("line")).otherwise(spoiled_line)
    return lines.select(value.alias("value"))


def _fragment(name: str, value: Column, faults: Sequence[Fault]) -> Column:
    """`,"name":value`, or what a fault has in its place, which may be nothing."""
    good = sf.concat(sf.lit(f',"{name}":'), value)
    numbers = [number for number, fault in enumerate(faults) if name in fault.texts]
    if not numbers:
        return good
    # a field's faults stand together: a short list of them is a small plan
    first, last = numbers[0], numbers[-1]
    bad = [_bad_fragment(name, fault) for fault in faults[first : last + 1]]
    texts = sf.array(*[sf.lit(text).cast("string") for text in bad])
    return sf.coalesce(sf.get(texts, sf.col("fault") - first), good)


def _bad_fragment(name: str, fault: Fault) -> str | None:
    if name not in fault.texts:
        return None
    text = fault.texts[name]
    return "" if text is None else f',"{name}":{text}'


def _json(name: str, kind: Kind, options: SampleOptions, random: Randomness) -> Column:
    column = sf.col(name)
    if kind in NAMES:
        return column
    if kind != "time" or options.timestamps == "epoch":
        return column.cast("string")
    iso = sf.concat(sf.lit('"'), sf.date_format(sf.timestamp_millis(column), ISO), sf.lit('"'))
    if options.timestamps == "iso":
        return iso
    heads = random.bits("form of time", sf.col("record")) > 0
    return sf.when(heads, iso).otherwise(column.cast("string"))


def as_columns(records: DataFrame, folder: str, options: SampleOptions) -> DataFrame:
    """The fields as columns; the time a timestamp or a number, in a mixed feed by folder."""
    mixed_iso = options.timestamps == "mixed" and folder in ("heartbeats", "streams")
    time = sf.timestamp_millis(sf.col("ts")) if options.timestamps == "iso" or mixed_iso else sf.col("ts")
    return records.select(time.alias("ts"), *[sf.col(name) for name in FIELDS[folder] if name != "ts"])
