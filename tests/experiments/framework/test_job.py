"""`berth reproduce` on Spark, with a toy experiment whose runs go wrong when they are told to."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from berth.experiments import registry
from berth.experiments.framework import job
from berth.spark import SparkSession
from tests.cli.in_process import Done, run_berth

TOY = Path(__file__).parents[1] / "toy.py"


@pytest.fixture(autouse=True)
def only_the_toy(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.sparkContext.addPyFile(str(TOY))
    monkeypatch.setattr(registry, "PLACES", {"X9.1": "toys.toy:EXPERIMENT"})
    monkeypatch.setattr(registry, "place_of", lambda name: "toy:EXPERIMENT")
    monkeypatch.delenv("BERTH_DATA", raising=False)


def reproduce(folder: Path, *more: str) -> Done:
    return run_berth("reproduce", "--out", str(folder), *more)


def results(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "X9.1" / "results").to_pylist()
    return rows


def test_stopped_and_gone_on_is_as_done_at_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def interrupted(rows: Any, folder: Path) -> None:
        if calls:
            raise KeyboardInterrupt
        calls.append(1)
        append(rows, folder)

    append = job.append
    monkeypatch.setattr(job, "append", interrupted)
    stopped = reproduce(tmp_path / "stopped")
    assert stopped.returncode == 130
    assert stopped.stderr.splitlines()[-1] == (
        "interrupted: 2 of 10 runs are kept; the same command goes on from there"
    )
    assert not (tmp_path / "stopped" / "report.html").exists()
    monkeypatch.setattr(job, "append", append)
    assert "2 of 10 runs are there already" in reproduce(tmp_path / "stopped").stderr
    assert reproduce(tmp_path / "whole").returncode == 0
    assert results(tmp_path / "stopped") == results(tmp_path / "whole")
    keys = [row["key"] for row in pq.read_table(tmp_path / "stopped" / "runs").to_pylist()]
    assert sorted(keys) == sorted(f"run-{number}" for number in range(1, 11))
    assert (tmp_path / "stopped" / "X9.1" / "figure.svg").read_bytes() == (
        tmp_path / "whole" / "X9.1" / "figure.svg"
    ).read_bytes()
    # Spark reads what is written
    assert spark.read.parquet(f"file:{tmp_path}/whole/X9.1/results").count() == 10


def test_runs_that_fail_or_die_cost_their_own_rows(spark: SparkSession, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    (data / "run-1").write_text("raise")
    (data / "run-4").write_text("die")
    told = reproduce(folder, "--data", str(data))
    assert told.returncode == 1
    assert "2 of 10 runs failed" in told.stderr
    assert "the run crashed: its process died of SIGSEGV" in told.stderr
    assert [row["numbers"] for row in results(folder)] == [2, 3, 5, 6, 7, 8, 9, 10]
    failures = {row["key"]: row["error"] for row in pq.read_table(folder / "failures").to_pylist()}
    assert sorted(failures) == ["run-1", "run-4"]
    again = reproduce(folder, "--data", str(data))
    assert again.returncode == 1
    assert "8 of 10 runs are there already" in again.stderr
    other = reproduce(folder)
    assert other.returncode == 0
    assert "8 runs are put aside, not mixed in: full, seed 0, with measured networks" in other.stderr
    assert len(results(folder)) == 10
