"""Records from JSON lines, each line with what is wrong with it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import EXPECTED, SPARK_TYPES, Field, Folder
from berth.pipeline.times import time_from_text

_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt", "allowSingleQuotes": "false"}

_END = "berth: nothing follows"
"""An element behind a line in a list; it is the second one only if the line is one object."""


def read_lines(session: SparkSession, folder: Folder, paths: list[str]) -> DataFrame:
    """The records of files of JSON lines; blank lines are none."""
    wanted = ", ".join(
        f"`{field.name}` {'string' if field.kind == 'time' else SPARK_TYPES[field.kind]}"
        for field in folder.fields
    )
    parsed = F.from_json("value", f"{wanted}, _corrupt string", _OPTIONS)
    return (
        session.read.text(paths)
        .where(F.col("value").rlike(r"\S"))
        .select("value", F.col("_metadata.file_path").alias("path"), parsed.alias("parsed"))
        .select(
            *(_value(field) for field in folder.fields),
            _fault(folder).alias("fault"),
            "path",
            F.col("value").alias("record"),
        )
    )


def _value(field: Field) -> Column:
    value = F.col(f"parsed.`{field.name}`")
    return (time_from_text(value) if field.kind == "time" else value).alias(field.name)


def _fault(folder: Folder) -> Column:
    """Why a line is no record. Few lines have a fault, so what tells faults apart may cost something."""
    line = F.col("value")
    corrupt = F.col("parsed._corrupt").isNotNull()
    readable = F.startswith(F.ltrim(line), F.lit("{")) & F.try_parse_json(line).isNotNull()
    no_object = F.lit("unreadable: no JSON object")
    time = F.col(f"parsed.`{folder.fields[0].name}`")
    return (
        F.when(corrupt & ~readable, no_object)
        .when(corrupt, F.coalesce(*(_mistyped(field) for field in folder.fields), no_object))
        .when(~_one_object(line), "unreadable: more than one JSON object")
        .when(time.isNotNull() & time_from_text(time).isNull(), f"ts: {EXPECTED['time']}")
    )


def _mistyped(field: Field) -> Column:
    absent = F.col(f"parsed.`{field.name}`").isNull()
    there = F.get_json_object("value", f"$.{field.name}").isNotNull()
    return F.when(absent & there, f"{field.name}: {EXPECTED[field.kind]}")


def _one_object(line: Column) -> Column:
    """Whether nothing follows the first object: the parser stops there, and the rest would be lost."""
    ends_there = F.instr(line, "}") == F.length(F.rtrim(line))
    listed = F.from_json(F.concat(F.lit("["), line, F.lit(f',"{_END}"]')), "array<string>")
    return ends_there | F.coalesce((F.size(listed) == 2) & (F.get(listed, 1) == _END), F.lit(False))
