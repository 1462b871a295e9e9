"""The options of a sampled feed, and what they make of a problem, without Spark."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import berth
from berth.model import Application, BadInput, Network, Node, Operator, Problem
from berth.pipeline.feeds.outages import outages_of
from berth.pipeline.sample import SampleOptions, plan_sample

TAG = berth.load(Path(__file__).parents[3] / "examples" / "tag-and-count.yaml")
NOW = 1_750_000_000_000


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"records": 0}, "--records: 0 is no whole number from 1"),
        ({"records": -5}, "--records: -5"),
        ({"garbage": 1.0}, "--garbage: 1.0 is no number of at least 0 and below 1"),
        ({"garbage": -0.1}, "--garbage"),
        ({"duration": 0.0}, "--duration: 0.0 is no number above 0"),
        ({"duration": float("inf")}, "--duration"),
        ({"noise": float("nan")}, "--noise"),
        ({"wild": 0.6}, "--wild"),
        ({"heartbeat_interval": 0.0}, "--heartbeat-interval"),
        ({"report_interval": -1.0}, "--report-interval"),
        ({"tuple_bytes": 0.0}, "--tuple-bytes"),
        ({"files": 0}, "--files"),
        ({"seed": 2**70}, "--seed"),
        ({"start": "yesterday"}, "--start: 'yesterday' is no time in ISO 8601"),
        ({"start": "1950-01-01"}, "--start: 1950-01-01 is before 1971"),
        ({"format": "csv"}, "--format: 'csv' is none of jsonl, parquet"),
        ({"timestamps": "local"}, "--timestamps"),
    ],
)
def test_mistakes(options: dict[str, Any], line: str) -> None:
    """Each is one line that names the option."""
    with pytest.raises(BadInput) as error:
        SampleOptions(**options)
    assert len(error.value.mistakes) == 1
    assert error.value.mistakes[0].startswith(line)


def test_all_mistakes_at_once() -> None:
    """Nobody has to run the command three times."""
    with pytest.raises(BadInput) as error:
        SampleOptions(records=-1, garbage=2.0, duration=-3.0)
    assert len(error.value.mistakes) == 3


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"records": 20}, "--records: 20 are too few"),
        ({"records": 1000, "heartbeat_interval": 1.0}, "--records: 1,000 are too few"),
        ({"heartbeat_interval": 7200.0}, "--heartbeat-interval: 7200 s is longer than the feed's 3600 s"),
        ({"start": "2999-01-01T00:00:00"}, "--start: 2999-01-01T00:00:00 and 3600 s end in the future"),
        ({"records": 2_900_000_000, "garbage": 0.5}, "--records: 5,7"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], line: str) -> None:
    """What is wrong only together, or for this problem, is said as well."""
    with pytest.raises(BadInput) as error:
        _ = plan_sample(TAG, SampleOptions(**options)).folders
    assert error.value.mistakes[0].startswith(line)


@pytest.mark.parametrize("records", [100, 1000, 10_000, 100_000, None])
def test_records_are_shared_out(records: int | None) -> None:
    """All together are as many as asked for, probes at least half of them."""
    folders = plan_sample(TAG, SampleOptions(records=records, garbage=0.0), now_ms=NOW).folders
    total = sum(folder.records for folder in folders.values())
    assert total == (records or 100_000)
    assert folders["probes"].records >= total / 2


def test_the_feed_ends_now() -> None:
    """Without a start, so that no record is in the future; a start without an offset is UTC."""
    assert plan_sample(TAG, SampleOptions(duration=60), now_ms=NOW).start_ms == NOW - 60_000
    assert plan_sample(TAG, SampleOptions(start="2025-06-15T15:06:40")).start_ms == NOW
    assert plan_sample(TAG, SampleOptions(start="2025-06-15T17:06:40+02:00")).start_ms == NOW


@pytest.mark.parametrize("ticks", [1, 2, 3, 10, 61, 360, 3600])
def test_outages_are_as_long_as_they_should_be(ticks: int) -> None:
    """To the nearest heartbeat, and every spell fits into its period."""
    share = np.linspace(0.0, 1.0, 201)
    outages = outages_of(share, ticks)
    assert np.abs(1 - outages.down / ticks - share).max() <= 0.5 / ticks + 1e-12
    longest = -(-outages.down // outages.periods)
    fits = longest + (outages.periods > 1) <= outages.period_length
    assert np.all(fits | outages.always)
    assert np.all(outages.down[outages.periods > 1] // outages.periods[outages.periods > 1] >= 3)


def test_probes_between_very_many_nodes_are_refused() -> None:
    """Every two of them have a link by their coordinates: nobody could store the probes."""
    nodes = tuple(Node(f"n{number}", coordinates=(float(number),)) for number in range(5_000))
    problem = Problem("large", Network(nodes), (Application("app", (Operator("only"),)),))
    with pytest.raises(BadInput) as found:
        plan_sample(problem, SampleOptions())
    assert found.value.mistakes == (
        "network.nodes: 5,000 are too many: probes go over all links between them",
    )
