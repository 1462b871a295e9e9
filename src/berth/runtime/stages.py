"""What Spark itself knows of a batch's stages, and of the executors they ran on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


def run_ms_of(session: SparkSession, stages: Iterable[int]) -> dict[int, float]:
    """The time that the tasks of each stage took, all together; what Spark has forgotten is left out."""
    context: Any = session.sparkContext._jsc.sc()
    store = context.statusStore()
    # the store hears of a stage's end through a queue
    context.listenerBus().waitUntilEmpty()
    found = {}
    for stage in stages:
        try:
            found[stage] = float(store.lastStageAttempt(stage).executorRunTime())
        except Py4JJavaError:
            continue
    return found


def nodes_with_executors(session: SparkSession, nodes_by_resource: dict[str, str]) -> set[str]:
    """The nodes that have an executor now, by the resources that these were granted."""
    context: Any = session.sparkContext._jsc.sc()
    executors = context.statusStore().executorList(True)
    found = set()
    for number in range(executors.size()):
        resources = executors.apply(number).resources().keys().toList()
        for position in range(resources.size()):
            node = nodes_by_resource.get(str(resources.apply(position)))
            if node is not None:
                found.add(node)
    return found


def waits_for_an_executor(session: SparkSession) -> bool:
    """Whether a stage that no operator has pinned could run, and no executor is there for it."""
    context: Any = session.sparkContext._jsc.sc()
    store = context.statusStore()
    stages = store.activeStages()
    waiting = [stages.apply(number) for number in range(stages.size())]
    waiting = [stage for stage in waiting if stage.resourceProfileId() == 0]
    if not waiting or any(stage.numActiveTasks() or stage.numCompleteTasks() for stage in waiting):
        return False
    executors = store.executorList(True)
    profiles = [executors.apply(number) for number in range(executors.size())]
    return not any(each.resourceProfileId() == 0 and each.id() != "driver" for each in profiles)


class UnpinnedStages:
    """Notices stages that no operator of ours has pinned, among the jobs of one group."""

    def __init__(self, session: SparkSession, group: str) -> None:
        self._session = session
        self._group = group
        self._known = set(self._jobs())

    def since(self) -> int:
        """How many such stages have run since the last time."""
        jobs = [job for job in self._jobs() if job not in self._known]
        self._known.update(jobs)
        tracker = self._session.sparkContext.statusTracker()
        infos = [tracker.getJobInfo(job) for job in jobs]
        stages = {stage for info in infos if info is not None for stage in info.stageIds}
        context: Any = self._session.sparkContext._jsc.sc()
        store = context.statusStore()
        context.listenerBus().waitUntilEmpty()
        return sum(_ran_unpinned(store, stage) for stage in stages)

    def _jobs(self) -> list[int]:
        return list(self._session.sparkContext.statusTracker().getJobIdsForGroup(self._group))


def _ran_unpinned(store: Any, stage: int) -> bool:
    try:
        attempt = store.lastStageAttempt(stage)
    except Py4JJavaError:
        return False
    return bool(attempt.resourceProfileId() == 0 and attempt.numCompleteTasks() > 0)
