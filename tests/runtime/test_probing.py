"""Probes and heartbeats: who is asked, who is up, and what becomes of errors."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from berth.runtime import probing
from berth.runtime.application import Application
from berth.runtime.feeds import Feeds
from berth.runtime.probing import (
    Address,
    Answer,
    NoAnswer,
    Prober,
    loop_mips,
    round_trip_ms,
    waiting_processes,
)
from berth.spark import SparkSession

NODES = ("rome", "paris", "tokyo")


class Ports:
    """A listening port for each node, as a worker has one; they can be closed one by one."""

    def __init__(self) -> None:
        self._sockets = {node: socket.create_server(("127.0.0.1", 0)) for node in NODES}
        for each in self._sockets.values():
            threading.Thread(target=self._accept, args=(each,), daemon=True).start()

    @staticmethod
    def _accept(listening: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            while True:
                listening.accept()[0].close()

    def addresses(self) -> dict[str, Address]:
        return {node: each.getsockname()[:2] for node, each in self._sockets.items()}

    def die(self, node: str) -> Address:
        with self._sockets.pop(node) as each:
            host, port = each.getsockname()[:2]
            each.shutdown(socket.SHUT_RDWR)  # closing alone lets a thread accept one more
            return host, port

    def close(self) -> None:
        for node in list(self._sockets):
            self.die(node)


@pytest.fixture
def ports() -> Iterator[Ports]:
    made = Ports()
    yield made
    made.close()


class Nodes:
    """Nodes that answer at once, unless told otherwise."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.others: dict[str, set[str]] = {}
        self.limits: list[float] = []
        self.failing: dict[str, str] = {}
        self.hanging: set[str] = set()
        self._given_up = threading.Event()
        self.busy = 0
        self.most_busy = 0

    def ask(self, node: str, others: Mapping[str, Address], limit_s: float) -> Answer:
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        try:
            self.asked.append(node)
            self.others[node] = set(others)
            self.limits.append(limit_s)
            if node in self.hanging:
                self._given_up.wait(limit_s)
                self._given_up.clear()
                raise NoAnswer(f"{node}: no answer within {limit_s:.0f} s")
            if node in self.failing:
                raise NoAnswer(f"{node}: {self.failing[node]}")
            return Answer(1.5, 10.0, dict.fromkeys(others, 4.0))
        finally:
            self.busy -= 1

    def give_up(self) -> None:
        self._given_up.set()


class Run:
    """A prober over fake nodes, round by round."""

    def __init__(self, folder: Path, ports: Ports, **changes: Any) -> None:
        self.nodes = Nodes()
        self.folder = folder
        self.used = list(NODES)
        self.feeds = Feeds(folder, Application("app"))
        self.targets: Callable[[], Mapping[str, Address]] = ports.addresses
        self.prober = Prober(
            jobs=self.nodes,
            used=lambda: self.used,
            targets=lambda: self.targets(),
            delay_ms=changes.get("delay_ms", lambda sender, receiver: 0.0),
            feeds=self.feeds,
            every_s=changes.get("every_s", 5.0),
        )

    def round(self, first: int = 0) -> None:
        self.prober._round(first)

    def records(self, name: str) -> list[dict[str, Any]]:
        self.feeds.flush()
        files = sorted((self.folder / name).iterdir())
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def ups(self) -> list[tuple[str, bool]]:
        return [(each["node"], each["up"]) for each in self.records("heartbeats")]


@pytest.fixture
def run(tmp_path: Path, ports: Ports) -> Run:
    return Run(tmp_path, ports)


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_round_asks_every_used_node(run: Run) -> None:
    """Each about all others, used or not; each is up with its own figures."""
    run.used = ["rome", "paris"]
    run.round()
    assert run.nodes.asked == ["rome", "paris"]
    assert run.nodes.others == {"rome": {"paris", "tokyo"}, "paris": {"rome", "tokyo"}}
    pairs = {(each["from"], each["to"]): each["rtt_ms"] for each in run.records("probes")}
    assert set(pairs) == {("rome", "paris"), ("rome", "tokyo"), ("paris", "rome"), ("paris", "tokyo")}
    assert set(pairs.values()) == {4.0}
    beats = run.records("heartbeats")
    assert {each["node"] for each in beats} == {"rome", "paris"}
    assert all(each["up"] and each["run_queue"] == 1.5 and each["mips"] == 10.0 for each in beats)
    assert run.prober.failures == 0


