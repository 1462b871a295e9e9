"""The moving average over windows against a loop."""

import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from berth.pipeline.smooth import latest, smoothed
from berth.spark import SparkSession
from tests.oracle.telemetry import smooth

CHANCE = random.Random(1)
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
