"""A running application: started by a plan, watched, moved to another plan, ended."""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from berth.files.document import held
from berth.model import BadInput, Plan, Problem
from berth.runtime import executors, on_worker, probing
from berth.runtime.application import Application
from berth.runtime.cluster.access import Access, check_nodes, slots_for
from berth.runtime.cluster.nodes import resource_name
from berth.runtime.executors import ExecutorSize, LostNodes, profiles_for, settings_for_pinning
from berth.runtime.feeds import Feeds
from berth.runtime.loading import own_modules
from berth.runtime.measures import Batch, BatchMeasures, Reports, measured
from berth.runtime.observer import RunFailed
from berth.runtime.placement import Placement, placement_of
from berth.runtime.probe_jobs import ProbeJobs
from berth.runtime.probing import Prober
from berth.runtime.query import Query, check_state
from berth.runtime.weave import Weaver
from berth.spark import spark_session
from berth.spark.internals import waits_for_an_executor

RUNNING, NODE_LOST = "running", "node lost"
FINISHED, FAILED, STOPPED = ENDS = ("finished", "failed", "stopped")
"""What `Run.wait` says: these two while it runs, one of the others when it is over."""
_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Migration:
    """One move from a plan to the next on the same checkpoint."""

    moved: Mapping[str, tuple[str, str]]
    """For every instance that changed its node, the nodes before and after."""
    pause_seconds: float
    """From stopping until the first batch by the new plan was done."""
    state_bytes: float
    """The state of the operators that moved."""


class MigrationFailed(Exception):  # noqa: N818
    """An application could not go on by a new plan; its checkpoint is whole, so another one may be tried."""


@dataclass(frozen=True)
class RunOptions:
    """How an application runs."""

    emulate: float | None = None
    """Wait for the problem's delays between nodes, so many times as long; None: the network as it is."""
    every_s: float = 0.0
    """Seconds from one batch to the next; 0: as soon as there is something."""
    once: bool = False
    """Take what is there now, then end."""
    patience_s: float = 90.0
    """For how long a node may take to give an executor."""
    lost_after_s: float = 20.0
    """Where no master tells: the time without an executor after which a node in use counts as lost."""
    probe_every_s: float = 10.0
    executor: ExecutorSize = field(default_factory=ExecutorSize)
    settings: Mapping[str, str] | None = None
    """More settings of Spark."""
    secret_file: Path | None = None
    """That has the secret of somebody else's cluster; None: the one that BERTH_CLUSTER_SECRET_FILE names."""
    encrypt: bool = False
    """Whether the processes of such a cluster encrypt what they say to each other."""
    fresh: bool = False
    """Begin anew: drop checkpoint and telemetry of earlier runs in the folder."""
    seconds: float | None = None
    """End after so long; None: when the application ends, or is stopped."""

    def __post_init__(self) -> None:
        mistakes = [
            f"{option}: {value} is no number {limit}"
            for option, value, least, limit in (
                ("--emulate-network", self.emulate, 0.0, "from 0 on"),
                ("--batch-every", self.every_s, 0.0, "from 0 on"),
                ("--for", self.seconds, math.ulp(0.0), "above 0"),
            )
            if value is not None and not least <= value < math.inf
        ]
        if mistakes:
            raise BadInput(mistakes)


