"""An application of three nodes whose rows say where they were, its cluster, and what has to come out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
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

APPLICATION = Path(__file__).parent / "applications" / "sites.py"
NODES = ("rome", "paris", "tokyo")
ONE = {
    **dict.fromkeys(["readings", "nodes"], "rome"),
    **{"places": "paris", "stamped#0": "paris", "stamped#1": "tokyo", "even": "rome", "odd": "tokyo"},
    **{"both": "paris", "counted#0": "rome", "counted#1": "tokyo", "by_place": "paris", "counts": "rome"},
}
OTHER = ONE | {"stamped#0": "rome", "stamped#1": "rome", "counted#0": "paris", "counted#1": "paris"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of our own for clusters."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTH_HOME", str(folder))
        patch.setenv("BERTH_TEST_FOLDER", str(folder))
        yield folder


@pytest.fixture(scope="module")
def problem(home: Path) -> Path:
    """Three nodes, and the application."""
    nodes = [{"name": name, "capacity": {"cpu": 2}} for name in NODES]
    document = {
        "format": "berth/v1",
        "name": "three",
        "network": {"nodes": nodes, "delay_ms": [[0, 5, 9], [5, 0, 7], [9, 7, 0]]},
        "applications": [described(load_application(str(APPLICATION)))],
    }
    (home / "problem.json").write_text(json.dumps(document))
    return home / "problem.json"


@pytest.fixture(scope="module")
def cluster(home: Path, problem: Path) -> Iterator[Cluster]:
    """One cluster for all tests; nothing of it is left."""
    cluster = start_cluster(problem_from(json.loads(problem.read_text())))
    yield cluster
    stop_cluster(cluster)
    assert [each.pid for each in psutil.process_iter() if is_ours(each)] == []


class Sites:
    """The application's folder: what goes in, what comes out."""

    def __init__(self, folder: Path, problem: Path) -> None:
        self.folder = folder
        self.problem = problem
        self.written: list[tuple[str, int]] = []
        (folder / "in").mkdir()

    def put(self, rows: int) -> None:
        """A new file with so many rows."""
        first = len(self.written)
        new = [(f"s{number % 5}", number) for number in range(first, first + rows)]
        self.written += new
        aside = self.folder / "in" / f".{first}"
        aside.write_text("".join(json.dumps({"sensor": s, "value": v}) + "\n" for s, v in new))
        aside.rename(self.folder / "in" / f"{first:06}.json")

    def start(
        self, homes: dict[str, str], *options: str, bad: str = "", command: str = "run"
    ) -> subprocess.Popen[str]:
        """`berth run`, or another command, by a plan."""
        plan = self.folder / "plan.json"
        assignment = {f"sites/{name}": node for name, node in homes.items()}
        plan.write_text(json.dumps({"format": "berth-plan/v1", "problem": "three", "assignment": assignment}))
        words = [sys.executable, "-m", "berth.cli.entry", command, str(APPLICATION)]
        words += ["--json"] if command == "run" else []
        words += ["--problem", str(self.problem), "--plan", str(plan), "--out", str(self.folder / "run")]
        return subprocess.Popen(
            [*words, *options],
            env=os.environ | {"BERTH_TEST_FOLDER": str(self.folder), "BERTH_TEST_BAD": bad},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, homes: dict[str, str], bad: str = "", code: int = 0) -> tuple[dict[str, Any], str]:
        """All that is there; gives the report and what was said besides."""
        process = self.start(homes, "--once", bad=bad)
        printed, said = process.communicate(timeout=300)
        assert process.returncode == code, said
        return json.loads(printed), said

    def check(self) -> None:
        """The counts are those of the rows that were written, each once."""
        times = Counter(sensor for sensor, _ in self.written)
        totals: Counter[str] = Counter()
        for sensor, value in self.written:
            totals[sensor] += value
        found = {row["sensor"]: row for row in self.rows("counts")}
        assert {name: row["times"] for name, row in found.items()} == dict(times)
        assert {name: row["total"] for name, row in found.items()} == dict(totals)
        assert all(row["place"] == f"p{int(name[1:]) % 2}" for name, row in found.items())
        assert sum(row["count"] for row in self.rows("nodes")) == len(self.written)

    def rows(self, sink: str) -> list[dict[str, Any]]:
        """What a sink has written, batch after batch."""
        batches = sorted((self.folder / sink).glob("batch=*"), key=lambda path: int(path.name[6:]))
        files = [file for batch in batches for file in sorted(batch.glob("*.json"))]
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def sites(tmp_path: Path, problem: Path, cluster: Cluster) -> Sites:
    return Sites(tmp_path, problem)


def is_ours(process: psutil.Process) -> bool:
    try:
        return (
            os.environ["BERTH_HOME"] in process.environ().get("BERTH_HOME", "") and process.pid != os.getpid()
        )
    except (psutil.Error, KeyError):
        return False
