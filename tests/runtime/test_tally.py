"""What a run comes to, in memory and in its folder."""

from __future__ import annotations

import json
import os
import random
import statistics
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from berth.files.run_folder import NOW_FILE, alive
from berth.model import BadInput
from berth.runtime import tally as live
from berth.runtime import tally as tally_module
from berth.runtime.measures import BatchMeasures, measured
from berth.runtime.placement import Placement
from berth.runtime.running import Migration
from berth.runtime.tally import Latencies, RunTally, TallyWriter, measured_sizes
from tests.runtime.words import CHAIN, START, batch, chain, chain_reports

TIMES = {1: 40.0, 2: 7.0, 3: 8.0, 4: 100.0, 5: 50.0, 6: 30.0, 7: 20.0, 8: 10.0}


def taken(began: float, ended: float, rows: int = 100) -> BatchMeasures:
    return measured(
        batch(chain_reports(rows), CHAIN, TIMES, began=began, ended=ended, state_bytes={"count": 2048.0}),
        chain(),
    )


def steady(seconds: int = 60, rows: int = 100) -> RunTally:
    """A batch a second, each of which takes 0.8 s; the run began two seconds before."""
    tally = RunTally(chain(), CHAIN, START - 2000)
    for second in range(seconds):
        tally.add(taken(second * 1000 + 200, (second + 1) * 1000, rows))
    return tally


def test_before_the_first_batch() -> None:
    """The plan is known, nothing else; nothing is divided by nothing."""
    tally = RunTally(chain(), CHAIN, START)
    figures = tally.now(START + 5000)
    assert (figures.batches, figures.rows, figures.rows_per_s, figures.seconds) == (0, 0, 0.0, 5.0)
    assert (figures.latency, figures.quiet_seconds) == (None, None)
    assert [each.nodes for each in figures.operators] == [
        ("rome",),
        ("paris", "tokyo"),
        ("tokyo",),
        ("rome",),
    ]
    document = tally.document()
    assert document["latency_ms"] is None
    assert json.dumps(document, allow_nan=False)


def test_sizes_of_tuples(tmp_path: Path) -> None:
    """From the report of a run, also of several applications as one; streams without rows have none."""
    report = steady().document()
    (tmp_path / "report.json").write_text(json.dumps(report))
    first = report["streams"][0]
    key = (report["application"], first["from"], first["to"])
    assert measured_sizes(tmp_path)[key] == first["bytes"] / first["rows"]
    streams = [
        {"from": "a/x", "to": "b/y", "rows": 10, "bytes": 80},
        {"from": "b/y", "to": "b/z", "rows": 0, "bytes": 0},
    ]
    (tmp_path / "report.json").write_text(json.dumps({"application": "a+b", "streams": streams}))
    assert measured_sizes(tmp_path) == {("b", "x", "y"): 8.0}
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(BadInput, match="not the report of a run"):
        measured_sizes(tmp_path)


def test_rates_of_now() -> None:
    """Rows, bytes and busy time of a steady minute."""
    figures = steady().now(START + 60_300)
    posts, tag, count, store = figures.operators
    assert figures.rows_per_s == pytest.approx(100)
    assert [each.rows_per_s for each in figures.operators] == pytest.approx([100, 100, 250, 40])
    assert [each.busy_share for each in figures.operators] == pytest.approx([0.055, 0.15, 0.05, 0.01])
    assert (posts.rows_in, tag.rows_out, store.rows_in) == (6000, 15_000, 2400)
    assert (tag.ms_per_row, store.ms_per_row) == (pytest.approx(1.5), pytest.approx(0.25))
    assert (count.state_bytes, posts.state_bytes) == (2048.0, None)
    assert [each.rows_per_s for each in figures.streams] == pytest.approx([100, 250, 40])
    assert [each.bytes_per_s for each in figures.streams] == pytest.approx([10_000, 2_500, 400])
    assert figures.quiet_seconds == pytest.approx(0.3)


def test_now_forgets_what_was_before() -> None:
    """A change of rates shows within half a minute; the totals remember."""
    tally = steady(120, rows=100)
    for second in range(120, 160):
        tally.add(taken(second * 1000, (second + 1) * 1000, rows=1000))
    assert tally.now(START + 160_000).rows_per_s == pytest.approx(1000)
    assert tally.overall().rows_per_s == pytest.approx(52_000 / 159.8)


