"""Probes and heartbeats while an application runs: a thread that asks the nodes every few seconds."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from berth.runtime.feeds import Feeds, Record, heartbeat_record, probe_record

MOST_ERRORS = 100
"""The newest, that are kept; all are counted."""
STOP_SECONDS = 30.0
_SHORTEST_LIMIT_SECONDS = 1.0
_JOIN_SECONDS = 0.2
Address = tuple[str, int]
PROBE_SCHEMA = "other string, rtt_ms double, problem string, run_queue double, mips double"
"""A row for the node itself, without `other`, and one for each node that it tried to reach."""
NODE_VARIABLE = "BERTH_NODE"
CONNECTIONS = 3
"""To each node; the quickest counts."""
CONNECT_SECONDS = 1.0
LOOPS = 5
LOOP_STEPS = 20_000


@dataclass(frozen=True)
class Answer:
    """What a node measured."""

    run_queue: float
    mips: float
    rtt_ms: Mapping[str, float]
    """To the nodes that it reached."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why it didn't reach the others."""


class NoAnswer(Exception):  # noqa: N818
    """A node didn't measure anything; the text says why."""


class Jobs(Protocol):
    """How nodes are asked: `berth.runtime.probe_jobs.ProbeJobs` on Spark."""

    def ask(self, node: str, others: Mapping[str, Address], limit_s: float) -> Answer:
        """Let a node measure; raises `NoAnswer` after the limit at the latest."""
        ...

    def give_up(self) -> None:
        """End what `ask` does now, from another thread."""
        ...


@dataclass
class Prober:
    """Asks every used node in turn, and writes what they say as probes and heartbeats.

    A round is one pinned job for each used node, one after another: together they would measure each other.
    In it, a node connects to all others and measures its load and its processor. In an emulated network,
    twice the emulated delay of the way is added to each round trip.

    **Who is up.** Silence would count as an outage, so all nodes that ever measured have a heartbeat in every
    round. A node that is not used any more, or whose processors were all taken, is up if its worker can be
    reached from here; its figures are then those that it gave last. If it can't be reached, or is no longer
    among the targets, it is down. One that never measured has no heartbeat: nothing is known of it.
    """

    jobs: Jobs
    """How nodes are asked."""
    used: Callable[[], Collection[str]]
    """The nodes to ask, as of now: those that run operators."""
    targets: Callable[[], Mapping[str, Address]]
    """An address of every node that is there, used or not; where its worker listens. None at all where nobody
    knows: then there are heartbeats, and no probes."""
    delay_ms: Callable[[str, str], float]
    """The emulated delay from one node to another; 0 where nothing is emulated."""
    feeds: Feeds
    """Where records go."""
    every_s: float
    """From one round to the next."""

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._last: dict[str, Answer] = {}
        self._reached: set[str] = set()
        self._down: set[str] = set()
        self.rounds = 0
        """That were completed."""
        self.failures = 0
        self.errors: deque[str] = deque(maxlen=MOST_ERRORS)
        """What went wrong, the newest last: nodes that gave no answer, pairs without a round trip."""

    def start(self, jobs: Jobs | None = None) -> None:
        """Begin with a round at once; best when the executors are there.

        A prober that was stopped can be started again, with other jobs where the session is a new one: what
        it knows of the nodes stays.
        """
        self.jobs = jobs or self.jobs
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="berth probes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it, also if a job waits for an executor that never comes; harmless if it never started."""
        self._stopping.set()
        deadline = time.monotonic() + STOP_SECONDS
        while self._thread is not None and self._thread.is_alive():
            # again and again: the job may not have begun when it was given up the first time
            self.jobs.give_up()
            self._thread.join(_JOIN_SECONDS)
            if time.monotonic() > deadline:
                self._failed(f"the probes don't end, {STOP_SECONDS:.0f} s after they were told to")
                return

    def node_down(self, node: str) -> None:
        """Put down at once that a node is away, and until its worker can be reached again."""
        with self._lock:
            self._down.add(node)
        self.feeds.add("heartbeats", [heartbeat_record(_now_ms(), node, up=False)])

    def _run(self) -> None:
        first = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                self._round(first)
                self.rounds += 1
            except Exception as error:
                # the run goes on without this round; whoever asks finds it among the errors
                self._failed(f"no round of probes: {type(error).__name__}: {error}")
            first += 1
            took = time.monotonic() - began
            self._stopping.wait(max(self.every_s / 2, self.every_s - took))

    def _round(self, first: int) -> None:
        """Ask all used nodes, another one first each time: what takes too long costs the last ones."""
        deadline = time.monotonic() + self.every_s
        targets, used = dict(self.targets()), list(self.used())
        there = {node: self._is_there(node, targets) for node in {*used, *self._last, *self._down_now()}}
        turn = first % max(1, len(used))
        probes: list[Record] = []
        heard: set[str] = set()
        try:
            for node in used[turn:] + used[:turn]:
                if self._stopping.is_set():
                    return
                if there[node] is False:
                    continue
                left = deadline - time.monotonic()
                if left <= 0:
                    self._failed(f"{node}: not asked, the others took all the time")
                    continue
                answer = self._answer(node, targets, max(_SHORTEST_LIMIT_SECONDS, left / 2))
                if answer is not None:
                    self._last[node] = answer
                    heard.add(node)
                    probes += self._round_trips(node, answer)
            self.feeds.add("heartbeats", self._beats({**there, **dict.fromkeys(heard, True)}))
        finally:
            self.feeds.add("probes", probes)

    def _answer(self, node: str, targets: Mapping[str, Address], limit_s: float) -> Answer | None:
        others = {other: address for other, address in targets.items() if other != node}
        try:
            return self.jobs.ask(node, others, limit_s)
        except NoAnswer as error:
            if not self._stopping.is_set():
                self._failed(str(error))
            return None

    def _round_trips(self, node: str, answer: Answer) -> list[Record]:
        now = _now_ms()
        for other, problem in answer.problems.items():
            self._failed(f"{node} to {other}: {problem}")
        return [
            probe_record(now, node, other, round(rtt_ms + 2 * self.delay_ms(node, other), 6))
            for other, rtt_ms in answer.rtt_ms.items()
        ]

    def _beats(self, there: Mapping[str, bool | None]) -> list[Record]:
        """A heartbeat of every node of which anything is known."""
        now = _now_ms()
        beats = []
        for node, up in sorted(there.items()):
            last = self._last.get(node)
            if up:
                with self._lock:
                    self._down.discard(node)
                if last is not None:
                    beats.append(heartbeat_record(now, node, True, last.run_queue, last.mips))
            elif node in self._down_now() or (up is False and last is not None):
                beats.append(heartbeat_record(now, node, up=False))
        return beats

    def _is_there(self, node: str, targets: Mapping[str, Address]) -> bool | None:
        """Whether a node's worker can be reached from here; None: nobody knows, it never could."""
        if not targets:
            return None
        if node not in targets:
            return False
        _, problem = round_trip_ms(targets[node])
        if problem is None:
            self._reached.add(node)
            return True
        return False if node in self._reached else None

    def _down_now(self) -> set[str]:
        with self._lock:
            return set(self._down)

    def _failed(self, line: str) -> None:
        self.failures += 1
        self.errors.append(line)


