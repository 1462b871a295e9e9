"""`berth run` with applications that make it hard, on a cluster of three nodes: every row is counted.

What comes out is compared with the same computed in plain Python; where a row was computed, it says itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from berth.files import problem_from
from berth.runtime.application import described
from berth.runtime.cluster.access import stop_cluster
from berth.runtime.cluster.nodes import Cluster
from berth.runtime.cluster.starting import start_cluster
from berth.runtime.loading import load_application
from tests.runtime.cluster.small import processes_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

APPLICATIONS = Path(__file__).parent / "applications"
NODES = ROME, PARIS, TOKYO = "rome", "paris-1.eu", "tokyo_2"
NETWORK = {
    "nodes": [{"name": name, "capacity": {"cpu": 2}} for name in NODES],
    "delay_ms": [[0, 5, 9], [5, 0, 7], [9, 7, 0]],
}
NOON = 1_700_000_000
PATIENCE = 300
Homes = dict[str, str | list[str]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One for all tests; at the end no process of it, or of what ran on it, is left."""
    home = tmp_path_factory.mktemp("home")
    application = {"name": "none", "operators": [{"name": "none"}], "streams": []}
    document = {"format": "berth/v1", "name": "hard", "network": NETWORK, "applications": [application]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTH_HOME", str(home))
        started = start_cluster(problem_from(document))
        yield started
        stop_cluster(started)
        assert [process.pid for process in processes_of(home) if process.pid != os.getpid()] == []


class Bench:
    """An application with its folder: what goes in, how it is run, what comes out."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.file = APPLICATIONS / f"{name}.py"
        self.started: list[subprocess.Popen[str]] = []
        self.application = load_application(str(self.file))
        document = {
            "format": "berth/v1",
            "name": "hard",
            "network": NETWORK,
            "applications": [described(self.application)],
        }
        (folder / "problem.json").write_text(json.dumps(document))

    def put(self, rows: list[dict[str, Any]], part: int = 0) -> None:
        """A file with rows, there all at once."""
        place = self.folder / f"in{part}"
        place.mkdir(exist_ok=True)
        number = len(list(place.iterdir()))
        name = f"{number:04}.json"
        aside = place / f".{name}"
        aside.write_text("".join(json.dumps(row) + "\n" for row in rows))
        # Spark reads files in the order of their times, which may be the same for files of one moment
        written = time.time() - 1000 + number
        os.utime(aside, (written, written))
        aside.rename(place / name)

    def start(self, homes: Homes, *options: str, pause: str = "") -> subprocess.Popen[str]:
        """`berth run`: what `homes` doesn't say is in Rome."""
        nodes = {name: homes.get(name, ROME) for name in self.application.operators}
        several = {name: home for name, home in nodes.items() if isinstance(home, list)}
        assignment = {f"{self.name}/{name}": home for name, home in nodes.items() if name not in several}
        for name, places in several.items():
            assignment |= {f"{self.name}/{name}#{number}": home for number, home in enumerate(places)}
        plan = {"format": "berth-plan/v1", "problem": "hard", "assignment": assignment}
        (self.folder / "plan.json").write_text(json.dumps(plan))
        files = ["--problem", str(self.folder / "problem.json"), "--plan", str(self.folder / "plan.json")]
        command = [sys.executable, "-m", "berth.cli.entry", "run", str(self.file), *files, *options, "--json"]
        process = subprocess.Popen(
            [*command, "--out", str(self.folder / "run")],
            env=os.environ | {"BERTH_TEST_PAUSE": pause},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, homes: Homes, *options: str) -> dict[str, Any]:
        """All that is there; gives the report. Every task ran where it was planned."""
        process = self.start(homes, "--once", *options)
        printed, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
        report: dict[str, Any] = json.loads(printed)
        assert report["placement"]["differences"] == []
        ran = {each["operator"]: set(each["nodes"]) for each in report["operators"]}
        for name, home in homes.items():
            assert ran[name] == ({home} if isinstance(home, str) else set(home)), name
        return report

    def end(self, process: subprocess.Popen[str], number: int) -> tuple[int, str]:
        """Send a signal where the application pauses; all that the command has started ends with it."""
        deadline = time.monotonic() + PATIENCE
        while not (self.folder / "pausing").exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (self.folder / "pausing").unlink()
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        _, alive = psutil.wait_procs(children, timeout=30)
        assert alive == []
        return process.returncode, said

    def close(self) -> None:
        """Whatever a test that failed has left running must not stand in the way of the next one."""
        for process in self.started:
            process.kill()
            process.communicate()

    def rows(self, sink: str) -> list[dict[str, Any]]:
        """What a sink has written, batch after batch."""
        batches = sorted((self.folder / sink).glob("batch=*"), key=lambda path: int(path.name[6:]))
        files = [file for batch in batches for file in sorted(batch.glob("*.json"))]
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def bench(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    """The application that a test asks for by its mark, in a folder of its own."""
    monkeypatch.setenv("BERTH_TEST_FOLDER", str(tmp_path))
    made = Bench(request.param, tmp_path)
    yield made
    made.close()


# an odd application, moved about


def at(number: int) -> str:
    return datetime.fromtimestamp(NOON + number, UTC).isoformat()


def some_rows(first: int, last: int) -> list[dict[str, Any]]:
    """A row a second; every fifth id comes twice."""
    numbers = [number for number in range(first, last) for _ in range(2 if number % 5 == 0 else 1)]
    return [{"id": number, "word": f"w{number % 7}", "at": at(number)} for number in numbers]


def check_harvest(bench: Bench, written: list[dict[str, Any]]) -> None:
    """All sinks, against what was written."""
    times = Counter(row["id"] for row in written)
    stored = bench.rows("store")
    assert Counter((row["id"], row["side"]) for row in stored) == Counter(
        {(number, side): count for number, count in times.items() for side in ("left", "right")}
    )
    named = bench.rows("named")
    assert Counter(row["the.id"] for row in named) == times
    # drawn once for a row, whoever takes it and however often a sink reads it
    assert {row["drawn"] for row in stored} == {row["drawn"] for row in named}
    assert len({row["drawn"] for row in named}) == len(written)
    assert sorted(row["id"] for row in bench.rows("unique")) == sorted(times)
    # a window comes out once, when nothing can be added to it any more
    latest = max(times) - 5
    expected: Counter[tuple[int, str]] = Counter()
    for row in written:
        began = (NOON + row["id"]) // 10 * 10
        if began + 10 <= NOON + latest:
            expected[began, row["word"]] += 1
    windows = bench.rows("board0") + bench.rows("board1")
    assert len(windows) == len(expected)
    assert {(row["began"], row["word"]): row["count"] for row in windows} == expected


SPREAD: Homes = {
    "rows": [ROME, TOKYO],
    "named": PARIS,
    "left": [ROME, TOKYO],
    "right": [TOKYO, PARIS, TOKYO],
    "both": PARIS,
    "unique": [PARIS, ROME],
    "timed": ROME,
    "windows": [TOKYO, PARIS],
    "store": PARIS,
    "ledger": TOKYO,
    "board": [ROME, TOKYO],
    "silent": ROME,
}
TOGETHER: Homes = {
    name: [TOKYO] * len(home) if isinstance(home, list) else TOKYO for name, home in SPREAD.items()
}


@pytest.mark.parametrize("bench", ["harvest"], indirect=True)
def test_an_odd_application_is_spread_put_together_and_spread_again(bench: Bench) -> None:
    """State moves with its instances from three nodes to one and back; no row is lost, none comes twice."""
    written: list[dict[str, Any]] = []
    for first, homes in ((0, SPREAD), (40, TOGETHER), (60, SPREAD)):
        new = some_rows(first, first + 40 if first == 0 else first + 20)
        bench.put(new[::2], part=0)
        bench.put(new[1::2], part=1)
        written += new
        report = bench.run(homes)
        assert report["rows"] == len(new)
        check_harvest(bench, written)
    nodes = {(row["side"], row["node"]) for row in bench.rows("store")}
    assert nodes == {("left", ROME), ("left", TOKYO), ("right", TOKYO), ("right", PARIS)}
    assert {row["node"] for row in bench.rows("board0") + bench.rows("board1")} == {TOKYO, PARIS}


# tables


@pytest.mark.parametrize("bench", ["orders"], indirect=True)
def test_tables_on_a_cluster_by_its_address(bench: Bench, cluster: Cluster) -> None:
    """One batch, on a cluster that only its URL is known of; again, and the same comes out."""
    homes: Homes = {
        **{"customers": TOKYO, "last": PARIS, "joined": TOKYO, "distinct": PARIS, "known": TOKYO},
        **{"grouped": [PARIS, TOKYO], "sorted_orders": PARIS, "store": TOKYO},
    }
    report = bench.run(homes, "--master", cluster.master_url)
    assert report["batches"] == 1
    assert report["rows"] == 110
    orders = bench.rows("sorted")
    assert [(row["id"], row["customer"]) for row in orders] == [(n, n % 10) for n in range(99, 79, -1)]
    assert bench.rows("distinct") == [{"customers": 10, "orders": 20}]
    grouped = bench.rows("grouped")
    assert {(row["kind"], row["size"]) for row in grouped} == {("even", 10), ("odd", 10)}
    assert {row["node"] for row in grouped} <= {PARIS, TOKYO}


# what is ended in the middle


def check_ledger(bench: Bench, rows: int) -> None:
    """Both sinks have every row once."""
    assert sorted(row["id"] for row in bench.rows("copy")) == list(range(rows))
    expected = {f"w{word}": list(range(word, rows, 7)) for word in range(7)}
    latest = {row["word"]: (row["times"], row["total"]) for row in bench.rows("counts")}
    assert latest == {word: (len(ids), sum(ids)) for word, ids in expected.items()}


@pytest.mark.parametrize("bench", ["ledger"], indirect=True)
def test_ended_in_the_middle_it_goes_on_elsewhere(bench: Bench) -> None:
    """Killed between its two sinks, then told to end in the middle of a batch; the third time it is done.

    The state of the batch that was killed has been written, and so has the first sink: neither counts twice.
    """
    for first in (0, 10, 20):
        bench.put([{"id": number, "word": f"w{number % 7}"} for number in range(first, first + 10)])
    spread: Homes = {"slow": [PARIS, TOKYO], "counted": [ROME, TOKYO], "counts": TOKYO, "copy": PARIS}
    killed = bench.start(spread, pause="copy")
    assert bench.end(killed, signal.SIGKILL)[0] == -signal.SIGKILL
    assert len(bench.rows("copy")) == 10
    moved: Homes = {"slow": [TOKYO, ROME], "counted": [PARIS, PARIS], "counts": ROME, "copy": TOKYO}
    told = bench.start(moved, pause="slow")
    code, said = bench.end(told, signal.SIGTERM)
    assert code == 0, said
    assert "Traceback" not in said
    assert len(bench.rows("copy")) == 20
    bench.run(spread)
    check_ledger(bench, 30)


@pytest.mark.parametrize("bench", ["ledger"], indirect=True)
def test_a_checkpoint_belongs_to_its_application(bench: Bench) -> None:
    """Another one is refused, before it reads or writes anything there."""
    out = bench.folder / "run"
    (out / "checkpoint").mkdir(parents=True)
    before = {"application": "other", "parallelism": {}, "streams": [], "stateful": []}
    (out / "run.json").write_text(json.dumps(before))
    bench.put([{"id": 1, "word": "w1"}])
    process = bench.start({"slow": [ROME, ROME], "counted": [ROME, ROME]}, "--once")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith(f"{out}: its checkpoint is from a run with other ")
    assert list((out / "checkpoint").iterdir()) == []
    assert json.loads((out / "run.json").read_text()) == before
