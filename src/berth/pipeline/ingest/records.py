"""The records of a feed, whatever the formats of its files.

The columns are the feed's fields with their right types (null where a record has none), `fault` (why the
record can't be read, null if it can), `path` and `record` (where it stood and what it was, for the
quarantine).

Most lines of JSON are **plain**: the feed's fields in their order, nothing else, and no value that could be
read two ways. One regular expression tells them, and the pieces between their quotation marks are the values.
That costs half of what a JSON parser does. What is not plain is neither good nor bad: the parser reads it.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from berth.pipeline.feeds.feed import EXPECTED, SPARK_TYPES, Feed, Field, Kind
from berth.pipeline.ingest.files import Source
from berth.pipeline.storage import empty_table
from berth.spark.paths import spark_path

_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?"
_ISO = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ]{_CLOCK}{_ZONE})?$"
_NUMBER = r"^[0-9]+([.][0-9]*)?([eE][+]?[0-9]+)?$"
_BASIC = "yyyyMMdd'T'HHmmss[.SSS][XXX][XX][X]"


def time_from_text(text: Column) -> Column:
    """Epoch milliseconds from a number or ISO 8601; without a zone it is UTC. Null: it is neither."""
    # Spark itself takes much more for a time, such as a time of day for one of today
    return F.coalesce(
        text.try_cast("bigint"),
        F.when(
            text.rlike(_ISO), F.unix_millis(F.replace(text, F.lit(","), F.lit(".")).try_cast("timestamp"))
        ),
        F.when(text.rlike(_NUMBER), text.try_cast("double").try_cast("bigint")),
        F.unix_millis(F.try_to_timestamp(text, F.lit(_BASIC))),
    )


_TEXT = r'"[^"\\\x00-\x1f]*"'
_WHOLE = r"(?:0|[1-9][0-9]{0,14})"
_FORMS: dict[Kind, str] = {
    "time": f"(?:{_WHOLE}|{_TEXT})",
    "name": _TEXT,
    # signs and exponents are left to the parser: they are rare, and each costs something in every line
    "number": rf"{_WHOLE}(?:\.[0-9]{{1,20}})?",
    "flag": "(?:true|false)",
}


def plain_form(feed: Feed) -> str:
    """The regular expression of a feed's plain lines, as compact as Spark writes them or with spaces."""
    fields = (f'"{field.name}": ?{_FORMS[field.kind]}' for field in feed.fields)
    # $ would also match before a line separator that is no end of a line here
    return rf"^\{{{', ?'.join(fields)}\}}\z"


def plain_pieces(line: Column, feed: Feed) -> Column:
    """What stands between the quotation marks of a plain line; null if the line is not plain."""
    return F.when(line.rlike(plain_form(feed)), F.split(line, '"'))


def plain_values(pieces: Column, feed: Feed) -> dict[str, Column]:
    """The values of a plain line by field, times as text; null if there are no pieces."""
    values = {}
    # from the end, because only the time, which comes first, may have quotation marks or not
    place = -1
    for field in reversed(feed.fields):
        quoted = F.try_element_at(pieces, F.lit(place - 1))
        bare = _bare(F.try_element_at(pieces, F.lit(place)))
        if field.kind == "name":
            values[field.name] = quoted
        elif field.kind == "time":
            values[field.name] = F.when(F.size(pieces) == 2 - place, bare).otherwise(quoted)
        else:
            values[field.name] = bare.try_cast(SPARK_TYPES[field.kind])
        # a name's key, the colon, the name, and what is behind it; otherwise the key and what is behind it
        place -= 4 if field.kind == "name" else 2
    return values


def _bare(piece: Column) -> Column:
    """The value in a piece such as `:20.5, ` or `: true}`."""
    piece = F.rtrim(piece)
    return F.ltrim(F.substr(piece, F.lit(2), F.octet_length(piece) - 2))


_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt", "allowSingleQuotes": "false"}

_END = "berth: nothing follows"
"""An element behind a line in a list; it is the second one only if the line is one object."""


def read_lines(session: SparkSession, feed: Feed, paths: list[str]) -> DataFrame:
    """The records of files of JSON lines; blank lines are none."""
    line = F.col("_line")
    lines = session.read.text(paths).select(F.col("value").alias("_line"))
    lines = lines.where(F.startswith(line, F.lit("{")) | line.rlike(r"\S"))
    return records_of_lines(lines, feed, plain_pieces(line, feed))


