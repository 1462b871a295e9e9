"""Energy: the power of nodes in their table, and as carbon in the problem."""

import random
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from berth.files import problem_from
from berth.pipeline.ingest import IngestOptions, follow
from berth.pipeline.sample import SampleOptions, plan_sample
from berth.spark import SparkSession
from tests.pipeline.telemetry import (
    PROBLEM,
    START,
    Entry,
    Ingested,
    energy,
    heartbeat,
    run_ingest,
    write_feed,
    write_problem,
)

CHANCE = random.Random(7)
POWER = {"rome": [100.0, 140.0, 120.3], "paris": [0.0], "7": [CHANCE.uniform(50, 90) for _ in range(50)]}
NONSENSE = {
    "watts: negative": energy(watts=-1),
    "watts: missing": energy(watts=None),
    "watts: no number": energy(watts="120"),
    "watts: impossibly large": energy(watts=1e10),
    "node: unknown node": energy(node="nowhere"),
}


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Energy of three nodes, in two files, with one record of each kind of nonsense."""
    folder: Path = tmp_path_factory.mktemp("energy")
    records: list[Entry] = [
        energy(ts=START + 60_000 * minute, node=node, watts=watts)
        for node, values in POWER.items()
        for minute, watts in enumerate(values)
    ]
    write_feed(folder, {"energy": [*records[::2], *NONSENSE.values()]}, "first.jsonl")
    write_feed(folder, {"energy": records[1::2]}, "second.jsonl")
    return folder


def carbon(result: Ingested) -> dict[str, float | None]:
    return {node["name"]: node.get("carbon_g_per_hour") for node in result.problem["network"]["nodes"]}


def test_mean_power_becomes_carbon(spark: SparkSession, telemetry: Path, tmp_path: Path) -> None:
    """Mean watts / 1000 x the intensity; nodes that nothing was heard of stay as they are, and are named."""
    result = run_ingest(spark, telemetry, tmp_path / "out", carbon_intensity=250.0)
    for node, values in POWER.items():
        row = result.nodes()[node]
        assert (row["watts"], row["samples"]) == (pytest.approx(fmean(values), rel=1e-4), len(values))
        assert row["smoothed_watts"] == row["watts"]
        assert carbon(result)[node] == pytest.approx(row["watts"] / 1000 * 250.0, rel=1e-12)
    assert carbon(result)["silent"] is None
    assert result.report["unmeasured"]["carbon_g_per_hour of nodes"]["names"] == ["kä%s+e", "silent"]
    assert {reason for _, _, _, reason in result.quarantine()} == set(NONSENSE)


def test_without_an_intensity_the_carbon_stays(spark: SparkSession, telemetry: Path, tmp_path: Path) -> None:
    """The table has the power all the same."""
    result = run_ingest(spark, telemetry, tmp_path / "out")
    assert set(carbon(result).values()) == {None}
    assert "carbon_g_per_hour of nodes" not in result.report["unmeasured"]
    assert result.nodes()["rome"]["watts"] == pytest.approx(120.1, rel=1e-4)


def test_beside_heartbeats(spark: SparkSession, telemetry: Path, tmp_path: Path) -> None:
    """A node has one row, with what both say of it; one that only one of them knows has nulls."""
    write_feed(tmp_path / "both", {"energy": [energy(), energy(node="paris")]})
    beats = [heartbeat(ts=START + 1000 * second) for second in range(10)]
    write_feed(tmp_path / "both", {"heartbeats": [*beats, *(beat | {"node": "7"} for beat in beats)]})
    nodes = run_ingest(spark, tmp_path / "both", tmp_path / "out").nodes()
    found: dict[str, Any] = {
        name: (row["availability"], row["watts"], row["samples"]) for name, row in nodes.items()
    }
    assert found == {"rome": (1.0, 120.0, 11), "paris": (None, 120.0, 1), "7": (1.0, None, 10)}


def test_following_gives_the_same(spark: SparkSession, telemetry: Path, tmp_path: Path) -> None:
    """File by file, in windows: to the last bit what one ingest of it all gives."""
    options = IngestOptions(window_s=600, weight=0.5, carbon_intensity=400.0)
    at_once = run_ingest(
        spark, telemetry, tmp_path / "once", window_s=600, weight=0.5, carbon_intensity=400.0
    )
    growing, problem = tmp_path / "growing", write_problem(tmp_path / "problem")
    for name in ("first.jsonl", "second.jsonl"):
        (growing / "energy").mkdir(parents=True, exist_ok=True)
        (growing / "energy" / name).write_bytes((telemetry / "energy" / name).read_bytes())
        summary = follow(spark, growing, problem, tmp_path / "follow", options, once=True)
    followed = Ingested(tmp_path / "follow", summary)
    assert followed.problem == at_once.problem
    order = ["window_start", "node"]
    tables = [result.table("nodes").sort_values(order, ignore_index=True) for result in (followed, at_once)]
    assert len(tables[0]) > 5
    assert tables[0].equals(tables[1])


def test_only_problems_with_carbon_are_sampled() -> None:
    """The telemetry of all others stays as it was."""
    without = plan_sample(problem_from(PROBLEM), SampleOptions(), now_ms=START)
    assert "energy" not in without.folders
    nodes = [node | {"carbon_g_per_hour": 50.0} for node in PROBLEM["network"]["nodes"]]
    problem = PROBLEM | {"network": PROBLEM["network"] | {"nodes": nodes}}
    sample = plan_sample(problem_from(problem), SampleOptions(), now_ms=START)
    assert sample.folders["energy"].records == len(nodes) * sample.reports
    assert sample.folders["probes"].records == without.folders["probes"].records - len(nodes) * sample.reports
