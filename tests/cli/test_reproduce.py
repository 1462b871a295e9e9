"""`berth reproduce` without Spark: names, the list, and reports of runs that are there."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from berth.cli.progress import ExperimentBoard, RunsDone
from berth.experiments import registry
from berth.experiments.experiment import Setting
from berth.experiments.framework.job import Count
from berth.experiments.framework.journal import Stored
from tests.cli.in_process import run_berth
from tests.experiments.framework.runs import PLACE, add, done
from tests.experiments.toy import EXPERIMENT


@pytest.fixture(autouse=True)
def only_the_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "PLACES", {"X9.1": "toys.toy:EXPERIMENT"})
    monkeypatch.setattr(registry, "place_of", lambda name: PLACE)
    monkeypatch.delenv("BERTH_DATA", raising=False)


def test_the_list() -> None:
    done = run_berth("reproduce", "--list")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("X9.1"))
    assert line.split()[:3] == ["X9.1", "3", "10"]
    [row] = json.loads(run_berth("reproduce", "toys", "--list", "--json").stdout)
    assert (row["experiment"], row["quick_runs"], row["full_runs"]) == ("X9.1", 3, 10)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["X9.2"], "no experiment named 'x9.2'; did you mean 'x9.1'?"),
        (["--data", "/nowhere/at/all"], "--data /nowhere/at/all: no such folder"),
        (["--seed", "-1"], "--seed -1: expected a whole number from 0"),
        (["--out", "/proc/nowhere"], "/proc/nowhere: can't be written"),
    ],
)
def test_bad_input(arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_berth("reproduce", *arguments)
    assert done.returncode == 2
    assert line in done.stderr
    assert not list(tmp_path.iterdir())


def test_reports_of_what_is_there(tmp_path: Path) -> None:
    add(Stored(tmp_path), done(Setting(quick=True)))
    told = run_berth("reproduce", "--quick", "--report-only", "--out", str(tmp_path))
    assert told.returncode == 0
    assert str(tmp_path / "report.html") in told.stderr
    assert "✓ reproduced, ≈ ordering only, ✗ not reproduced" in told.stdout
    claims = json.loads(
        run_berth("reproduce", "--quick", "--report-only", "--json", "--out", str(tmp_path)).stdout
    )
    assert claims["setting"] == {"quick": True, "seed": 0, "data": None, "on_spark": False}
    assert [claim["verdict"] for claim in claims["experiments"][0]["claims"]] == [
        "reproduced",
        "not reproduced",
    ]
    assert claims["experiments"][0]["runs"] == 3
    # all runs are there: the command without --report-only needs no Spark
    again = run_berth("reproduce", "--quick", "--out", str(tmp_path))
    assert again.returncode == 0
    assert "3 of 3 runs are there already" in again.stderr
    assert "Spark" not in again.stderr


def test_failed_runs_are_exit_code_1(tmp_path: Path) -> None:
    quick = Setting(quick=True)
    first, *others = EXPERIMENT.runs(quick)
    add(Stored(tmp_path), done(quick, others))
    add(Stored(tmp_path), done(quick, [first], rows=None, error="ValueError: no"))
    told = run_berth("reproduce", "x9.1", "--quick", "--report-only", "--out", str(tmp_path))
    assert told.returncode == 1
    assert "X9.1: 1 of 3 runs failed: ValueError: no" in told.stderr


def test_what_is_not_whole_is_said(tmp_path: Path) -> None:
    add(Stored(tmp_path), done(Setting(quick=True)))
    told = run_berth("reproduce", "--report-only", "--out", str(tmp_path))
    assert told.returncode == 1
    assert "X9.1: not all runs are there" in told.stderr


def test_a_report_of_nothing(tmp_path: Path) -> None:
    told = run_berth("reproduce", "--report-only", "--out", str(tmp_path / "new"))
    assert told.returncode == 2
    assert "no runs are in" in told.stderr
    assert not list(tmp_path.iterdir())


def test_the_report_shows_the_command_that_a_user_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measured").mkdir()
    measured = Setting(quick=True, data=tmp_path / "measured")
    add(Stored(tmp_path / "reproduction"), done(measured))
    options = ["--quick", "--data", "measured", "--report-only"]
    assert run_berth("reproduce", *options).returncode == 0
    report = (tmp_path / "reproduction" / "report.html").read_text()
    assert ">berth reproduce X9.1 --quick --data measured</code>" in report


class Counted:
    def __init__(self, **counts: Count) -> None:
        self._counts = counts

    def of(self, experiment: str) -> Count:
        return self._counts.get(experiment, Count())


@dataclass
class Known:
    name: str
    kept: int
    total: int
    seconds_each: float | None = None

    @property
    def runs(self) -> range:
        return range(self.total)

    @property
    def succeeded(self) -> range:
        return range(self.kept)


def test_progress_in_words() -> None:
    whole, begun, new = Known("c", 3, 3), Known("a", 2, 12), Known("b", 0, 3)
    board = ExperimentBoard(Counted(a=Count(4, 1, 8.0)), [begun, new, whole], cores=2)
    lines = board.experiments()
    assert lines == [RunsDone("a", 6, 12, 1, 6.0), RunsDone("b", 0, 3, 0, None)]
    assert [line.text() for line in lines] == ["a 6 of 12 runs, 1 failed, 6 s left", "b 0 of 3 runs"]
    assert board.whole(lines).text() == "9 of 18 runs, 1 failed"
    new.seconds_each = 2.0
    assert board.whole(board.experiments()).text() == "9 of 18 runs, 1 failed, 9 s left"
