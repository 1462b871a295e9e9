"""What a run writes of itself: whole files, and rates that add up."""

from __future__ import annotations

import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from berth.model import BadInput
from berth.pipeline.ingest import IngestOptions, ingest
from berth.runtime import feeds as module
from berth.runtime.application import Application
from berth.runtime.feeds import Feeds, heartbeat_record, probe_record
from berth.runtime.measures import BatchMeasures, measured
from berth.spark import SparkSession
from tests.runtime.words import CHAIN, START, batch, chain, chain_reports

TIMES = {1: 40.0, 2: 7.0, 3: 8.0, 4: 100.0, 5: 50.0, 6: 30.0, 7: 20.0, 8: 10.0}


class Clock:
    """A clock that stands until it is told the time."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(began: float, ended: float, rows: int = 100) -> BatchMeasures:
    return measured(batch(chain_reports(rows), CHAIN, TIMES, began=began, ended=ended), chain())


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    files = sorted(file for file in (folder / name).iterdir())
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def rate(folder: Path, sender: str = "posts") -> float:
    """Rows a second, as ingest computes it."""
    of_stream = [each for each in records(folder, "streams") if each["from"] == sender]
    return sum(each["tuples"] for each in of_stream) / sum(each["window_ms"] for each in of_stream) * 1000


def test_operators_and_streams(tmp_path: Path) -> None:
    """A record for every instance and every stream, with the fields of the contract and no others."""
    with Feeds(tmp_path, Application("tag-and-count")) as feeds:
        feeds.batch(taken(0, 2000))
    common = {"ts": START + 2000, "application": "tag-and-count"}
    operators = records(tmp_path, "operators")
    assert operators[1:3] == [
        {**common, "operator": "tag", "instance": "tag#0", "node": "paris", "tuples": 75, "busy_ms": 100.0},
        {**common, "operator": "tag", "instance": "tag#1", "node": "tokyo", "tuples": 25, "busy_ms": 50.0},
    ]
    assert [(each["instance"], each["tuples"]) for each in operators[::2]] == [
        ("posts", 100),
        ("tag#1", 25),
        ("store", 40),
    ]
    assert records(tmp_path, "streams") == [
        {**common, "from": "posts", "to": "tag", "tuples": 100, "bytes": 10_000, "window_ms": 2000.0},
        {**common, "from": "tag", "to": "count", "tuples": 250, "bytes": 2_500, "window_ms": 2000.0},
        {**common, "from": "count", "to": "store", "tuples": 40, "bytes": 400, "window_ms": 2000.0},
    ]


def test_probes_and_heartbeats(tmp_path: Path) -> None:
    """As the contract has them; a node that is away has figures, too, because every field is needed."""
    with Feeds(tmp_path, Application("app")) as feeds:
        feeds.add("probes", [probe_record(START + 0.4, "rome", "paris", 21.5)])
        feeds.add(
            "heartbeats",
            [heartbeat_record(START, "rome", True, 1.5, 7.25), heartbeat_record(START, "paris", False)],
        )
    assert records(tmp_path, "probes") == [{"ts": START, "from": "rome", "to": "paris", "rtt_ms": 21.5}]
    assert records(tmp_path, "heartbeats") == [
        {"ts": START, "node": "rome", "up": True, "run_queue": 1.5, "mips": 7.25},
        {"ts": START, "node": "paris", "up": False, "run_queue": 0.0, "mips": 0.0},
    ]


def test_every_moment_counts_once(tmp_path: Path) -> None:
    """A batch a second that takes 0.6 s stands for a second: 100 rows each are 100 rows a second."""
    with Feeds(tmp_path, Application("app")) as feeds:
        for second in range(10):
            feeds.batch(taken(second * 1000, second * 1000 + 600))
    windows = [each["window_ms"] for each in records(tmp_path, "streams") if each["from"] == "posts"]
    assert windows == [600.0] + [1000.0] * 9


def test_rows_behind_a_pause_came_in_it(tmp_path: Path) -> None:
    """Executors that take 20 s to start, or a migration: what piled up is no burst."""
    with Feeds(tmp_path, Application("app")) as feeds:
        feeds.batch(taken(0, 20_000, rows=4))
        feeds.batch(taken(20_000, 21_000, rows=2000))
        feeds.batch(taken(30_000, 31_000, rows=1000))
    assert rate(tmp_path) == pytest.approx(3004 / 31)


def test_an_idle_minute_is_a_minute(tmp_path: Path) -> None:
    """Whether a batch comes after it or none: the rate falls while nothing flows."""
    later, never = tmp_path / "later", tmp_path / "never"
    with Feeds(later, Application("app")) as feeds:
        feeds.batch(taken(0, 1000, rows=600))
        feeds.batch(taken(61_000, 61_500, rows=15))
    with Feeds(never, Application("app")) as feeds:
        feeds.batch(taken(0, 1000, rows=615))
        for second in range(2, 62):
            feeds.idle(START + second * 1000)
        feeds.idle(START + 61_500)
    assert rate(later) == pytest.approx(10)
    # the last 0.5 s are too short to be put down
    assert rate(never) == pytest.approx(615 / 61)
    empty = [each for each in records(never, "streams") if each["tuples"] == 0]
    assert {each["window_ms"] for each in empty} == {10_000.0}


def test_idle_and_then_a_batch(tmp_path: Path) -> None:
    """What was put down as empty doesn't count again."""
    with Feeds(tmp_path, Application("app")) as feeds:
        feeds.idle(START)  # before the first batch nothing is known of the streams
        feeds.batch(taken(0, 1000))
        feeds.idle(START + 16_000)
        feeds.batch(taken(18_000, 19_000))
    windows = [each["window_ms"] for each in records(tmp_path, "streams") if each["from"] == "posts"]
    assert windows == [1000.0, 15_000.0, 3000.0]


