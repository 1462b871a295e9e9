"""The robust level against the plain median, and the moving average against a loop."""

import math
import random
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feeds.statistics import bucket_sums, latest, smoothed, with_bucket, with_level
from berth.spark import SparkSession
from tests.oracle.telemetry import smooth

CHANCE = random.Random(5)


def noisy(level: float, deviation: float, number: int = 2000) -> list[float]:
    return [level * CHANCE.lognormvariate(0, deviation) for _ in range(number)]


def wild(values: list[float], share: float, low: float, high: float) -> list[float]:
    """The values with a share of them replaced by multiples."""
    number = round(share * len(values))
    return values[number:] + [value * CHANCE.uniform(low, high) for value in values[:number]]


CASES = {
    "constant": [5.0] * 100,
    "one": [0.123456789],
    "two": [3.0, 3.3],
    "zero": [0.0] * 10,
    "mostly zero": [0.0] * 90 + [7.0] * 10,
    "some zero": [0.0] * 10 + [7.0] * 90,
    "tiny": [1e-9] * 5,
    "a day": [86_400_000.0] * 5,
    "calm": noisy(20, 0.02),
    "noisy": noisy(20, 0.3),
    "few": noisy(20, 0.05, 7),
    "bucket's end": noisy(math.exp(0.25 * 12), 0.1),
    "wild above": wild(noisy(40, 0.1), 0.2, 5, 1000),
    "wild below": wild(noisy(40, 0.1), 0.2, 0.001, 0.2),
    "wild on both sides": wild(wild(noisy(0.5, 0.05), 0.15, 10, 20), 0.15, 0.01, 0.1),
    "another level": noisy(10, 0.05, 1300) + noisy(100, 0.05, 700),
    "timeouts": noisy(8, 0.1, 1500) + [60_000.0] * 500,
}
Rows = dict[str, tuple[float, float, int]]


@pytest.fixture(scope="module")
def levels(spark: SparkSession) -> tuple[Rows, Rows]:
    """Level, spread and samples of every case: at once, and from sums of parts that were added up."""
    rows = [(name, number, value) for name, values in CASES.items() for number, value in enumerate(values)]
    CHANCE.shuffle(rows)
    frame = pd.DataFrame(rows, columns=["name", "number", "value"])
    records = with_bucket(spark.createDataFrame(frame), "value")
    part = (F.col("number") % 7).alias("part")
    in_parts = records.groupBy("name", "bucket", part).agg(*bucket_sums())
    sums = records.groupBy("name", "bucket").agg(*bucket_sums())
    added = in_parts.groupBy("name", "bucket").agg(
        *(F.sum(name).alias(name) for name in ("n", "first_power", "second_power"))
    )
    both = with_level(
        sums.withColumn("way", F.lit("at once")).unionByName(added.withColumn("way", F.lit("in parts"))),
        ["way", "name"],
    ).toPandas()
    found: dict[str, Rows] = {"at once": {}, "in parts": {}}
    for row in both.itertuples():
        found[row.way][row.name] = (row.level, row.spread, row.samples)
    return found["at once"], found["in parts"]


@pytest.mark.parametrize("name", CASES)
def test_all_values_are_counted(levels: tuple[Rows, Rows], name: str) -> None:
    """Wild ones, too."""
    assert levels[0][name][2] == len(CASES[name])


@pytest.mark.parametrize("name", ["constant", "one", "zero", "mostly zero", "tiny", "a day"])
def test_exact_levels(levels: tuple[Rows, Rows], name: str) -> None:
    """Equal values have that level, to the digits that the sums keep; what is next to nothing is nothing."""
    exact = {"mostly zero": 0.0, "tiny": 0.0}.get(name, CASES[name][0])
    assert levels[0][name][0] == pytest.approx(exact, rel=1e-7, abs=0)


@pytest.mark.parametrize(
    ("name", "level", "tolerance"),
    [
        ("two", 3.15, 0.05),
        ("some zero", 7, 1e-6),
        ("calm", 20, 0.003),
        ("noisy", 20, 0.03),
        ("few", 20, 0.05),
        ("bucket's end", math.exp(3), 0.01),
        ("wild above", 40, 0.01),
        ("wild below", 40, 0.01),
        ("wild on both sides", 0.5, 0.01),
        ("another level", 10, 0.02),
        ("timeouts", 8, 0.01),
    ],
)
def test_the_level_is_the_truth(levels: tuple[Rows, Rows], name: str, level: float, tolerance: float) -> None:
    """Wild values move it no more than noise does."""
    assert levels[0][name][0] == pytest.approx(level, rel=tolerance)