def test_emulated_delays_are_added(tmp_path: Path, ports: Ports) -> None:
    """Twice the way's own delay: half of the round trip is then the delay that was emulated."""
    delays = {("rome", "paris"): 20.0, ("paris", "rome"): 30.0}
    run = Run(tmp_path, ports, delay_ms=lambda a, b: delays.get((a, b), 0.0))
    run.round()
    pairs = {(each["from"], each["to"]): each["rtt_ms"] for each in run.records("probes")}
    assert (pairs["rome", "paris"], pairs["paris", "rome"], pairs["rome", "tokyo"]) == (44.0, 64.0, 4.0)


def test_a_node_that_is_not_used_any_more_is_still_up(run: Run) -> None:
    """Silence would be an outage: its worker is there, and its figures are those that it gave last."""
    run.round()
    run.used = ["rome"]
    run.round()
    assert run.nodes.asked == ["rome", "paris", "tokyo", "rome"]
    assert run.ups() == [(node, True) for node in sorted(NODES)] * 2
    assert {each["mips"] for each in run.records("heartbeats")} == {10.0}


def test_a_node_whose_processors_are_taken_is_up(run: Run) -> None:
    """Its job waits too long and is an error, but its worker can be reached."""
    run.round()
    run.nodes.failing["paris"] = "no answer"
    run.round()
    assert run.ups()[3:] == [(node, True) for node in sorted(NODES)]
    assert list(run.prober.errors) == ["paris: no answer"]


def test_a_dead_node_is_down_and_not_asked(run: Run, ports: Ports) -> None:
    """Its worker doesn't answer any more: a job for it would wait for ever."""
    run.round()
    address = ports.die("tokyo")
    run.targets = lambda: {**ports.addresses(), "tokyo": address}
    run.round()
    assert run.nodes.asked[3:] == ["rome", "paris"]
    assert run.ups()[3:] == [("paris", True), ("rome", True), ("tokyo", False)]
    down = run.records("heartbeats")[-1]
    assert (down["run_queue"], down["mips"]) == (0.0, 0.0)


def test_a_node_that_left_the_targets_is_down(run: Run, ports: Ports) -> None:
    """The master has dropped its worker."""
    run.round()
    ports.die("tokyo")
    run.round()
    assert ("tokyo", False) in run.ups()[3:]
    assert all("tokyo" not in others for others in run.nodes.others.values() if len(others) == 1)


def test_told_that_a_node_is_down(run: Run, ports: Ports) -> None:
    """It is put down at once and in every round, until it can be reached again."""
    run.round()
    ports.die("tokyo")
    run.used = ["rome", "paris"]
    run.prober.node_down("tokyo")
    assert run.ups()[3:] == [("tokyo", False)]
    run.round()
    assert run.ups()[4:] == [("paris", True), ("rome", True), ("tokyo", False)]
    with socket.create_server(("127.0.0.1", 0)) as again:
        run.targets = lambda: {**ports.addresses(), "tokyo": again.getsockname()[:2]}
        run.round()
    assert run.ups()[7:] == [("paris", True), ("rome", True), ("tokyo", True)]


def test_a_node_that_never_measured_has_no_heartbeat(run: Run) -> None:
    """While executors start, nothing is known: neither that it is up nor that it is down."""
    run.nodes.failing = dict.fromkeys(NODES, "no executor yet")
    run.round()
    assert run.ups() == []
    assert run.prober.failures == 3


