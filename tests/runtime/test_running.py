"""`berth run` on a real cluster: where everything ran, and every row counted, whatever is killed or fails."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import psutil
import pytest

from berth.runtime.cluster.access import revive
from berth.runtime.cluster.nodes import Cluster
from berth.runtime.control.history import read_history
from tests.runtime.sites import ONE, OTHER, Sites, cluster, home, is_ours, problem, sites

pytestmark = pytest.mark.spark
__all__ = ["cluster", "home", "problem", "sites"]
"""Fixtures."""


def test_every_operator_runs_on_its_node_and_moves_with_its_state(sites: Sites) -> None:
    """Rows say themselves where they were; another plan on the same checkpoint goes on counting."""
    sites.put(40)
    sites.put(20)
    report, _ = sites.run(ONE)
    sites.check()
    assert {row["node"] for row in sites.rows("nodes")} == {"paris", "tokyo"}
    assert report["placement"]["differences"] == []
    ran = {each["operator"]: set(each["nodes"]) for each in report["operators"]}
    assert ran["counted"] == {"rome", "tokyo"}
    assert ran["places"] == {"paris"}
    streams = {(each["from"], each["to"]): each["rows"] for each in report["streams"]}
    assert streams["readings", "stamped"] == streams["stamped", "nodes"] == 60
    assert streams["even", "both"] + streams["odd", "both"] == 60

    sites.put(30)
    report, _ = sites.run(OTHER)
    sites.check()
    assert sites.rows("nodes")[-1] == {"node": "rome", "count": 30}
    feeds = {path.name for path in (sites.folder / "run" / "telemetry").iterdir()}
    assert {"operators", "streams", "heartbeats"} <= feeds


@pytest.mark.long
def test_a_function_that_raises_is_named_and_can_be_mended(sites: Sites) -> None:
    """With its operator and row; the batch comes again after the fix."""
    sites.put(20)
    _, said = sites.run(ONE, bad="stamped", code=1)
    assert "operator stamped failed on row {'sensor': 's3', 'value': 13}: ValueError: unlucky" in said
    sites.put(10)
    sites.run(ONE)
    sites.check()


@pytest.mark.long
def test_a_killed_driver_loses_nothing(sites: Sites) -> None:
    """SIGKILL in the middle of a batch; its Java process is gone, too; then once more from the checkpoint."""
    sites.put(200)
    process = sites.start(ONE)
    deadline = time.monotonic() + 240
    while not (sites.folder / "run" / "checkpoint" / "offsets" / "0").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    sites.put(50)
    sites.run(ONE)
    sites.check()


@pytest.mark.long
def test_a_killed_worker_that_comes_back_loses_nothing(sites: Sites, cluster: Cluster) -> None:
    """The run notices, waits, goes on with it, and ends by Ctrl-C with a report."""
    sites.put(30)
    process = sites.start(ONE)
    try:
        _await_rows(sites, process, 30)
        _kill_worker("tokyo")
        sites.put(30)
        time.sleep(3)
        revive(cluster, "tokyo")
        _await_rows(sites, process, 60)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    assert "node tokyo is gone" in said
    assert json.loads(printed)["ended_because"] == "stopped"
    sites.check()


@pytest.mark.long
def test_a_node_that_dies_under_watch_is_left_by_the_failover_in_store(
    sites: Sites, cluster: Cluster
) -> None:
    """Where the problem says to survive that, nothing is planned in between; every row counts once."""
    document = json.loads(sites.problem.read_text()) | {"survive": "node"}
    sites.problem = sites.folder / "surviving.json"
    sites.problem.write_text(json.dumps(document))
    sites.put(30)
    process = sites.start(ONE, "--every", "600", command="watch")
    try:
        _await_rows(sites, process, 30)
        _kill_worker("tokyo")
        sites.put(30)
        _await_rows(sites, process, 60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        revive(cluster, "tokyo")
    finally:
        process.kill()
        process.wait()
    events = read_history(sites.folder / "run")
    (moved,) = [event for event in events if event.event == "migrated"]
    assert moved.reason.endswith("by the failover in store"), said
    assert moved.noticed_s is not None
    assert set(moved.moved) == {name for name, node in ONE.items() if node == "tokyo"}
    assert "tokyo" not in moved.assignment.values()
    sites.check()


def _kill_worker(node: str) -> None:
    """End the Java process that is a node of the cluster."""
    worker = next(
        each
        for each in psutil.process_iter(["cmdline"])
        if "org.apache.spark.deploy.worker.Worker" in (each.info["cmdline"] or [])
        and is_ours(each)
        and each.environ().get("BERTH_NODE") == node
    )
    worker.kill()
    worker.wait(30)


def _await_rows(sites: Sites, process: subprocess.Popen[str], rows: int) -> None:
    """Until both sinks have written so many rows: a batch that is stopped between them comes again later."""
    deadline = time.monotonic() + 240
    while True:
        counted = {row["sensor"]: row["times"] for row in sites.rows("counts")}
        if sum(counted.values()) >= rows and sum(row["count"] for row in sites.rows("nodes")) >= rows:
            return
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.3)


@pytest.mark.parametrize(
    ("homes", "options", "line"),
    [
        (ONE | {"odd": "oslo"}, (), "plan: sites/odd: no node named 'oslo' in the problem"),
        (ONE, ("--executor-memory", "90g"), "node rome: its worker has"),
        (ONE, ("--executor-memory", "much"), "executor memory: 'much' is no size; write 512m or 2g"),
        (ONE, ("--master", "local[2]"), "--master local[2]: has no workers to pin operators to"),
        (ONE, ("--for", "-1"), "--for: -1.0 is no number above 0"),
    ],
)
def test_what_can_not_run_is_told_at_once(
    sites: Sites, homes: dict[str, str], options: tuple[str, ...], line: str
) -> None:
    """In one line, with exit code 2, before any Spark is started."""
    process = sites.start(homes, *options)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith(line) or said.startswith(line)
    assert "Traceback" not in said
