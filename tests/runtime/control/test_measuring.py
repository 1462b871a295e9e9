"""Measuring in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from berth.files import load
from berth.model import Problem
from berth.runtime.control.measuring import Measurer, MeasuringFailed, stage, with_slow_availability
from berth.spark import SparkSession

ROOT = Path(__file__).parents[3]
TAG = ROOT / "examples" / "tag-and-count.yaml"
FEEDS = ("probes", "heartbeats", "operators", "streams")


def write(folder: Path, feed: str, records: list[dict[str, object]], age_s: float = 0.0) -> Path:
    """A file of telemetry, as old as it says."""
    (folder / feed).mkdir(parents=True, exist_ok=True)
    file = folder / feed / f"{len(list((folder / feed).iterdir())):04d}.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(file, (time.time() - age_s, time.time() - age_s))
    return file


def rate(bytes_per_s: float, age_s: float) -> list[dict[str, object]]:
    """What the source sent in a minute."""
    ts = int((time.time() - age_s) * 1000)
    record = {"ts": ts, "application": "tag-and-count", "from": "source", "to": "parse"}
    return [{**record, "tuples": 600, "bytes": 60 * bytes_per_s, "window_ms": 60_000}]


def rate_in(path: Path) -> float | None:
    return load(path).applications[0].streams[0].bytes_per_s


def test_only_new_files_are_staged(tmp_path: Path) -> None:
    """What is older, hidden or not finished is left out; what was staged before is gone."""
    telemetry, target = tmp_path / "telemetry", tmp_path / "staged"
    new = write(telemetry, "streams", rate(1.0, 5.0), age_s=5.0)
    write(telemetry, "streams", rate(1.0, 100.0), age_s=100.0)
    write(telemetry, "probes", [], age_s=1.0)
    (telemetry / "streams" / ".half").write_text("{")
    for _ in range(2):
        assert stage(telemetry, target, 60.0) == 2
        assert [file.resolve() for file in (target / "streams").iterdir()] == [new.resolve()]
    assert stage(telemetry, target, None) == 3
    assert stage(tmp_path / "nowhere", target, 60.0) == 0


def test_without_telemetry_nobody_is_asked(tmp_path: Path) -> None:
    """It costs no session to see that there is nothing."""
    with Measurer(tmp_path / "measuring") as measurer, pytest.raises(MeasuringFailed, match="last 60 s"):
        measurer.measure(tmp_path / "telemetry", TAG, 60.0)


def test_the_process_ends_when_nothing_was_asked(tmp_path: Path) -> None:
    """Neither Spark nor a second Python is left."""
    with Measurer(tmp_path) as measurer:
        pid = measurer.pid
        assert pid is not None
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


def test_what_is_closed_stays_closed(tmp_path: Path) -> None:
    """A thread that still waits for an answer starts no other process."""
    write(tmp_path / "telemetry", "streams", rate(5.0, 1.0))
    with Measurer(tmp_path / "measuring") as measurer:
        waiting = threading.Thread(target=_measure_and_fail, args=(measurer, tmp_path / "telemetry"))
        waiting.start()
        time.sleep(0.5)
        assert measurer.pid is not None
        children = _family(measurer.pid)
        began = time.monotonic()
    assert time.monotonic() - began < 15
    waiting.join(10)
    assert not waiting.is_alive()
    assert measurer.pid is None
    _, alive = psutil.wait_procs(children, 15)
    assert alive == []


def _measure_and_fail(measurer: Measurer, telemetry: Path) -> None:
    with pytest.raises(MeasuringFailed, match="gone"):
        measurer.measure(telemetry, TAG)


def test_availability_follows_slowly() -> None:
    """A minute's outage is a sixtieth of an hour, not the truth about a node."""
    before = load(TAG)
    away = {node.name: 0.0 for node in before.network.nodes}
    after = with_slow_availability(before, _with_availability(before, away), 60.0)
    assert after.network.nodes[1].availability == pytest.approx(1.0 - 60.0 / 3600.0, abs=1e-3)
    still = with_slow_availability(before, before, 60.0)
    assert [node.availability for node in still.network.nodes] == pytest.approx(
        [node.availability for node in before.network.nodes]
    )


def _with_availability(problem: Problem, values: dict[str, float]) -> Problem:
    nodes = tuple(replace(node, availability=values[node.name]) for node in problem.network.nodes)
    return replace(problem, network=replace(problem.network, nodes=nodes))


# with Spark


@pytest.fixture(scope="module")
def measurer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measurer]:
    """One process for all tests here; in the end, nothing of it is left."""
    with Measurer(tmp_path_factory.mktemp("measuring")) as measurer:
        yield measurer
        assert measurer.pid is not None
        family = _family(measurer.pid)
        assert any("java" in process.name() for process in family)
    _, alive = psutil.wait_procs(family, 10)
    assert alive == []


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


