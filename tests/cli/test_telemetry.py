"""`berth sample-telemetry` as a user meets it."""

import json
from functools import partial
from pathlib import Path

from berth.spark import SparkSession
from tests.cli.in_process import run_berth

TAG = str(Path(__file__).parents[2] / "examples" / "tag-and-count.yaml")


berth = partial(run_berth, "sample-telemetry")


def test_table(spark: SparkSession, tmp_path: Path) -> None:
    """A row for each folder, what can be recovered, and where it is."""
    target = tmp_path / "new" / "feed"
    code, printed, complained = berth(TAG, "--out", str(target), "--records", "1000", "--garbage", "0.05")
    assert code == 0
    rows = [line.split() for line in printed.splitlines()]
    assert rows[0] == ["folder", "files", "records", "garbage"]
    assert [row[0] for row in rows[1:5]] == ["probes", "heartbeats", "operators", "streams"]
    assert sum(int(row[2]) for row in rows[1:5]) == 1000
    assert "availability to within" in printed
    assert f"telemetry written to {target}" in complained
    lines = (target / "probes" / "part-00000.jsonl").read_bytes().splitlines()
    assert len(lines) == int(rows[1][2]) + int(rows[1][3])


def test_json_is_the_manifest(spark: SparkSession, tmp_path: Path) -> None:
    """Standard output is what is in `_truth.json`, and nothing else."""
    options = ["--records", "500", "--format", "parquet", "--seed", "3", "--no-outages", "--files", "1"]
    code, printed, _ = berth(TAG, "--out", str(tmp_path / "feed"), "--json", *options)
    assert code == 0
    truth = json.loads(printed)
    assert truth == json.loads((tmp_path / "feed" / "_truth.json").read_text())
    assert (truth["options"]["seed"], truth["options"]["outages"]) == (3, False)
    assert (tmp_path / "feed" / "probes" / "part-00000.parquet").exists()


def test_mistakes_come_before_spark(tmp_path: Path) -> None:
    """Bad options, a folder in use and unknown plans cost no session."""
    (tmp_path / "full").write_text("")
    code, printed, complained = berth(TAG, "--out", str(tmp_path), "--records", "-1", "--garbage", "1")
    assert (code, printed) == (2, "")
    assert [line.split(":")[0] for line in complained.splitlines()] == ["--records", "--garbage"]
    code, _, complained = berth(TAG, "--out", str(tmp_path))
    assert code == 2
    assert "--overwrite" in complained
    code, _, complained = berth(TAG, "--out", str(tmp_path / "full"))
    assert (code, complained) == (2, f"--out: {tmp_path / 'full'} is not a folder\n")
