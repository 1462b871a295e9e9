"""Plain lines: the regular expression takes what can be read in one way only, and the parser reads it so."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feeds import FEEDS, Feed
from berth.pipeline.ingest.records import plain_form, plain_pieces, read_lines, records_of_lines
from berth.spark import SparkSession
from tests.pipeline.ingest.odd_lines import odd_lines
from tests.pipeline.telemetry import RECORDS, probe

COMPACT = (",", ":")
KINDS: dict[str, Any] = {"time": (int, str), "name": str, "number": (int, float), "flag": bool}
GOOD = json.dumps(probe())


def is_plain(line: str, feed: Feed = FEEDS[0]) -> bool:
    """As Spark's regular expressions see it; Python's have another word for the end."""
    return re.search(plain_form(feed).replace(r"\z", r"\Z"), line) is not None


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_what_usual_writers_write_is_plain(feed: Feed) -> None:
    """Otherwise all goes through the parser, and nothing but the time tells."""
    record = RECORDS[feed.name]()
    for separators in (COMPACT, None):
        for time in (record["ts"], 0, "2025-06-15T15:06:40.5Z"):
            assert is_plain(json.dumps(record | {"ts": time}, separators=separators), feed)


@pytest.mark.parametrize(
    "name", ["", " ", "kä%s+e", "名前", "😀", "a,b: c", "{a}", "a'b", "ts", "x" * 100_000]
)
def test_names_of_plain_lines(name: str) -> None:
    """Whatever needs no escape."""
    assert is_plain(json.dumps(probe(to=name), ensure_ascii=False))


NOT_PLAIN = {
    "number in text": GOOD.replace("20.0", '"20.0"'),
    "flag for a number": GOOD.replace("20.0", "true"),
    "null": GOOD.replace("20.0", "null"),
    "list": GOOD.replace("20.0", "[20.0]"),
    "object": GOOD.replace("20.0", '{"a":20.0}'),
    "NaN": GOOD.replace("20.0", "NaN"),
    "Infinity": GOOD.replace("20.0", "Infinity"),
    "negative": GOOD.replace("20.0", "-20.0"),
    "signed": GOOD.replace("20.0", "+20.0"),
    "exponent": GOOD.replace("20.0", "2e1"),
    "out of doubles": GOOD.replace("20.0", "1e400"),
    "huge whole number": GOOD.replace("20.0", "1" * 400),
    "many digits": GOOD.replace("20.0", "0." + "1" * 400),
    "leading zero": GOOD.replace("20.0", "020.0"),
    "nothing before the point": GOOD.replace("20.0", ".5"),
    "nothing behind the point": GOOD.replace("20.0", "5."),
    "other digits": GOOD.replace("20.0", "٢٠"),
    "Java's double": GOOD.replace("20.0", "20d"),
    "name is a number": GOOD.replace('"rome"', "7"),
    "escape": GOOD.replace("rome", "r\\u006fme"),
    "escaped quotation mark": GOOD.replace("rome", 'ro\\"me'),
    "backslash": GOOD.replace("rome", "ro\\\\me"),
    "tab in a name": GOOD.replace("rome", "ro\tme"),
    "control character": GOOD.replace("rome", "ro\x00me"),
    "negative time": GOOD.replace('"ts": ', '"ts": -'),
    "time with a fraction": GOOD.replace(', "from"', '.5, "from"'),
    "key twice": GOOD[:-1] + ', "rtt_ms": 5.0}',
    "first key twice": GOOD.replace('{"ts"', '{"ts": 1, "ts"'),
    "more fields": GOOD[:-1] + ', "more": 1}',
    "fewer fields": '{"ts": 1750000000000, "from": "rome", "to": "paris"}',
    "other order": json.dumps(dict(reversed(probe().items()))),
    "other case": GOOD.replace("rtt_ms", "RTT_MS"),
    "text behind": GOOD + "x",
    "brace behind": GOOD + "}",
    "another object": GOOD + GOOD,
    "line separator": GOOD + "\u2028",
    "next line": GOOD + "\u0085",
    "carriage return": GOOD + "\r",
    "line feed": GOOD + "\n",
    "blank behind": GOOD + " ",
    "blank before": " " + GOOD,
    "byte order mark": "\ufeff" + GOOD,
    "cut off": GOOD[:-1],
    "nothing": "",
    "list of objects": f"[{GOOD}]",
    "scalar": "5",
    "text": '"text"',
    "empty object": "{}",
    "single quotation marks": GOOD.replace('"', "'"),
    "keys without quotation marks": GOOD.replace('"from"', "from"),
    "comma at the end": GOOD[:-1] + ",}",
    "comment": GOOD.replace(', "to"', ', /**/"to"'),
    "half of it": GOOD[: len(GOOD) // 2],
}


@pytest.mark.parametrize("line", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_what_is_not_plain(line: str) -> None:
    """All that could be read otherwise than by its characters, or not at all."""
    assert is_plain(GOOD)
    assert not is_plain(line)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_a_plain_line_is_one_object_with_the_fields_and_their_types(data: st.DataObject) -> None:
    """As Python's parser reads it: each key once, in order, nothing else, and of the field's own type."""
    feed = data.draw(st.sampled_from(FEEDS))
    line = data.draw(odd_lines(feed)).decode(errors="replace")
    if not is_plain(line, feed):
        return
    pairs = json.loads(line, object_pairs_hook=list)
    assert [key for key, _ in pairs] == [field.name for field in feed.fields]
    for field, (_, value) in zip(feed.fields, pairs, strict=True):
        assert isinstance(value, KINDS[field.kind])
        assert (
            field.kind in ("flag", "name")
            or isinstance(value, str)
            or (type(value) is not bool and value >= 0)
        )


def read(spark: SparkSession, path: Path, feed: Feed, pieces: Column) -> list[str]:
    """The records of a file, in its order; as text, because NaN is not equal to itself."""
    lines = spark.read.text(str(path)).select(F.col("value").alias("_line"))
    rows = records_of_lines(lines, feed, pieces).withColumn("record", F.col("record").cast("binary"))
    return [repr(row) for row in rows.collect()]


def both_ways(spark: SparkSession, path: Path, feed: Feed) -> tuple[list[str], list[str]]:
    """With plain lines taken as such, and all of them parsed."""
    quickly = read(spark, path, feed, plain_pieces(F.col("_line"), feed))
    return quickly, read(spark, path, feed, F.lit(None).cast("array<string>"))


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_random_lines_read_both_ways(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Values, faults, files and lines are the same, whatever a line is."""
    feed = data.draw(st.sampled_from(FEEDS))
    lines = data.draw(st.lists(odd_lines(feed), min_size=1, max_size=60))
    path = tmp_path_factory.mktemp("odd") / "lines"
    path.write_bytes(b"\n".join(line for line in lines if line.strip()))
    quickly, carefully = both_ways(spark, path, feed)
    assert quickly == carefully
    assert len(quickly) == len(path.read_bytes().splitlines()) or b"\r" in path.read_bytes()


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_usual_lines_read_both_ways(spark: SparkSession, tmp_path: Path, feed: Feed) -> None:
    """Plain ones, in all notations of a time; their values are those of the record."""
    record = RECORDS[feed.name]()
    times = (record["ts"], 0, "2025-06-15T15:06:40Z", "2025-06-15 15:06:40,5+02", "17", "", "no time")
    lines = [
        json.dumps(record | {"ts": time}, separators=separators)
        for time in times
        for separators in (None, (",", ":"))
    ]
    (tmp_path / "lines").write_text("\n".join(lines))
    quickly, carefully = both_ways(spark, tmp_path / "lines", feed)
    assert quickly == carefully
    first = read_lines(spark, feed, [str(tmp_path / "lines")]).first()
    assert first is not None
    assert {name: first[name] for name in record} == record
    assert first["fault"] is None


def test_lines_that_are_not_plain_read_both_ways(spark: SparkSession, tmp_path: Path) -> None:
    """Each in a file of its own: some of them have ends of lines."""
    for number, line in enumerate(NOT_PLAIN.values()):
        (tmp_path / f"{number:03}").write_bytes(line.encode())
    quickly, carefully = both_ways(spark, tmp_path, FEEDS[0])
    assert sorted(quickly) == sorted(carefully)
    assert len(quickly) == len(NOT_PLAIN) - 1, "all but the one that is empty"
