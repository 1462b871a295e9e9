"""Applications and batches for tests, as if they had run: the words of their tasks, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from berth.runtime.application import Application
from berth.runtime.measures import Batch, Report
from berth.runtime.placement import Placement

START = 1_750_000_000_000.0


def chain() -> Application:
    """posts -> tag (two instances, over Arrow) -> count -> store."""
    app = Application("tag-and-count")

    @app.source
    def posts(spark: Any) -> Any:
        return spark

    @app.map_in_arrow("word string", parallelism=2)
    def tag(posts: Any) -> Any:
        return posts

    @app.operator
    def count(tag: Any) -> Any:
        return tag

    @app.sink
    def store(count: Any, batch_id: int) -> None:
        return

    return app


def fan() -> Application:
    """readings -> clean -> both store and alarm."""
    app = Application("edge")

    @app.source
    def readings(spark: Any) -> Any:
        return spark

    @app.operator(parallelism=3)
    def clean(readings: Any) -> Any:
        return readings

    @app.sink
    def store(clean: Any, batch_id: int) -> None:
        return

    @app.sink
    def alarm(clean: Any, batch_id: int) -> None:
        return

    return app


CHAIN = Placement(
    "tag-and-count",
    {"posts": ("rome",), "tag": ("paris", "tokyo"), "count": ("tokyo",), "store": ("rome",)},
)
FAN = Placement(
    "edge",
    {"readings": ("rome",), "clean": ("rome", "rome", "paris"), "store": ("paris",), "alarm": ("rome",)},
)


def report(
    operator: str,
    role: str,
    sender: str,
    node: str,
    stage: int,
    rows: int,
    *,
    instance: int = 0,
    partition: int | None = None,
    size: int | None = None,
    given: int | None = None,
    waited: float = 0.0,
    began: float = 0.0,
    took: float = 10.0,
) -> Report:
    """One task's word; times in milliseconds from the start."""
    return Report(
        operator=operator,
        role=role,
        sender=sender,
        instance=instance,
        node=node,
        planned=node,
        batch="0",
        stage=stage,
        partition=instance if partition is None else partition,
        rows_in=rows,
        bytes_in=rows * 10 if size is None else size,
        rows_out=given,
        waited_ms=waited,
        began_ms=START + began,
        ended_ms=START + began + took,
    )


def batch(
    reports: Sequence[Report],
    placement: Placement,
    run_ms: Mapping[int, float] | None = None,
    *,
    number: int = 0,
    began: float = 0.0,
    ended: float = 1000.0,
    state_bytes: Mapping[str, float] | None = None,
) -> Batch:
    """A batch that took from `began` to `ended`, in milliseconds from the start."""
    return Batch(
        number=number,
        began_ms=START + began,
        ended_ms=START + ended,
        placement=placement,
        reports=tuple(reports),
        run_ms=run_ms or {},
        state_bytes=state_bytes or {},
    )


def chain_reports(rows: int = 100, given: int = 250, counted: int = 40) -> list[Report]:
    """One batch of the chain: posts gives `rows`, tag makes `given` words of them, count `counted` lines."""
    most = rows * 3 // 4
    return [
        report("posts", "out", "posts", "rome", 1, rows, size=rows * 100),
        report("posts", "split", "posts", "rome", 2, rows, took=5),
        report("posts", "split", "posts", "rome", 3, rows, took=5),
        report("tag", "in", "posts", "paris", 4, most, given=given - 30, size=most * 100),
        report("tag", "in", "posts", "tokyo", 5, rows - most, instance=1, given=30, size=(rows - most) * 100),
        report("count", "in", "tag", "tokyo", 6, given),
        report("count", "out", "count", "tokyo", 7, counted),
        report("store", "in", "count", "rome", 8, counted),
    ]
