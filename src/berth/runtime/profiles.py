"""Spark's side of a node: the resource profile that only its worker can serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.resource import (
    ExecutorResourceRequests,
    ResourceProfile,
    ResourceProfileBuilder,
    TaskResourceRequests,
)

from berth.model import BadInput
from berth.runtime.nodes import EXECUTOR_MB, Room, resource_name

_LEAST_MB = 450


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
                [f"executor memory: {self.memory!r} is too little; Spark needs {_LEAST_MB}m at least"]
            )

    @property
    def memory_mb(self) -> int:
        """The memory in megabytes."""
        units = {"m": 1, "g": 1024, "t": 1024**2}
        text = self.memory.strip().lower().removesuffix("b")
        if not text[:-1].isdigit() or text[-1] not in units:
            raise BadInput([f"executor memory: {self.memory!r} is no size; write 512m or 2g"])
        return int(text[:-1]) * units[text[-1]]


def profiles_for(rooms: Mapping[str, Room], size: ExecutorSize) -> dict[str, ResourceProfile]:
    """A profile for each node: its executor takes the node's room, each task one unit of its resource."""
    return {node: _profile(node, size.slots or room.slots, size.memory) for node, room in rooms.items()}


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
