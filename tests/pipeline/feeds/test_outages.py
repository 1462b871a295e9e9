"""Availability from heartbeats: cases computed by hand, and the same cut into windows against the oracle."""

import random

import pytest
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feeds.outages import INTERVALS, availability_of, ends_of, pieces_to_the_ends
from berth.pipeline.feeds.statistics import window_of
from berth.pipeline.storage import empty_table
from berth.spark import SparkSession
from tests.oracle import telemetry as oracle
from tests.pipeline.telemetry import START

Beat = tuple[float, bool]


def every(interval: float, start: float = 0, end: float = 1000, up: bool = True) -> list[Beat]:
    """Heartbeats at equal distances, both ends included; seconds."""
    number = round((end - start) / interval)
    return [(start + interval * step, up) for step in range(number + 1)]


# heartbeats of a node, and the share of the feed's 1000 s in which it was up
CASES: dict[str, tuple[list[Beat], float]] = {
    "steady": (every(10), 1.0),
    "silent from 300 to 500": (every(10, end=300) + every(10, start=500), 1 - 0.190),
    "three intervals are no outage": (every(10, end=300) + every(10, start=330), 1.0),
    "a millisecond more is one": (every(10, end=300) + every(10, start=330.001, end=990.001), 1 - 0.020001),
    "two outages": (
        every(10, end=100) + every(10, start=200, end=600) + every(10, start=700),
        1 - 0.180,
    ),
    "says that it is down": (
        every(10, end=390) + every(10, start=400, end=590, up=False) + every(10, start=600),
        0.8,
    ),
    "down, then silent": ([*every(10, end=390), (400, False), *every(10, start=600)], 0.8),
    "down for a moment": ([*every(10, end=490), (500, False), *every(10, start=510)], 0.99),
    "always down": (every(10, up=False), 0.0),
    "late": (every(10, start=100), 1 - 0.090),
    "a little late": (every(10, start=30), 1.0),
    "late and down at first": ([(100, False), *every(10, start=110)], 1 - 0.110),
    "gone": (every(10, end=800), 1 - 0.190),
    "gone, and said so": ([*every(10, end=790), (800, False)], 0.8),
    "slow": (every(100), 1.0),
    "slow and silent": (every(100, end=300) + every(100, start=800), 1 - 0.400),
    "alternating": ([(10 * step + (step % 2) * 4, True) for step in range(101)], 1.0),
    "doubled": (every(10) + every(10), 1.0),
    "doubled and silent": (2 * (every(10, end=300) + every(10, start=500)), 1 - 0.190),
    "heard of once": ([(500, True)], 0.020),
    "heard of once, down": ([(500, False)], 0.0),
    "heard of twice": ([(400, True), (600, True)], 1.0),
    "heard of twice in a moment": ([(500, True), (500.1, True)], 0.0003),
}


def shares(
    session: SparkSession, beats: list[tuple[str, int, bool]], window_ms: int | None
) -> dict[tuple[int, str], float | None]:
    """Availability by window and node."""
    rows = session.createDataFrame(beats, "node string, ts bigint, up boolean")
    windows = rows.select(window_of(F.col("ts"), window_ms).alias("window"))
    pieces = pieces_to_the_ends(rows, ends_of(rows), windows, window_ms)
    past = empty_table(session, INTERVALS)
    found = availability_of(pieces, past, window_ms).collect()
    return {(row["window"], row["node"]): row["availability"] for row in found}


def all_beats() -> list[tuple[str, int, bool]]:
    """The heartbeats of all cases in no order."""
    beats = [
        (name, START + round(1000 * moment), up) for name, (each, _) in CASES.items() for moment, up in each
    ]
    random.Random(3).shuffle(beats)
    return beats


@pytest.fixture(scope="module")
def over_all(spark: SparkSession) -> dict[tuple[int, str], float | None]:
    """Each node's share over the whole feed."""
    return shares(spark, all_beats(), None)


@pytest.mark.parametrize("name", CASES)
def test_share_of_the_time(over_all: dict[tuple[int, str], float | None], name: str) -> None:
    """As the contract has it: an outage lasts as long as the silence, less one interval."""
    assert over_all[0, name] == pytest.approx(CASES[name][1], abs=1e-9)


def test_the_oracle_agrees() -> None:
    """It has the same numbers, by another way."""
    telemetry = oracle.Telemetry(
        heartbeats=[{"node": node, "ts": time, "up": up} for node, time, up in all_beats()]
    )
    found = oracle.availability(telemetry, START, START + 1_000_000)
    assert found == {name: pytest.approx(share, abs=1e-9) for name, (_, share) in CASES.items()}


def test_windows_cut_silence(spark: SparkSession) -> None:
    """Every window has its own part, and those that a silence fills have none of it."""
    width = 200_000
    names = [name for name in CASES if "slow" not in name and "heard" not in name]
    beats = [beat for beat in all_beats() if beat[0] in names]
    telemetry = oracle.Telemetry(
        heartbeats=[{"node": node, "ts": time, "up": up} for node, time, up in beats]
    )
    found = shares(spark, beats, width)
    assert START % width == 0
    for start in range(START, START + 1_000_000, width):
        for node, share in oracle.availability(telemetry, start, start + width).items():
            assert found.pop((start, node)) == pytest.approx(share, abs=1e-9), (start - START, node)
    assert found == {}


def test_one_moment_says_nothing(spark: SparkSession) -> None:
    """A feed of one record has no length; two nodes that were heard of once have no interval."""
    assert shares(spark, [("a", START, True)], None) == {}
    assert set(shares(spark, [("a", START, True), ("b", START + 5000, True)], None).values()) == {None}