def test_a_clock_that_was_set_back(tmp_path: Path) -> None:
    """No window is negative or zero: such records would be put aside."""
    with Feeds(tmp_path, Application("app")) as feeds:
        feeds.batch(taken(50_000, 51_000))
        feeds.batch(taken(1000, 1500))
        feeds.batch(taken(1500, 1500))
    windows = [each["window_ms"] for each in records(tmp_path, "streams") if each["from"] == "posts"]
    assert windows == [1000.0, 500.0, 1.0]


def test_files_get_rarer(tmp_path: Path) -> None:
    """A young run is seen at once; an old one writes a file a minute."""
    clock = Clock()
    feeds = Feeds(tmp_path, Application("app"), clock=clock)
    written = []
    for second in range(600):
        clock.now = float(second)
        before = len(list((tmp_path / "streams").iterdir()))
        feeds.batch(taken(second * 1000, second * 1000 + 500))
        if len(list((tmp_path / "streams").iterdir())) > before:
            written.append(second)
    assert written[:7] == [0, 1, 3, 7, 15, 31, 63]
    assert {later - sooner for sooner, later in pairwise(written[6:])} == {60}
    feeds.flush()
    assert len(records(tmp_path, "streams")) == 600 * 3


def test_many_records_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by the number of records, not by the minute."""
    monkeypatch.setattr(module, "MOST_RECORDS", 20)
    clock = Clock()
    feeds = Feeds(tmp_path, Application("app"), clock=clock)
    feeds.batch(taken(0, 1000))
    feeds.batch(taken(1000, 2000))
    feeds.batch(taken(2000, 3000))
    assert len(records(tmp_path, "streams")) == 3
    feeds.batch(taken(3000, 4000))
    assert len(records(tmp_path, "streams")) == 12


def test_flush_is_for_a_reader_who_comes_now(tmp_path: Path) -> None:
    """All that was measured is there, whatever the clock says."""
    feeds = Feeds(tmp_path, Application("app"), clock=Clock())
    for second in range(3):
        feeds.batch(taken(second * 1000, second * 1000 + 500))
    assert len(records(tmp_path, "streams")) == 3
    feeds.flush()
    assert len(records(tmp_path, "streams")) == 9
    before = sorted(tmp_path.rglob("*"))
    feeds.flush()
    assert sorted(tmp_path.rglob("*")) == before


def test_names_sort_by_time_and_never_come_twice(tmp_path: Path) -> None:
    """Two runs at the same moment, or one after the other, write files of their own."""
    runs = [Feeds(tmp_path, Application("app")) for _ in range(3)]
    for number in range(20):
        for feeds in runs:
            feeds.add("probes", [probe_record(START + number, "a", "b", 1.0)])
            feeds.flush()
    files = sorted((tmp_path / "probes").iterdir())
    assert len(files) == 60
    assert not any(set(file.name) & set(":\\") or file.name.startswith((".", "_")) for file in files)
    # Spark can't read a colon; and the order of one run's names is that of its records
    for feeds in runs:
        own = [json.loads(file.read_text())["ts"] for file in files if feeds._mark in file.name]
        assert own == sorted(own)


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    """A reader that looks all the time finds only whole lines in files that count."""
    feeds = Feeds(tmp_path, Application("app"))
    done = threading.Event()
    broken: list[str] = []

    def read() -> None:
        while not done.is_set():
            for file in (tmp_path / "probes").iterdir():
                if not file.name.startswith("."):
                    text = file.read_text()
                    if not text.endswith("}\n") or text.count("\n") != 500:
                        broken.append(file.name)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(100):
        feeds.add("probes", [probe_record(START, "a" * 100, "b" * 100, 1.0)] * 500)
        feeds.flush()
    done.set()
    reader.join()
    assert broken == []
    assert len(list((tmp_path / "probes").iterdir())) == 100


def test_threads_lose_nothing(tmp_path: Path) -> None:
    """The prober and the run write at the same time."""
    feeds = Feeds(tmp_path, Application("app"))

    def probe() -> None:
        for number in range(300):
            feeds.add("probes", [probe_record(START + number, "a", "b", 1.0)])
            feeds.flush()

    threads = [threading.Thread(target=probe) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(records(tmp_path, "probes")) == 1200


def test_what_cannot_be_written_waits(tmp_path: Path) -> None:
    """A folder that is gone is an error with a name; once it is back, nothing is missing."""
    feeds = Feeds(tmp_path, Application("app"), clock=Clock())
    (tmp_path / "probes").rmdir()
    with pytest.raises(BadInput, match="probes"):
        feeds.add("probes", [probe_record(START, "a", "b", 1.0)])
    (tmp_path / "probes").mkdir()
    feeds.flush()
    assert len(records(tmp_path, "probes")) == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A file in its place is told at once, not with the first batch."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="can't be made"):
        Feeds(tmp_path / "file" / "telemetry", Application("app"))


def test_ingest_reads_it_all(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing is put aside, and the problem gets the rates, the work and the availability that were there."""
    telemetry, problem = tmp_path / "telemetry", tmp_path / "problem.json"
    nodes = [{"name": name} for name in ("rome", "paris", "tokyo")]
    links = [{"from": "rome", "to": "paris", "delay_ms": 1}, {"from": "paris", "to": "tokyo", "delay_ms": 1}]
    application = {
        "name": "tag-and-count",
        "operators": [{"name": name} for name in chain().operators],
        "streams": [{"from": sender, "to": receiver} for sender, receiver in chain().streams],
    }
    application["operators"][1]["parallelism"] = 2  # type: ignore[index]
    network = {"nodes": nodes, "links": links}
    document = {"format": "berth/v1", "name": "run", "network": network, "applications": [application]}
    problem.write_text(json.dumps(document))
    with Feeds(telemetry, Application("tag-and-count")) as feeds:
        for second in range(0, 40):
            feeds.batch(taken(second * 1000, second * 1000 + 700))
        for second in range(0, 101, 5):
            now = START + second * 1000
            feeds.idle(now)
            feeds.add(
                "probes",
                [probe_record(now, "rome", "paris", 24.0), probe_record(now, "paris", "tokyo", 40.0)],
            )
            feeds.add(
                "heartbeats",
                [
                    heartbeat_record(now, "rome", True, 1.0, 12.5),
                    heartbeat_record(now, "paris", True, 3.0, 12.5),
                ],
            )
            dead = heartbeat_record(now, "tokyo", False)
            feeds.add(
                "heartbeats", [dead if second >= 75 else heartbeat_record(now, "tokyo", True, 0.0, 12.5)]
            )
    summary = ingest(spark, telemetry, problem, tmp_path / "measured", IngestOptions())
    assert summary.counts.quarantined == {}
    measured_problem = json.loads((tmp_path / "measured" / "problem.json").read_text())
    # 40 batches of 10,000 bytes in 100 s, the last minute of it idle
    streams = {each["from"]: each["bytes_per_s"] for each in measured_problem["applications"][0]["streams"]}
    assert streams == pytest.approx({"posts": 4000, "tag": 1000, "count": 160}, rel=0.02)
    work = {each["name"]: each["work_ms"] for each in measured_problem["applications"][0]["operators"]}
    assert work == pytest.approx({"posts": 0.55, "tag": 1.5, "count": 0.2, "store": 0.25}, rel=1e-3)
    measured_nodes = {each["name"]: each for each in measured_problem["network"]["nodes"]}
    assert {name: each["availability"] for name, each in measured_nodes.items()} == pytest.approx(
        {"rome": 1.0, "paris": 1.0, "tokyo": 0.75}
    )
    assert {name: (each["speed"], each["run_queue"]) for name, each in measured_nodes.items()} == {
        "rome": (1.0, 1.0),
        "paris": (1.0, 3.0),
        "tokyo": (1.0, 0.0),
    }
    delays = {each["from"]: each["delay_ms"] for each in measured_problem["network"]["links"]}
    assert delays == pytest.approx({"rome": 12.0, "paris": 20.0})
    assert summary.changes.unmeasured == {}
