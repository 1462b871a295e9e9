"""How far Spark is: the tasks of the stages that run now."""

from __future__ import annotations

from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Tasks:
    """Tasks of the stages that run now: those that are done, and all."""

    done: int
    total: int


def tasks_now(session: SparkSession) -> Tasks | None:
    """The tasks of all stages that run now; None when nothing runs, or nothing any more."""
    context = session.sparkContext
    if context._jsc is None:
        return None
    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except (Py4JError, OSError, AttributeError):
        # stopped between two questions: AttributeError is how a stopped context says so
        return None
    known = [stage for stage in stages if stage is not None]
    if not known:
        return None
    return Tasks(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))
