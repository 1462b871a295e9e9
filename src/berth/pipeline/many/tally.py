"""Counts of what is solved, task by task, from all executors."""

from __future__ import annotations

from pyspark import Accumulator, SparkContext
from pyspark.sql import SparkSession


class Tally:
    """How many variants are answered, with how many errors, and how long requests take.

    Executors add to it, the driver reads it. The counts of a task arrive when it ends; those of one that
    Spark had to run again count twice: this is for progress and for sizes of tasks, not for results.
    """

    def __init__(self, session: SparkSession) -> None:
        context = session.sparkContext
        end_in_silence(context)
        self._requests: Accumulator[int] = context.accumulator(0)
        self._solved: Accumulator[int] = context.accumulator(0)
        self._errors: Accumulator[int] = context.accumulator(0)
        self._seconds: Accumulator[float] = context.accumulator(0.0)

    def add(self, solved: int, errors: int) -> None:
        """Count answers; on executors."""
        self._solved.add(solved)
        self._errors.add(errors)

    def add_time(self, requests: int, seconds: float) -> None:
        """Count what some requests took; on executors."""
        self._requests.add(requests)
        self._seconds.add(seconds)

    @property
    def solved(self) -> int:
        """Variants answered, errors among them; on the driver, as the others."""
        return self._solved.value

    @property
    def errors(self) -> int:
        """Variants answered by an error."""
        return self._errors.value

    @property
    def seconds_each(self) -> float:
        """Seconds that a request takes; a second where that is not known."""
        return self._seconds.value / self._requests.value if self._requests.value else 1.0


def end_in_silence(context: SparkContext) -> None:
    """On Ctrl-C the JVM ends before pyspark's counter does, which would print a traceback for that."""
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda request, address: None
