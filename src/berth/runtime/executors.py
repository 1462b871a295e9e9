"""Executors on the nodes: what Spark is asked for, and getting them before there is work for them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pyspark import InheritableThread
from pyspark.resource import (
    ExecutorResourceRequests,
    ResourceProfile,
    ResourceProfileBuilder,
    TaskResourceRequests,
)
from pyspark.sql import SparkSession

from berth.model import BadInput
from berth.runtime import on_worker
from berth.runtime.cluster.access import Access
from berth.runtime.cluster.nodes import EXECUTOR_MB, resource_name
from berth.spark.internals import nodes_with_executors

_LEAST_MB = 450
_groups = itertools.count()
"""Who asks for executors gives up on those that it asked for, not on others'."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class ExecutorSize:
    """What an executor of a node gets."""

    memory: str = f"{EXECUTOR_MB}m"
    slots: int | None = None
    """Tasks at a time; None: as many as the node has room for."""

    def __post_init__(self) -> None:
        """Refuse what Spark would refuse, before anything is started.

        Raises:
            BadInput: the memory is no size, or too little.
        """
        if self.memory_mb < _LEAST_MB:
            raise BadInput(
                f"executor memory: {self.memory!r} is too little; Spark needs {_LEAST_MB}m at least"
            )

    @property
    def memory_mb(self) -> int:
        """The memory in megabytes."""
        units = {"m": 1, "g": 1024, "t": 1024**2}
        text = self.memory.strip().lower().removesuffix("b")
        if not text[:-1].isdigit() or text[-1] not in units:
            raise BadInput(f"executor memory: {self.memory!r} is no size; write 512m or 2g")
        return int(text[:-1]) * units[text[-1]]


def profiles_for(slots: Mapping[str, int], size: ExecutorSize) -> dict[str, ResourceProfile]:
    """A profile for each node: its executor takes the node's room, each task one unit of its resource."""
    return {node: _profile(node, size.slots or most, size.memory) for node, most in slots.items()}


def _profile(node: str, slots: int, memory: str) -> ResourceProfile:
    resource = resource_name(node)
    executor = ExecutorResourceRequests().cores(slots).memory(memory).resource(resource, slots)
    task = TaskResourceRequests().cpus(1).resource(resource, 1)
    return ResourceProfileBuilder().require(executor).require(task).build


def settings_for_pinning(coordinator: str, size: ExecutorSize) -> dict[str, str]:
    """The settings of a session whose stages are pinned.

    Jobs that belong to no operator (a sink that sorts, a source that looks at files) run on the coordinator
    node, in an executor of their own.
    """
    resource = resource_name(coordinator)
    return {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.initialExecutors": "0",
        # of each profile: a second one on a node would take the room of the driver's own jobs
        "spark.dynamicAllocation.maxExecutors": "1",
        # a quiet stream keeps its executors: starting them again takes longer than most pauses last
        "spark.dynamicAllocation.executorIdleTimeout": "600s",
        "spark.executor.cores": "1",
        "spark.executor.memory": size.memory,
        f"spark.executor.resource.{resource}.amount": "1",
        f"spark.task.resource.{resource}.amount": "1",
        # the stages that are planned are the stages that run
        "spark.sql.adaptive.enabled": "false",
        # an instance is one task
        "spark.sql.shuffle.partitions": "1",
        # rows in one partition meet without a shuffle, however many Spark takes them to be
        "spark.sql.maxSinglePartitionBytes": str(2**63 - 1),
        "spark.python.worker.reuse": "true",
        # of lost executors Spark should hear at once
        "spark.network.timeout": "60s",
        "spark.executor.heartbeatInterval": "5s",
        "spark.locality.wait": "0s",
    }


def start_executors(
    session: SparkSession,
    profiles: Mapping[str, ResourceProfile],
    nodes: Collection[str],
    patience_s: float,
    given_up: threading.Event,
) -> set[str]:
    """Run a task of no work on every node; returns the nodes that had no executor for it in time."""
    answered: set[str] = set()
    group = f"berth executors {next(_groups)}"
    threads = [_asking(session, group, profiles[node], node, answered) for node in nodes]
    deadline = time.monotonic() + patience_s
    while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
        if given_up.wait(_POLL_SECONDS):
            break
    missing = set(nodes) - answered
    if missing:
        session.sparkContext.cancelJobGroup(group)
    for thread in threads:
        thread.join(timeout=10)
    return set(nodes) - answered


def _asking(
    session: SparkSession, group: str, profile: ResourceProfile, node: str, answered: set[str]
) -> threading.Thread:
    def ask() -> None:
        session.sparkContext.setJobGroup(group, f"an executor on {node}", True)
        one = session.range(0, 1, 1, 1).mapInArrow(on_worker.unchanged, "id long", profile=profile)
        try:
            one.write.format("noop").mode("overwrite").save()
        except Exception:
            # cancelled, or the executor died: the node counts as one that didn't answer
            return
        answered.add(node)

    thread = InheritableThread(target=ask, name=f"berth executor {node}", daemon=True)
    thread.start()
    return thread


@dataclass
class LostNodes:
    """The nodes that can't run anything: their worker is gone or, where no master tells, their executor."""

    access: Access
    nodes: frozenset[str]
    """Those that an application may use."""
    lost_after_s: float
    """Where no master tells, the time without an executor after which a node is lost."""
    now: frozenset[str] = frozenset()
    """As of the last look."""
    _without_executor_since: dict[str, float] = field(default_factory=dict)

    def look(self, session: SparkSession | None, used: Collection[str]) -> frozenset[str]:
        """The nodes that are lost now.

        Args:
            session: where the application works; None while it doesn't.
            used: the nodes that should have an executor.
        """
        try:
            workers = self.access.workers()
        except BadInput:
            # a master that doesn't answer for a moment; executors tell the rest
            workers = None
        if workers is not None:
            self.now = self.nodes - set(workers)
        elif session is not None:
            self.now = self._without_executor(session, used)
        return self.now

    def _without_executor(self, session: SparkSession, used: Collection[str]) -> frozenset[str]:
        here = nodes_with_executors(session, {resource_name(node): node for node in self.nodes})
        now, since = time.monotonic(), self._without_executor_since
        for node in used:
            if node in here:
                since.pop(node, None)
            else:
                since.setdefault(node, now)
        return frozenset(node for node, began in since.items() if now - began > self.lost_after_s)