@dataclass
class Run:
    """An application that runs by a plan, for the time of a `with` block.

    Everything that can be checked without Spark is checked when it is made; `with` starts it.

    Raises:
        BadInput: the plan is not one for this application.
    """

    application: Application
    problem: Problem
    """What says which nodes there are and what is between them."""
    plan: InitVar[Plan]
    access: Access
    """The cluster."""
    folder: Path
    """For checkpoint and telemetry."""
    options: RunOptions
    observe: Callable[[BatchMeasures], None]
    """Hears of every batch that is done."""
    report: Callable[[str], None] = lambda text: None
    """Hears what is being done, in a few words."""

    def __post_init__(self, plan: Plan) -> None:
        self._placement = placement_of(self.application, self.problem, plan)
        hosting = frozenset(node.name for node in self.problem.network.nodes if node.hosts)
        self._lost_nodes = LostNodes(self.access, hosting, self.options.lost_after_s)
        self._until_the_end = ExitStack()
        self._session_until = ExitStack()
        self._session: SparkSession | None = None
        self._query: Query | None = None
        self._prober: Prober | None = None
        self._asking: threading.Thread | None = None
        self._coordinator = ""
        self._stopping = threading.Event()
        self._waiting_since: float | None = None
        self._last_state: dict[str, float] = {}

    @property
    def placement(self) -> Placement:
        """Where everything is planned to run now."""
        return self._placement

    @property
    def telemetry(self) -> Path:
        """The folder with the four feeds."""
        return self.folder / "telemetry"

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.callback(self._close)
            self._until_the_end.enter_context(held(self.folder, private=True))
            if self.options.fresh:
                _forget(self.folder)
            self._feeds = self._until_the_end.enter_context(Feeds(self.telemetry, self.application))
            self._start_session(self._placement)
            self._start_query(self._placement)
            undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(kind, error, trace)

    def stop(self) -> None:
        """Make `wait` return `stopped`; from any thread, also from a signal handler."""
        self._stopping.set()

    def wait(self, seconds: float) -> str:
        """Let it run: `running` after so long, or earlier `node lost`, `finished`, `failed` or `stopped`."""
        deadline = time.monotonic() + seconds
        known = self._lost_nodes.now
        while True:
            left = deadline - time.monotonic()
            if self._stopping.is_set():
                return STOPPED
            if self._query is not None and self._query.wait(max(0.05, min(left, _LOOK_SECONDS))):
                return FAILED if self._query.error else FINISHED
            if self._query is not None and self._waits_in_vain():
                self._query.error = RunFailed(self._why_no_coordinator())
                return FAILED
            if self._query is None:
                self._stopping.wait(max(0.0, min(left, _LOOK_SECONDS)))
            if self._look() - known:
                return NODE_LOST
            if left <= 0:
                return RUNNING
            if self._query is None or self._query.idle:
                self._feeds.idle(time.time() * 1000)

    def flush(self) -> None:
        """Write all telemetry that there is, for those who want to read it now."""
        self._feeds.flush()

    @property
    def error(self) -> RunFailed | None:
        """Why it failed, if it did."""
        return self._query.error if self._query is not None else None

    def dead_nodes(self) -> set[str]:
        """The nodes of the problem whose worker is gone, or that can't give an executor."""
        return set(self._look())

    def state_bytes(self) -> dict[str, float]:
        """The state of every operator, all its instances together."""
        if self._query is not None:
            self._last_state |= self._query.state_bytes()
        return dict(self._last_state)

    def stand_by(self, nodes: Collection[str]) -> None:
        """Have executors on more nodes than are used, so that a move there waits for none; in its own time.

        To be said again from time to time: Spark ends executors that have nothing to do for ten minutes.
        """
        session, lost = self._session, self._lost_nodes.now
        waiting = [node for node in nodes if node not in self._placement.used and node not in lost]
        if session is None or not waiting or (self._asking is not None and self._asking.is_alive()):
            return
        self._asking = threading.Thread(
            target=executors.start_executors,
            args=(session, self._profiles, waiting, self.options.patience_s, self._stopping),
            name="berth executors to stand by",
            daemon=True,
        )
        self._asking.start()

    def apply(self, plan: Plan) -> Migration:
        """Stop, and start again by another plan on the same checkpoint.

        Returns when the first batch by that plan is done, or when it runs and there is nothing to do.

        Raises:
            BadInput: the plan is not one for this application.
            MigrationFailed: it doesn't run by that plan; it stands still.
        """
        placement = placement_of(self.application, self.problem, plan)
        moved = self._placement.moves(placement)
        dead = self.dead_nodes()
        states = self.state_bytes()
        same = _coordinator_of(self.application, placement) == self._coordinator
        ready = self._session is not None and same and not dead.intersection(self._placement.used)
        if ready:
            # while the old plan still runs
            self._prepare(placement)
        began = time.monotonic()
        self.report("stopping")
        self._stop_query()
        try:
            if self._session is None or not same:
                self._end_session()
                self._start_session(placement)
            elif not ready:
                self._prepare(placement)
            self._start_query(placement)
            self._await_first_batch()
        except (BadInput, RunFailed) as error:
            self._stop_query()
            raise MigrationFailed("; ".join(str(error).splitlines())) from error
        share = {name: moved_share(name, placement, moved) for name in states}
        state = sum(states[name] * share[name] for name in states)
        return Migration(moved, time.monotonic() - began, state)

    def _start_session(self, placement: Placement) -> None:
        workers = self.access.workers()
        check_nodes(self.access, placement.used, workers, self.options.executor.memory_mb)
        self._coordinator = _coordinator_of(self.application, placement)
        settings = settings_for_pinning(self._coordinator, self.options.executor)
        if self.access.master_url.startswith("spark://127.0.0.1:"):
            settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        settings |= self.access.settings() | dict(self.options.settings or {})
        self.report("starting Spark")
        self._session = self._session_until.enter_context(
            spark_session(self.access.master_url, name=f"berth {self.application.name}", settings=settings)
        )
        if self.application.reload is not None:
            self.application = self.application.reload()
        for module in (on_worker, probing, *own_modules(self.application)):
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        self._profiles = profiles_for(slots_for(self.problem, workers), self.options.executor)
        self._reports = Reports(self._session)
        self._prepare(placement)
        if self.options.probe_every_s > 0:
            jobs = ProbeJobs(self._session, self._profiles)
            self._prober = self._prober or self._new_prober(jobs)
            self._prober.start(jobs)
            self._session_until.callback(self._prober.stop)

    def _new_prober(self, jobs: ProbeJobs) -> Prober:
        """One for the whole run: it remembers the nodes that were used before."""
        return Prober(
            jobs,
            lambda: set(self._placement.used) - self._lost_nodes.now,
            self._targets,
            self._emulated_ms,
            self._feeds,
            self.options.probe_every_s,
        )

    def _end_session(self) -> None:
        self._session = None
        self._session_until.close()

    def _prepare(self, placement: Placement) -> None:
        """Executors for all nodes of a placement."""
        if self._session is None:
            raise RunFailed("no session")
        self.report(f"starting executors on {', '.join(placement.used)}")
        missing = executors.start_executors(
            self._session, self._profiles, placement.used, self.options.patience_s, self._stopping
        )
        if missing and not self._stopping.is_set():
            raise BadInput([self._why_missing(node) for node in placement.used if node in missing])

    def _why_missing(self, node: str) -> str:
        return (
            f"node {node}: no executor within {self.options.patience_s:.0f} s: its worker has to offer "
            f"{resource_name(node)!r}, a free core and {self.options.executor.memory} of memory"
        )

    def _waits_in_vain(self) -> bool:
        """Whether a stage that is no operator's has been waiting too long for an executor of its own."""
        if self._session is None or not waits_for_an_executor(self._session):
            self._waiting_since = None
            return False
        self._waiting_since = self._waiting_since or time.monotonic()
        return time.monotonic() - self._waiting_since > self.options.patience_s

    def _why_no_coordinator(self) -> str:
        return (
            f"node {self._coordinator}: no executor within {self.options.patience_s:.0f} s for what is no "
            "operator's (a sink that sorts, a source that lists files): its worker has to offer one "
            f"unit of {resource_name(self._coordinator)!r}, one core and {self.options.executor.memory} of "
            "memory more"
        )

    def _start_query(self, placement: Placement) -> None:
        if self._session is None:
            raise RunFailed("no session")
        self.report("starting the application")
        weaver = Weaver(
            self._session, self.application, placement, self._profiles, self._reports.send, self._emulated_ms
        )
        checkpoint = self.folder / "checkpoint"
        check_state(self.folder, weaver, fresh=not checkpoint.exists())
        self._query = Query(
            weaver,
            self._reports,
            self._batch_done,
            checkpoint,
            self._coordinator,
            self.options.every_s,
            self.options.once,
        )
        self._warming = True
        self._placement = placement
        self._query.start()

    def _batch_done(self, batch: Batch) -> None:
        measures = measured(batch, self.application, warming_up=self._warming)
        self._warming = False
        self._feeds.batch(measures)
        self.observe(measures)

    def _stop_query(self) -> None:
        if self._query is not None:
            self._last_state |= self._query.state_bytes()
            self._query.stop()
            self._query = None

    def _await_first_batch(self) -> None:
        query = self._query
        if query is None:
            raise RunFailed("not started")
        while query.batches == 0 and not query.idle:
            if query.wait(0.05):
                if query.error is not None:
                    raise query.error
                return
            if self._stopping.is_set():
                return
            lost = self._look().intersection(self._placement.used)
            if lost:
                raise RunFailed(f"node {', '.join(sorted(lost))} was lost while the new plan started")

    def _emulated_ms(self, sender: str, receiver: str) -> float:
        if self.options.emulate is None or sender == receiver:
            return 0.0
        index = self.problem.network.index
        delay = float(self.problem.network.table.delay_ms[index[sender], index[receiver]])
        return 0.0 if math.isnan(delay) else delay * self.options.emulate

    def _targets(self) -> dict[str, tuple[str, int]]:
        workers = self.access.workers() or {}
        return {node: (worker.host, worker.port) for node, worker in workers.items()}

    def _look(self) -> frozenset[str]:
        """The nodes that are lost now; those that weren't before are noted in the telemetry."""
        before = self._lost_nodes.now
        working = self._session if self._query is not None else None
        lost = self._lost_nodes.look(working, self._placement.used)
        for node in lost - before:
            if self._prober is not None:
                self._prober.node_down(node)
        return lost

    def _close(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """End everything; with an error that came out of Spark, the session may put it into words."""
        with ExitStack() as last:
            last.push(self._until_the_end)
            last.push(self._session_until)
            if kind is None or not issubclass(kind, (KeyboardInterrupt, SystemExit)):
                last.callback(self._stop_query)
            last.__exit__(kind, error, trace)


def _coordinator_of(application: Application, placement: Placement) -> str:
    """The node for jobs that belong to no operator: where the first sink runs."""
    sink = next(each.name for each in application.operators.values() if each.kind == "sink")
    return placement.nodes[sink][0]


def moved_share(operator: str, placement: Placement, moved: Mapping[str, tuple[str, str]]) -> float:
    """The part of an operator's instances that moved."""
    instances = [name for name in moved if name.partition("#")[0] == operator]
    return len(instances) / placement.parallelism(operator)


def _forget(folder: Path) -> None:
    """Drop the checkpoint and telemetry of earlier runs: the next one begins anew."""
    for name in ("checkpoint", "telemetry"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "run.json").unlink(missing_ok=True)
