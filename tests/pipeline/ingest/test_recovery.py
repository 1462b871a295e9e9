"""A model recovered from sampled telemetry, against the problem that it was sampled from."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from berth.files import problem_from
from berth.pipeline.sample import SampleOptions, plan_sample, truth_of, write_telemetry
from berth.spark import SparkSession
from tests.pipeline.telemetry import Entry, Ingested, run_ingest

TRUTH: Entry = {
    "format": "berth/v1",
    "name": "truth",
    "network": {
        "nodes": [
            {"name": "a", "availability": 1.0, "speed": 1.0, "run_queue": 2, "carbon_g_per_hour": 40},
            {"name": "b", "availability": 0.99, "speed": 2.0},
            {"name": "c", "availability": 0.9, "speed": 0.5, "run_queue": 1, "carbon_g_per_hour": 0.5},
            {"name": "d", "availability": 0.6, "speed": 1.0},
        ],
        "links": [
            {"from": "a", "to": "b", "delay_ms": 10},
            {"from": "c", "to": "b", "delay_ms": 25},
            {"from": "a", "to": "c", "delay_ms": 0.4},
            {"from": "d", "to": "a", "delay_ms": 180},
        ],
    },
    "applications": [
        {
            "name": "app",
            "operators": [
                {"name": "source", "emits_bytes_per_s": 20000, "work_ms": 0.5},
                {"name": "split", "parallelism": 3, "selectivity": 0.25, "work_ms": 2},
                {"name": "join", "selectivity": 3.0, "work_ms": 5},
                {"name": "sink", "work_ms": 0.01},
            ],
            "streams": [
                {"from": "source", "to": "split"},
                {"from": "split", "to": "join"},
                {"from": "source", "to": "join"},
                {"from": "join", "to": "sink"},
            ],
        }
    ],
}
OPTIONS = SampleOptions(records=40_000, seed=11, garbage=0.05, wild=0.02, timestamps="mixed", files=2)


def blurred() -> Entry:
    """The problem as somebody may have guessed it; the speeds' scale is all that is right."""
    problem = copy.deepcopy(TRUTH)
    for node in problem["network"]["nodes"]:
        node |= {"availability": 0.5, "run_queue": 9, "carbon_g_per_hour": 7}
    for link in problem["network"]["links"]:
        link["delay_ms"] = 77
    for operator in problem["applications"][0]["operators"]:
        operator["work_ms"] = 99
        if "selectivity" in operator:
            operator["selectivity"] = 9
    problem["applications"][0]["operators"][0]["emits_bytes_per_s"] = 1
    return problem


@pytest.fixture(scope="module")
def recovered(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ingested, Entry]:
    """What ingest makes of a sample, and what the sample holds."""
    folder: Path = tmp_path_factory.mktemp("recovered")
    sample = plan_sample(problem_from(TRUTH), OPTIONS)
    write_telemetry(spark, sample, folder / "telemetry")
    intensity = OPTIONS.carbon_intensity
    result = run_ingest(spark, folder / "telemetry", folder / "out", blurred(), carbon_intensity=intensity)
    return result, truth_of(sample)


def entries(problem: Entry, kind: str) -> dict[Any, Entry]:
    application = problem["applications"][0]
    listed: list[Entry] = {**problem["network"], **application}[kind]
    return {entry.get("name", (entry.get("from"), entry.get("to"))): entry for entry in listed}


def test_delays(recovered: tuple[Ingested, Entry]) -> None:
    """Within 3 %."""
    found = entries(recovered[0].problem, "links")
    for ends, link in entries(TRUTH, "links").items():
        assert found[ends]["delay_ms"] == pytest.approx(link["delay_ms"], rel=0.03), ends


def test_availability(recovered: tuple[Ingested, Entry]) -> None:
    """Within half a point."""
    found = entries(recovered[0].problem, "nodes")
    for name, node in entries(TRUTH, "nodes").items():
        assert found[name]["availability"] == pytest.approx(node["availability"], abs=0.005), name


def test_speeds_and_run_queues(recovered: tuple[Ingested, Entry]) -> None:
    """Speeds within 1 %; queues are whole numbers with noise."""
    found = entries(recovered[0].problem, "nodes")
    for name, node in entries(TRUTH, "nodes").items():
        assert found[name]["speed"] == pytest.approx(node["speed"], rel=0.01), name
        assert found[name]["run_queue"] == pytest.approx(node.get("run_queue", 0), rel=0.1, abs=0.05), name


def test_carbon(recovered: tuple[Ingested, Entry]) -> None:
    """Within 2 %; nodes that emit none draw nothing."""
    found = entries(recovered[0].problem, "nodes")
    for name, node in entries(TRUTH, "nodes").items():
        wanted = node.get("carbon_g_per_hour", 0)
        assert found[name]["carbon_g_per_hour"] == pytest.approx(wanted, rel=0.02, abs=1e-12), name


def test_rates(recovered: tuple[Ingested, Entry]) -> None:
    """Within 1 %: what is emitted, then selectivity x the sum of the inputs."""
    rates = {
        "{} -> {}".format(*ends): row["bytes_per_s"] for (_, *ends), row in recovered[0].streams().items()
    }
    assert rates == {
        "source -> split": pytest.approx(20_000, rel=0.01),
        "split -> join": pytest.approx(5_000, rel=0.01),
        "source -> join": pytest.approx(20_000, rel=0.01),
        "join -> sink": pytest.approx(75_000, rel=0.01),
    }
    operators = entries(recovered[0].problem, "operators")
    assert operators["source"]["emits_bytes_per_s"] == pytest.approx(20_000, rel=0.01)
    assert operators["split"]["selectivity"] == pytest.approx(0.25, rel=0.01)
    assert operators["join"]["selectivity"] == pytest.approx(3.0, rel=0.01)


def test_work(recovered: tuple[Ingested, Entry]) -> None:
    """Within 3 %, on whichever nodes the operators ran."""
    found = entries(recovered[0].problem, "operators")
    for name, operator in entries(TRUTH, "operators").items():
        assert found[name]["work_ms"] == pytest.approx(operator["work_ms"], rel=0.03), name


def test_all_garbage_and_nothing_else_is_in_quarantine(recovered: tuple[Ingested, Entry]) -> None:
    """To the record."""
    result, truth = recovered
    found = Counter(folder for folder, _, _, _ in result.quarantine())
    assert found == {name: folder["garbage"] for name, folder in truth["folders"].items()}
    assert result.report["records"] == {name: folder["records"] for name, folder in truth["folders"].items()}


def test_nothing_is_unmeasured(recovered: tuple[Ingested, Entry]) -> None:
    """The sample has something of everything."""
    assert recovered[0].report["unmeasured"] == {}
