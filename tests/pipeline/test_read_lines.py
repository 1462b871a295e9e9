"""Plain lines and the JSON parser: two ways to read a line, and one result."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import FOLDERS, PROBES, Folder
from berth.pipeline.plain_lines import plain_pieces
from berth.pipeline.read_lines import read_lines, records_of_lines
from berth.spark import SparkSession

from .feeds import heartbeat, operator, probe, stream
from .odd_lines import odd_lines
from .test_plain_lines import NOT_PLAIN

USUAL = {"probes": probe, "heartbeats": heartbeat, "operators": operator, "streams": stream}


def read(spark: SparkSession, path: Path, folder: Folder, pieces: Column) -> list[str]:
    """The records of a file, in its order; as text, because NaN is not equal to itself."""
    lines = spark.read.text(str(path)).select(F.col("value").alias("_line"))
    rows = records_of_lines(lines, folder, pieces).withColumn("record", F.col("record").cast("binary"))
    return [repr(row) for row in rows.collect()]


def both_ways(spark: SparkSession, path: Path, folder: Folder) -> tuple[list[str], list[str]]:
    """With plain lines taken as such, and all of them parsed."""
    quickly = read(spark, path, folder, plain_pieces(F.col("_line"), folder))
    return quickly, read(spark, path, folder, F.lit(None).cast("array<string>"))


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_random_lines_read_both_ways(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Values, faults, files and lines are the same, whatever a line is."""
    folder = data.draw(st.sampled_from(FOLDERS))
    lines = data.draw(st.lists(odd_lines(folder), min_size=1, max_size=60))
    path = tmp_path_factory.mktemp("odd") / "lines"
    path.write_bytes(b"\n".join(line for line in lines if line.strip()))
    quickly, carefully = both_ways(spark, path, folder)
    assert quickly == carefully
    assert len(quickly) == len(path.read_bytes().splitlines()) or b"\r" in path.read_bytes()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_usual_lines_read_both_ways(spark: SparkSession, tmp_path: Path, folder: Folder) -> None:
    """Plain ones, in all notations of a time; their values are those of the record."""
    record = USUAL[folder.name]()
    times = (record["ts"], 0, "2025-06-15T15:06:40Z", "2025-06-15 15:06:40,5+02", "17", "", "no time")
    lines = [
        json.dumps(record | {"ts": time}, separators=separators)
        for time in times
        for separators in (None, (",", ":"))
    ]
    (tmp_path / "lines").write_text("\n".join(lines))
    quickly, carefully = both_ways(spark, tmp_path / "lines", folder)
    assert quickly == carefully
    first = read_lines(spark, folder, [str(tmp_path / "lines")]).first()
    assert first is not None
    assert {name: first[name] for name in record} == record
    assert first["fault"] is None


def test_lines_that_are_not_plain_read_both_ways(spark: SparkSession, tmp_path: Path) -> None:
    """Each in a file of its own: some of them have ends of lines."""
    for number, line in enumerate(NOT_PLAIN.values()):
        (tmp_path / f"{number:03}").write_bytes(line.encode())
    quickly, carefully = both_ways(spark, tmp_path, PROBES)
    assert sorted(quickly) == sorted(carefully)
    assert len(quickly) == len(NOT_PLAIN) - 1, "all but the one that is empty"
