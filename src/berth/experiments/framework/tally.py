"""Runs done and failed, for each experiment, counted from all executors."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from berth.pipeline.many.transform import end_in_silence


@dataclass(frozen=True)
class Count:
    """Of some runs: how many, how many of them failed, and what they took."""

    done: int = 0
    failed: int = 0
    seconds: float = 0.0

    def __add__(self, other: Count) -> Count:
        return Count(self.done + other.done, self.failed + other.failed, self.seconds + other.seconds)


Counts = dict[str, Count]


class _Sum(AccumulatorParam[Counts]):
    def zero(self, value: Counts) -> Counts:
        return {}

    def addInPlace(self, value1: Counts, value2: Counts) -> Counts:  # noqa: N802
        for name, count in value2.items():
            value1[name] = value1.get(name, Count()) + count
        return value1


class Tally:
    """Executors add to it, the driver reads it. A task's counts arrive when it ends: for progress only."""

    def __init__(self, session: SparkSession) -> None:
        end_in_silence(session.sparkContext)
        self._counts: Accumulator[Counts] = session.sparkContext.accumulator({}, _Sum())

    def add(self, experiment: str, count: Count) -> None:
        """Count some runs; on executors."""
        self._counts.add({experiment: count})

    def of(self, experiment: str) -> Count:
        """What is counted of an experiment; on the driver."""
        return self._counts.value.get(experiment, Count())
