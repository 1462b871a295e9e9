"""Probes as tiny Spark jobs, each pinned to the node that it measures."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.resource import ResourceProfile
from pyspark.sql import SparkSession

from berth.runtime import probing
from berth.runtime.probing import Address, Answer, NoAnswer
from berth.spark.failure import first_cause

_AGAIN_SECONDS = 0.5
_pickling: Any = cloudpickle
_pickling.register_pickle_by_value(probing)


class ProbeJobs:
    """Asks nodes how they are, one at a time; to be used by a thread that runs no other jobs."""

    def __init__(self, session: SparkSession, profiles: Mapping[str, ResourceProfile | None]) -> None:
        self._session = session
        self._profiles = profiles
        self._name = f"berth probes {uuid.uuid4().hex[:8]}"
        self._number = 0
        self._given_up = threading.Event()

    def ask(self, node: str, others: Mapping[str, Address], limit_s: float) -> Answer:
        """Let a node measure itself and the way to others.

        Raises:
            NoAnswer: it didn't within the time, or it failed.
        """
        self._number += 1
        self._given_up.clear()
        context = self._session.sparkContext
        # a group of its own, so that giving up this job can't end the next one
        context.setJobGroup(self._group, f"berth probes {node}", interruptOnCancel=True)
        done = threading.Event()
        limit = threading.Thread(
            target=self._limit, args=(done, limit_s, self._group), name="berth limit", daemon=True
        )
        limit.start()
        try:
            measure = probing.probe(node, others)
            rows = (
                self._session.range(0, 1, 1, 1)
                .mapInArrow(measure, probing.PROBE_SCHEMA, profile=self._profiles[node])
                .collect()
            )
        except (PySparkException, Py4JError, OSError) as error:
            if self._given_up.is_set():
                raise NoAnswer(f"{node}: no answer within {limit_s:.0f} s") from error
            raise NoAnswer(f"{node}: {first_cause(error)}") from error
        finally:
            done.set()
        own = next(row for row in rows if row["other"] is None)
        reached = [row for row in rows if row["other"] is not None]
        return Answer(
            run_queue=own["run_queue"],
            mips=own["mips"],
            rtt_ms={row["other"]: row["rtt_ms"] for row in reached if row["problem"] is None},
            problems={row["other"]: row["problem"] for row in reached if row["problem"] is not None},
        )

    def give_up(self) -> None:
        """End the job that runs now, if any; it may be waiting for an executor that never comes."""
        self._end(self._group)

    def _limit(self, done: threading.Event, limit_s: float, group: str) -> None:
        wait = limit_s
        while not done.wait(wait):
            # a job that isn't known to Spark yet can't be ended: once more, until it is
            self._end(group)
            wait = _AGAIN_SECONDS

    def _end(self, group: str) -> None:
        self._given_up.set()
        try:
            self._session.sparkContext.cancelJobGroup(group)
        except (Py4JError, OSError, AttributeError):
            # the session is gone, and the job with it; AttributeError is how a stopped context says so
            return

    @property
    def _group(self) -> str:
        return f"{self._name}-{self._number}"