def test_rates_fall_when_nothing_comes() -> None:
    """Not while the next batch may be under way, but then."""
    tally = steady()
    assert tally.now(START + 69_000).rows_per_s == pytest.approx(100)
    assert tally.now(START + 75_000).rows_per_s == pytest.approx(50)
    assert tally.now(START + 200_000).rows_per_s == 0


def test_long_batches_are_waited_for() -> None:
    """A batch of a minute is no silence."""
    tally = RunTally(chain(), CHAIN, START)
    for minute in range(3):
        tally.add(taken(minute * 60_000, (minute + 1) * 60_000, rows=6000))
    assert tally.now(START + 239_000).rows_per_s == pytest.approx(100)


def test_a_clock_that_was_set_back() -> None:
    """Rates stay numbers."""
    tally = steady(5)
    tally.add(taken(1000, 1500))
    tally.add(taken(1500, 1500))
    assert tally.now(START + 1500).rows_per_s > 0
    assert tally.overall().rows_per_s == pytest.approx(700 / 5.301)


def test_memory_is_bounded() -> None:
    """Of many batches the newest are kept, of many migrations, too; the counts know all."""
    tally = RunTally(chain(), CHAIN, START)
    measures = taken(0, 1000)
    for number in range(3000):
        tally.add(
            replace(
                measures, began_ms=START + number * 1000, ended_ms=START + number * 1000 + 500 + number % 400
            )
        )
        tally.migrated({"moved": {}, "pause_seconds": float(number), "state_bytes": 0})
    assert len(tally._recent) == tally_module.MOST_RECENT
    assert len(tally._latencies._counts) < 100
    document = tally.document()
    assert (document["batches"], document["migrated"]) == (3000, 3000)
    assert len(document["migrations"]) == tally_module.MOST_MIGRATIONS
    assert document["migrations"][-1]["pause_seconds"] == 2999.0


@pytest.mark.parametrize("seed", range(3))
def test_percentiles_against_all_values(seed: int) -> None:
    """Buckets are right to two per cent."""
    chance = random.Random(seed)
    values = [chance.lognormvariate(6, 1) for _ in range(5000)]
    latencies = Latencies()
    for value in values:
        latencies.add(value)
    exact = statistics.quantiles(values, n=100)
    assert latencies.at(0.5) == pytest.approx(exact[49], rel=0.02)
    assert latencies.at(0.95) == pytest.approx(exact[94], rel=0.02)
    assert (latencies.longest, latencies.last) == (max(values), values[-1])
    assert latencies.at(1.0) == pytest.approx(max(values), rel=0.02)


def test_percentiles_of_few() -> None:
    """One value is all percentiles; none is 0; a time of 0 is a time."""
    latencies = Latencies()
    assert latencies.at(0.5) == 0
    latencies.add(123.4)
    assert (latencies.at(0.5), latencies.at(0.95)) == (123.4, 123.4)
    latencies.add(0.0)
    assert latencies.at(0.5) == pytest.approx(0, abs=0.02)


