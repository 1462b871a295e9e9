"""Getting executors before there is work for them: all nodes at once, and those that have none are named."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyspark import InheritableThread
from pyspark.resource import ResourceProfile
from pyspark.sql import SparkSession

_GROUP = "berth executors"
_POLL_SECONDS = 0.1


def start_executors(
    session: SparkSession,
    profiles: Mapping[str, ResourceProfile],
    nodes: Collection[str],
    patience_s: float,
    given_up: threading.Event,
) -> set[str]:
    """Run a task of no work on every node; returns the nodes that had no executor for it in time."""
    answered: set[str] = set()
    threads = [_asking(session, profiles[node], node, answered) for node in nodes]
    deadline = time.monotonic() + patience_s
    while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
        if given_up.wait(_POLL_SECONDS):
            break
    missing = set(nodes) - answered
    if missing:
        session.sparkContext.cancelJobGroup(_GROUP)
    for thread in threads:
        thread.join(timeout=10)
    return set(nodes) - answered


def _asking(
    session: SparkSession, profile: ResourceProfile, node: str, answered: set[str]
) -> threading.Thread:
    def ask() -> None:
        session.sparkContext.setJobGroup(_GROUP, f"an executor on {node}", True)
        one = session.range(0, 1, 1, 1).mapInArrow(_same, "id long", profile=profile)
        try:
            one.write.format("noop").mode("overwrite").save()
        except Exception:
            # cancelled, or the executor died: the node counts as one that didn't answer
            return
        answered.add(node)

    thread = InheritableThread(target=ask, name=f"berth executor {node}", daemon=True)
    thread.start()
    return thread


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