def test_a_worker_behind_a_wall(run: Run) -> None:
    """If its port could never be reached from here, its own word counts, and no word means nothing."""
    run.round()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = closed.getsockname()[:2]
    run.targets = lambda: {"rome": nowhere, "oslo": nowhere}
    run.used = ["oslo"]
    run.round()
    assert "oslo" in run.nodes.asked
    assert ("oslo", True) in run.ups()
    run.nodes.failing["oslo"] = "busy"
    before = len(run.ups())
    run.round()
    assert "oslo" not in {node for node, _ in run.ups()[before:]}


def test_without_any_address(run: Run) -> None:
    """Where no master tells the workers' addresses, nodes are asked all the same."""
    run.targets = dict
    run.round()
    run.nodes.failing["rome"] = "busy"
    run.round()
    assert run.nodes.asked == [*NODES, *NODES]
    assert [node for node, up in run.ups() if up] == [*sorted(NODES), "paris", "tokyo"]
    assert run.records("probes") == []


def test_a_new_session_knows_the_nodes_of_the_old_one(tmp_path: Path, ports: Ports) -> None:
    """Who was used before still has heartbeats when a migration started Spark anew."""
    run = Run(tmp_path, ports, every_s=0.1)
    run.prober.start()
    eventually(lambda: run.prober.rounds >= 1)
    run.prober.stop()
    run.used, later = ["paris"], Nodes()
    before, rounds = len(run.ups()), run.prober.rounds
    run.prober.start(later)
    eventually(lambda: run.prober.rounds > rounds)
    run.prober.stop()
    assert set(later.asked) == {"paris"}
    assert set(run.ups()[before:]) == {(node, True) for node in NODES}


def test_every_node_is_first_in_its_turn(run: Run) -> None:
    """What takes all the time of a round must not always cost the same nodes."""
    for number in range(4):
        run.round(number)
    assert run.nodes.asked[::3] == ["rome", "paris", "tokyo", "rome"]


def test_a_round_has_a_limit(tmp_path: Path, ports: Ports) -> None:
    """Jobs that hang get half of what is left, or a second; who is left over comes first another time."""
    run = Run(tmp_path, ports, every_s=2.5)
    run.nodes.hanging = set(NODES)
    began = time.monotonic()
    run.round()
    assert time.monotonic() - began < 4.5
    assert run.nodes.limits == pytest.approx([1.25, 1.0, 1.0], abs=0.2)
    run.nodes.hanging.clear()
    run.round()
    assert len(run.records("heartbeats")) == 3