def test_the_report() -> None:
    """Everything that somebody may want to know of a run, as JSON."""
    tally = steady(10)
    moved = Placement(CHAIN.application, {**CHAIN.nodes, "count": ("paris",)})
    words = [
        replace(each, node="paris", planned="paris") if each.operator == "count" else each
        for each in chain_reports()
    ]
    tally.add(measured(batch(words, moved, TIMES, began=12_000, ended=13_000), chain()))
    tally.migrated(asdict(Migration({"count": ("tokyo", "paris")}, 1.75, 2048.0)))
    tally.end(START + 14_000)
    document = json.loads(json.dumps(tally.document(), allow_nan=False))
    assert document["application"] == "tag-and-count"
    assert (document["started"], document["ended"]) == (
        "2025-06-15T15:06:38.000+00:00",
        "2025-06-15T15:06:54.000+00:00",
    )
    assert (document["seconds"], document["batches"], document["rows"]) == (16.0, 11, 1100)
    assert document["rows_per_s"] == pytest.approx(1100 / 12.8, abs=1e-3)
    assert document["latency_ms"] == {"p50": 800.0, "p95": 1000.0, "max": 1000.0}
    assert document["plan"] == {
        "tag-and-count/posts": "rome",
        "tag-and-count/tag#0": "paris",
        "tag-and-count/tag#1": "tokyo",
        "tag-and-count/count": "paris",
        "tag-and-count/store": "rome",
    }
    assert document["placement"] == {"verified_tasks": 88, "differences": []}
    count = document["operators"][2]
    assert (count["nodes"], count["rows_in"], count["rows_out"]) == (["paris"], 2750, 440)
    assert count["state_bytes"] == 2048.0
    # where it ran before is not forgotten
    assert [(each["node"], each["rows_in"]) for each in count["instances"]] == [
        ("paris", 250),
        ("tokyo", 2500),
    ]
    assert document["streams"][0]["bytes"] == 110_000
    assert document["streams"][0]["bytes_per_s"] == pytest.approx(110_000 / 12.8, abs=1e-3)
    assert document["migrations"] == [
        {"moved": {"count": {"from": "tokyo", "to": "paris"}}, "pause_seconds": 1.75, "state_bytes": 2048.0}
    ]


def test_differences_are_in_the_report() -> None:
    """Each with both nodes; of very many the first."""
    words = [replace(each, node="oslo") for each in chain_reports() if each.operator == "store"]
    tally = RunTally(chain(), CHAIN, START)
    for number in range(150):
        tally.add(measured(batch(words, CHAIN, number=number), chain()))
    differences = tally.document()["placement"]["differences"]
    assert differences[0] == "batch 0: store ran on oslo, planned on rome"
    assert len(differences) == tally_module.MOST_DIFFERENCES


def test_asked_while_batches_come() -> None:
    """The view reads while the run writes: no sums are torn."""
    tally = RunTally(chain(), CHAIN, START)
    torn: list[str] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            figures = tally.now(START)
            if figures.rows != 100 * figures.batches or figures.operators[0].rows_in != figures.rows:
                torn.append(f"{figures.rows} rows in {figures.batches} batches")
            tally.document()

    watcher = threading.Thread(target=look)
    watcher.start()
    measures = taken(0, 1000)
    for number in range(500):
        tally.add(replace(measures, ended_ms=measures.ended_ms + number * 1000))
    done.set()
    watcher.join()
    assert torn == []


def test_how_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the view, with the keys of the report; not more often than once a second."""
    clock = [10.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    tally = RunTally(chain(), CHAIN, START)
    writer = TallyWriter(tally, tmp_path)
    writer.add(taken(1000, 2000))
    now = json.loads((tmp_path / NOW_FILE).read_text())
    report = tally.document()
    assert (now["batches"], now["rows"], now["plan"]) == (1, report["rows"], report["plan"])
    assert now["operators"][0].keys() == report["operators"][0].keys() - {"instances"}
    assert now["latency_ms"].keys() == report["latency_ms"].keys() | {"last"}
    assert now["process"]["pid"] == os.getpid()
    clock[0] += 0.5
    writer.add(taken(2000, 3000))
    assert json.loads((tmp_path / NOW_FILE).read_text())["batches"] == 1
    clock[0] += 0.5
    writer.add(taken(3000, 4000))
    assert json.loads((tmp_path / NOW_FILE).read_text())["batches"] == 3


def test_a_folder_that_can_not_be_written_ends_no_run(tmp_path: Path) -> None:
    """The batches count all the same."""
    tally = RunTally(chain(), CHAIN, START)
    TallyWriter(tally, tmp_path / "gone").add(taken(1000, 2000))
    assert tally.document()["batches"] == 1


@pytest.mark.parametrize(
    ("process", "there"),
    [
        (None, False),
        ({"pid": "1"}, False),
        ({"pid": 2**22 + 1}, True),
        ({"pid": 1, "host": "another.machine"}, True),
    ],
)
def test_who_is_still_there(process: object, there: bool) -> None:
    """As far as can be seen from here."""
    assert alive(process) is there
    assert alive({"pid": os.getpid(), "host": os.uname().nodename})
    assert not alive({"pid": 2**22 + 1, "host": os.uname().nodename})