@pytest.mark.parametrize("name", ["constant", "calm", "noisy", "few", "bucket's end"])
def test_without_wild_values_it_is_the_median(levels: tuple[Rows, Rows], name: str) -> None:
    """As near as the noise allows."""
    assert levels[0][name][0] == pytest.approx(median(CASES[name]), rel=0.03)


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("constant", 0),
        ("calm", 0.02),
        ("noisy", 0.3),
        ("wild above", 0.1),
        ("wild below", 0.1),
        ("timeouts", 0.1),
    ],
)
def test_the_spread_is_that_of_the_noise(levels: tuple[Rows, Rows], name: str, deviation: float) -> None:
    """The standard deviation without the wild values, in the values' unit."""
    level, spread, _ = levels[0][name]
    assert spread == pytest.approx(level * deviation, rel=0.12, abs=1e-3 * level)


def test_sums_of_parts_give_the_same_numbers(levels: tuple[Rows, Rows]) -> None:
    """Not nearly: the very same, whatever the order in which records came."""
    assert levels[0] == levels[1]


SERIES: dict[str, list[float | None]] = {
    "short": [10.0, 20.0, 30.0],
    "late": [None, None, 4.0, 8.0],
    "gaps": [1.0, None, 3.0, None, None, 7.0],
    "never": [None, None],
    "long": [CHANCE.uniform(0, 100) for _ in range(400)],
}
SEEDS = {"short": 100.0, "late": 50.0, "new": 1.0}


def rows_of(session: SparkSession, weight: float, seeds: bool) -> dict[str, list[float]]:
    """The averages of every series in the order of windows; NaN where there is none."""
    rows = [(name, number, value) for name, values in SERIES.items() for number, value in enumerate(values)]
    CHANCE.shuffle(rows)
    table = session.createDataFrame(rows, "name string, window bigint, x double")
    given = session.createDataFrame(list(SEEDS.items()), "name string, smoothed_x double") if seeds else None
    averaged = smoothed(table, ["name"], ["x"], weight, given).toPandas().sort_values("window")
    assert list(averaged.columns) == ["name", "window", "x", "smoothed_x"]
    return {name: averaged[averaged["name"] == name]["smoothed_x"].tolist() for name in SERIES}


def expected(values: list[float | None], weight: float) -> Any:
    averages = [math.nan if value is None else value for value in smooth(values, weight)]
    return pytest.approx(averages, rel=1e-9, nan_ok=True)


def test_averages(spark: SparkSession) -> None:
    """The first window starts it; a window without a value has the average so far."""
    found = rows_of(spark, 0.3, seeds=False)
    assert found["short"] == pytest.approx([10.0, 13.0, 18.1])
    for name, values in SERIES.items():
        assert found[name] == expected(values, 0.3), name


def test_a_weight_of_one_takes_windows_as_they_are(spark: SparkSession) -> None:
    """Nothing of the past is left where there is a value."""
    found = rows_of(spark, 1.0, seeds=False)
    for name in ("short", "long"):
        assert found[name] == SERIES[name]


def test_averages_go_on_from_seeds(spark: SparkSession) -> None:
    """As if the windows before were there."""
    found = rows_of(spark, 0.5, seeds=True)
    for name, values in SERIES.items():
        if name in SEEDS:
            assert [SEEDS[name], *found[name]] == expected([SEEDS[name], *values], 0.5), name
        else:
            assert found[name] == expected(values, 0.5), name


def test_the_newest_average(spark: SparkSession) -> None:
    """Of every measure by itself: its last window that has one."""
    start = datetime(2025, 1, 1, tzinfo=UTC)
    rows = [
        ("a", start + timedelta(minutes=5), None, 2.0),
        ("a", start, 1.0, 7.0),
        ("a", start + timedelta(minutes=2), 3.0, None),
        ("b", start, None, None),
    ]
    schema = "name string, window_start timestamp, smoothed_x double, smoothed_y double"
    newest = latest(spark.createDataFrame(rows, schema), ["name"], ["x", "y"]).collect()
    assert {row["name"]: (row["smoothed_x"], row["smoothed_y"]) for row in newest} == {
        "a": (3.0, 2.0),
        "b": (None, None),
    }