def records_of_lines(lines: DataFrame, feed: Feed, pieces: Column) -> DataFrame:
    """The records of lines that were read from files.

    Args:
        lines: the column `_line`, none of them blank.
        feed: whose records they are.
        pieces: of the plain lines, from `plain_pieces`; the others go through the JSON parser.
    """
    rows = _with_parsed(_with_plain_values(lines, feed, pieces), feed)
    time = feed.fields[0].name
    values = {
        field.name: F.coalesce(f"_plain_{field.name}", f"_parsed.{field.name}") for field in feed.fields
    }
    rows = rows.select("*", values[time].alias("_time"))
    rows = rows.select("*", time_from_text(F.col("_time")).alias(time))
    return rows.select(
        *(F.col(time) if name == time else value.alias(name) for name, value in values.items()),
        _fault(feed).alias("fault"),
        # _metadata.file_path would be put into every row, also where nobody asks for it
        F.input_file_name().alias("path"),
        F.col("_line").alias("record"),
    )


def _with_plain_values(lines: DataFrame, feed: Feed, pieces: Column) -> DataFrame:
    rows = lines.select("_line", pieces.alias("_pieces"))
    values = plain_values(F.col("_pieces"), feed)
    return rows.select(
        "_line",
        *(value.alias(f"_plain_{name}") for name, value in values.items()),
        F.when(F.col("_pieces").isNull(), F.col("_line")).alias("_odd"),
    )


def _with_parsed(rows: DataFrame, feed: Feed) -> DataFrame:
    """What the JSON parser says of lines that are not plain."""
    wanted = ", ".join(
        f"`{field.name}` {'string' if field.kind == 'time' else SPARK_TYPES[field.kind]}"
        for field in feed.fields
    )
    rows = rows.select("*", F.when(~_ends_with_first_brace(F.col("_odd")), F.col("_odd")).alias("_long"))
    listed = F.concat(F.lit("["), F.col("_long"), F.lit(f',"{_END}"]'))
    # Spark compiles no code for this function: both calls in one step leave all others in compiled ones
    return rows.select(
        "*",
        F.from_json("_odd", f"{wanted}, _corrupt string", _OPTIONS).alias("_parsed"),
        F.from_json(listed, "array<string>").alias("_listed"),
    )


def _ends_with_first_brace(line: Column) -> Column:
    """Whether the first closing brace is the last character: then an object is all that can be there."""
    # as bytes: Spark looks for text in text ten times as slowly
    content = F.rtrim(line).cast("binary")
    before = F.substr(content, F.lit(1), F.octet_length(content) - 1)
    return F.endswith(content, F.lit(b"}")) & ~F.contains(before, F.lit(b"}"))


def _fault(feed: Feed) -> Column:
    """Why a line is no record. Few lines have a fault, so what tells faults apart may cost something."""
    line = F.col("_line")
    corrupt = F.col("_parsed._corrupt").isNotNull()
    readable = F.startswith(F.ltrim(line), F.lit("{")) & F.try_parse_json(line).isNotNull()
    no_object = F.lit("unreadable: no JSON object")
    time = feed.fields[0].name
    return (
        F.when(corrupt & ~readable, no_object)
        .when(corrupt, F.coalesce(*(_mistyped(field) for field in feed.fields), no_object))
        .when(F.col("_long").isNotNull() & ~_one_object(), "unreadable: more than one JSON object")
        .when(F.col("_time").isNotNull() & F.col(time).isNull(), f"{time}: {EXPECTED['time']}")
    )


def _mistyped(field: Field) -> Column:
    absent = F.col(f"_parsed.`{field.name}`").isNull()
    there = F.get_json_object("_line", f"$.{field.name}").isNotNull()
    return F.when(absent & there, f"{field.name}: {EXPECTED[field.kind]}")


def _one_object() -> Column:
    """Whether nothing follows the first object: the parser stops there, and the rest would be lost."""
    listed = F.col("_listed")
    return F.coalesce((F.size(listed) == 2) & (F.get(listed, 1) == _END), F.lit(False))