def _now_ms() -> float:
    return time.time() * 1000


# what runs on a node: it goes there by value, so it uses nothing else of berth


def probe(node: str, targets: Mapping[str, Address]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for `mapInArrow` that measures where it runs, whatever rows it gets."""

    def probed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for _ in batches:
            continue
        here = os.environ.get(NODE_VARIABLE, node)
        if here != node:
            raise RuntimeError(f"a probe of {node} ran on {here}")
        rows: list[dict[str, Any]] = []
        for other, address in targets.items():
            rtt_ms, problem = round_trip_ms(address)
            rows.append({"other": other, "rtt_ms": rtt_ms, "problem": problem})
        rows.append({"run_queue": waiting_processes(), "mips": loop_mips()})
        text, number = pyarrow.string(), pyarrow.float64()
        kinds = {"other": text, "rtt_ms": number, "problem": text, "run_queue": number, "mips": number}
        yield pyarrow.RecordBatch.from_pylist(rows, pyarrow.schema(kinds))

    return probed


def round_trip_ms(address: Address) -> tuple[float | None, str | None]:
    """The quickest of a few TCP connections, in milliseconds; or what was wrong.

    A connection is there after one round trip: the name is looked up beforehand, and nothing is sent.
    """
    quickest = None
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
        for _ in range(CONNECTIONS):
            with socket.socket(family, kind, protocol) as connection:
                connection.settimeout(CONNECT_SECONDS)
                began = time.perf_counter()
                connection.connect(place)
                took = (time.perf_counter() - began) * 1000
            quickest = took if quickest is None else min(quickest, took)
    except OSError as error:
        return None, f"{address[0]}:{address[1]}: {(error.strerror or str(error)).lower()}"
    return quickest, None


def waiting_processes() -> float:
    """The processes that wait for a processor here: the load of the last minute, less the cores."""
    return max(0.0, os.getloadavg()[0] - (os.cpu_count() or 1))


def loop_mips() -> float:
    """Million steps a second of a fixed Python loop, at its quickest.

    A step is a multiplication, an addition and a cut to 32 bits. The time is that of the processor in this
    thread: a busy machine has a long queue, not a slow processor.
    """
    quickest = min(_loop_seconds() for _ in range(LOOPS))
    return LOOP_STEPS / quickest / 1e6


def _loop_seconds() -> float:
    value = 1
    began = time.thread_time()
    for _ in range(LOOP_STEPS):
        value = (value * 1_103_515_245 + 12_345) & 0xFFFFFFFF
    return time.thread_time() - began