def test_pairs_without_a_round_trip_are_errors(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are named with the reason; the others count."""
    answer = Answer(0.0, 10.0, {"paris": 4.0}, {"tokyo": "timed out"})
    monkeypatch.setattr(run.nodes, "ask", lambda node, others, limit_s: answer)
    run.used = ["rome"]
    run.round()
    assert list(run.prober.errors) == ["rome to tokyo: timed out"]
    assert [each["to"] for each in run.records("probes")] == ["paris"]


def test_the_thread_goes_on_after_errors(tmp_path: Path, ports: Ports) -> None:
    """A round that fails is counted, and the next one comes; rounds never overlap."""
    run = Run(tmp_path, ports, every_s=0.1)
    good, calls = run.targets, []

    def shaky() -> Mapping[str, Address]:
        calls.append(1)
        if len(calls) % 2:
            raise OSError("the master doesn't answer")
        return good()

    run.targets = shaky
    run.prober.start()
    eventually(lambda: run.prober.rounds >= 3)
    run.prober.stop()
    assert run.prober.failures >= 3
    assert set(run.prober.errors) == {"no round of probes: OSError: the master doesn't answer"}
    assert run.nodes.most_busy == 1
    rounds = run.prober.rounds
    time.sleep(0.3)
    assert run.prober.rounds == rounds


def test_stop_ends_a_job_that_waits_for_ever(tmp_path: Path, ports: Ports) -> None:
    """And says nothing of it: being told to stop is no error."""
    run = Run(tmp_path, ports, every_s=3600.0)
    run.nodes.hanging = {"rome"}
    run.prober.start()
    eventually(lambda: bool(run.nodes.asked))
    began = time.monotonic()
    run.prober.stop()
    assert time.monotonic() - began < 5
    assert not any(each.name == "berth probes" for each in threading.enumerate())
    assert run.prober.failures == 0


def test_stop_before_start_and_twice(run: Run) -> None:
    """Both are harmless."""
    run.prober.stop()
    run.prober.stop()


def test_errors_are_bounded(run: Run) -> None:
    """A week without an answer is a number and the newest lines."""
    run.nodes.failing = dict.fromkeys(NODES, "gone")
    for number in range(60):
        run.nodes.failing["rome"] = f"gone {number}"
        run.round()
    assert run.prober.failures == 180
    assert len(run.prober.errors) == probing.MOST_ERRORS
    assert "rome: gone 59" in run.prober.errors


def test_round_trips(ports: Ports) -> None:
    """A port that listens, one that doesn't, a name that nobody has."""
    took, problem = round_trip_ms(ports.addresses()["rome"])
    assert problem is None
    assert took is not None
    assert 0 < took < 1000
    closed = ports.die("paris")
    assert round_trip_ms(closed) == (None, f"127.0.0.1:{closed[1]}: connection refused")
    assert round_trip_ms(("nowhere.invalid", 1))[0] is None


def test_mips_are_about_the_processor() -> None:
    """They hardly change when all processors are busy with other things."""
    calm = loop_mips()
    loop = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(loop) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        time.sleep(0.2)
        crowded = loop_mips()
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert 1 < calm < 10_000
    assert crowded > calm / 2
    assert waiting_processes() >= 0


def test_workers_need_no_berth() -> None:
    """What a job sends runs where nobody can import berth."""
    from pyspark import cloudpickle

    import berth.runtime.probe_jobs  # noqa: F401

    pickling: Any = cloudpickle
    sent = pickling.dumps(probing.probe("rome", {"paris": ("127.0.0.1", 1)}))
    code = (
        "import pickle, sys; sys.modules['berth'] = None; "
        "(batch,) = pickle.load(sys.stdin.buffer)(iter([])); print(batch.column(0))"
    )
    there = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, timeout=60)
    assert there.stderr == b""
    assert b"paris" in there.stdout


class TestOnSpark:
    """Probes as jobs, in the session that all tests share; what is pinned is tested with runs."""

    def test_a_node_answers(self, spark: SparkSession, ports: Ports) -> None:
        """The job runs in a Python worker and brings figures home."""
        from berth.runtime.probe_jobs import ProbeJobs

        targets = {"paris": ports.addresses()["paris"], "tokyo": ports.die("tokyo")}
        answer = ProbeJobs(spark, {"rome": None}).ask("rome", targets, 60)
        assert answer.rtt_ms.keys() == {"paris"}
        assert "refused" in answer.problems["tokyo"]
        assert answer.mips > 1
        assert answer.run_queue >= 0

    def test_a_job_can_be_given_up(self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        """When the time is over; other jobs go on."""
        from berth.runtime.probe_jobs import ProbeJobs

        def sleeping(node: str, targets: Mapping[str, Address]) -> Any:
            def asleep(batches: Iterator[Any]) -> Iterator[Any]:
                import time

                time.sleep(20)
                yield from batches

            return asleep

        jobs = ProbeJobs(spark, {"rome": None})
        monkeypatch.setattr(probing, "probe", sleeping)
        outcome: list[str] = []

        def ask() -> None:
            try:
                jobs.ask("rome", {}, 1.0)
            except NoAnswer as error:
                outcome.append(str(error))

        began = time.monotonic()
        thread = threading.Thread(target=ask)
        thread.start()
        assert spark.range(10).count() == 10
        thread.join()
        assert outcome == ["rome: no answer within 1 s"]
        assert time.monotonic() - began < 15

    def test_an_error_on_the_node_is_a_line(self, spark: SparkSession) -> None:
        """Whatever Spark says about it."""
        from berth.runtime.probe_jobs import ProbeJobs

        broken: Any = {"paris": "no address"}
        with pytest.raises(NoAnswer) as caught:
            ProbeJobs(spark, {"rome": None}).ask("rome", broken, 60)
        assert str(caught.value).startswith("rome: ")
        assert "\n" not in str(caught.value)