_KINDS: dict[str, tuple[type[T.DataType], ...]] = {
    "name": (T.StringType, T.CharType, T.VarcharType, T.BinaryType, T.IntegralType),
    "flag": (T.BooleanType,),
    "number": (T.NumericType,),
    "time": (T.TimestampType, T.TimestampNTZType, T.DateType, T.NumericType, T.StringType),
}


def read_parquet(
    session: SparkSession, feed: Feed, paths: list[str], nanoseconds: frozenset[str]
) -> DataFrame:
    """The records of Parquet files of one schema."""
    rows = session.read.parquet(*paths)
    kinds = {item.name: item.dataType for item in rows.schema}
    values = {
        field.name: _value(field, kinds[field.name], field.name in nanoseconds)
        for field in feed.fields
        if field.name in kinds and isinstance(kinds[field.name], _KINDS[field.kind])
    }
    columns = [
        values.get(field.name, F.lit(None)).cast(SPARK_TYPES[field.kind]).alias(field.name)
        for field in feed.fields
    ]
    # a column of another kind, or a time that is none
    faults = [
        F.when(
            F.col(f"`{field.name}`").isNotNull() & values.get(field.name, F.lit(None)).isNull(),
            f"{field.name}: {EXPECTED[field.kind]}",
        )
        for field in feed.fields
        if field.name in kinds and (field.name not in values or field.kind == "time")
    ]
    return rows.select(
        *columns,
        F.coalesce(*faults, F.lit(None).cast("string")).alias("fault"),
        F.col("_metadata.file_path").alias("path"),
        F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("record"),
    )


def _value(field: Field, kind: T.DataType, nanoseconds: bool) -> Column:
    column = F.col(f"`{field.name}`")
    if field.kind != "time":
        return column
    if isinstance(kind, T.NumericType):
        # Spark has no nanoseconds: the session reads such times as whole numbers
        return F.floor(column / 1_000_000) if nanoseconds else column.try_cast("bigint")
    return (
        time_from_text(column) if isinstance(kind, T.StringType) else F.unix_millis(column.cast("timestamp"))
    )


QUARANTINE = "folder string, file string, record string, reason string"


def read_records(session: SparkSession, feed: Feed, sources: list[Source]) -> DataFrame:
    """The records of the files that can be read."""
    good = [source for source in sources if source.broken is None]
    frames = []
    lines = [spark_path(source.path) for source in good if source.schema is None]
    if lines:
        frames.append(read_lines(session, feed, lines))
    kinds: dict[tuple[str, frozenset[str]], list[str]] = {}
    for source in good:
        if source.schema is not None:
            kinds.setdefault((source.schema, source.nanoseconds), []).append(spark_path(source.path))
    for (_, nanoseconds), paths in kinds.items():
        frames.append(read_parquet(session, feed, paths, nanoseconds))
    if not frames:
        fields = ", ".join(f"`{field.name}` {SPARK_TYPES[field.kind]}" for field in feed.fields)
        return empty_table(session, f"{fields}, fault string, path string, record string")
    return reduce(DataFrame.unionByName, frames)


def broken_rows(session: SparkSession, feed: Feed, root: Path, broken: list[Source]) -> DataFrame:
    """Quarantine rows for the files that can't be read at all: by name, without a record."""
    rows = [(feed.name, source.path.relative_to(root).as_posix(), None, source.broken) for source in broken]
    return session.createDataFrame(rows, QUARANTINE)


def refused_rows(judged: DataFrame, feed: Feed, root: Path) -> DataFrame:
    """Quarantine rows for the records that have a reason."""
    return judged.where(F.col("reason").isNotNull()).select(
        F.lit(feed.name).alias("folder"),
        _file(root).alias("file"),
        F.make_valid_utf8("record").alias("record"),
        "reason",
    )


def _file(root: Path) -> Column:
    """A record's file, relative to the telemetry's folder."""
    # Spark gives file:///a/b%20c; a plus sign in it is a plus sign
    path = F.col("path")
    decoded = F.coalesce(F.try_url_decode(F.replace(path, F.lit("+"), F.lit("%2B"))), path)
    start = F.instr(decoded, f"{root}/")
    return F.when(start > 0, F.substr(decoded, start + len(f"{root}/"))).otherwise(decoded)