@pytest.mark.spark
@pytest.mark.slow
def test_sampled_telemetry_becomes_the_problem_that_is_true(
    spark: SparkSession, measurer: Measurer, tmp_path: Path
) -> None:
    """Delays and rates as the feed has them, whatever the problem said before."""
    from berth.pipeline.sample import SampleOptions, plan_sample, write_telemetry

    feed = tmp_path / "telemetry"
    sample = plan_sample(load(TAG), SampleOptions(records=4000, duration=120.0))
    write_telemetry(spark, sample, feed)
    document = TAG.read_text().replace("emits_bytes_per_s: 1000", "emits_bytes_per_s: 7")
    (tmp_path / "wrong.yaml").write_text(document.replace("12.4", "99.0"))
    measured = load(measurer.measure(feed, tmp_path / "wrong.yaml"))
    assert measured.network.table.delay_ms[0, 1] == pytest.approx(12.4, rel=0.1)
    assert measured.applications[0].streams[0].bytes_per_s == pytest.approx(1000.0, rel=0.1)


@pytest.mark.spark
@pytest.mark.slow
def test_a_change_of_rates_is_seen_in_full_at_once(measurer: Measurer, tmp_path: Path) -> None:
    """Old files don't count, so no average hides the change; the same process answers again, and sooner."""
    telemetry = tmp_path / "telemetry"
    write(telemetry, "streams", rate(1000.0, 90.0), age_s=90.0)
    assert rate_in(measurer.measure(telemetry, TAG)) == 1000.0
    pid = measurer.pid
    measurer.warm_up()
    measurer.await_ready()
    write(telemetry, "streams", rate(5000.0, 10.0), age_s=10.0)
    began = time.monotonic()
    assert rate_in(measurer.measure(telemetry, TAG, 60.0)) == 5000.0
    assert rate_in(measurer.measure(telemetry, TAG)) == 3000.0
    assert measurer.pid == pid
    assert time.monotonic() - began < 60


@pytest.mark.spark
@pytest.mark.slow
def test_what_was_measured_before_stays_where_nothing_new_was(measurer: Measurer, tmp_path: Path) -> None:
    """The updated problem may be the one that is updated next."""
    telemetry = tmp_path / "telemetry"
    write(telemetry, "streams", rate(1234.0, 90.0), age_s=90.0)
    path = measurer.measure(telemetry, TAG)
    write(telemetry, "probes", [{"ts": int(time.time() * 1000), "from": "rome", "to": "dublin", "rtt_ms": 8}])
    again = load(measurer.measure(telemetry, path, 60.0))
    assert again.applications[0].streams[0].bytes_per_s == 1234.0
    assert again.network.table.delay_ms[1, 2] == pytest.approx(4.0)


@pytest.mark.spark
@pytest.mark.slow
def test_a_mistake_is_a_line_and_the_process_goes_on(measurer: Measurer, tmp_path: Path) -> None:
    """The next one gets its answer."""
    telemetry = tmp_path / "telemetry"
    write(telemetry, "streams", rate(5.0, 1.0))
    with pytest.raises(MeasuringFailed, match="no such file"):
        measurer.measure(telemetry, tmp_path / "missing.yaml")
    pid = measurer.pid
    assert rate_in(measurer.measure(telemetry, TAG)) == 5.0
    assert measurer.pid == pid


@pytest.mark.spark
@pytest.mark.slow
def test_a_process_that_was_killed_is_replaced(measurer: Measurer, tmp_path: Path) -> None:
    """The look at which it died is lost, no more."""
    telemetry = tmp_path / "telemetry"
    write(telemetry, "streams", rate(5.0, 1.0))
    measurer.measure(telemetry, TAG)
    assert measurer.pid is not None
    family = _family(measurer.pid)
    os.kill(measurer.pid, signal.SIGKILL)
    assert rate_in(measurer.measure(telemetry, TAG)) == 5.0
    _, alive = psutil.wait_procs(family, 10)
    assert alive == []


@pytest.mark.spark
@pytest.mark.slow
def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    """Killed in the middle of a session, the parent leaves neither Python nor Java behind."""
    telemetry = tmp_path / "telemetry"
    write(telemetry, "streams", rate(5.0, 1.0))
    program = (
        "import sys, time; from pathlib import Path; from berth.runtime.control.measuring import Measurer\n"
        "measurer = Measurer(Path(sys.argv[1])).__enter__()\n"
        "measurer.measure(Path(sys.argv[2]), Path(sys.argv[3]))\n"
        "print('measured', flush=True); time.sleep(300)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "work"), str(telemetry), str(TAG)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "measured\n"
        family = _family(parent.pid)
        assert any("java" in process.name() for process in family)
        parent.kill()
    _, alive = psutil.wait_procs(family[1:], 15)
    assert alive == []
