"""What runs around every operator on a worker: counting, refusing the wrong node, naming bad rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyspark
import pytest

from berth.runtime import on_worker
from berth.runtime.on_worker import CountingPoint
from berth.runtime.query import message_in

POINT = CountingPoint("tag", "in", "parse", (1, 3), "rome", "node_rome")


class Task:
    """A task of Spark's as far as it is asked."""

    granted: dict[str, Any] = {"node_rome": None}  # noqa: RUF012

    def resources(self) -> dict[str, Any]:
        return self.granted

    def partitionId(self) -> int:  # noqa: N802
        return 1

    def stageId(self) -> int:  # noqa: N802
        return 7

    def getLocalProperty(self, key: str) -> str:  # noqa: N802
        return "4"


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> Task:
    """The code under test runs as a task on rome."""
    here = Task()
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: here)
    monkeypatch.setenv("BERTH_NODE", "rome")
    return here


def batch(*values: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": list(values)})


def test_rows_pass_and_are_counted() -> None:
    """The report has rows, bytes, the instance of the partition and where it ran."""
    told: list[dict[str, Any]] = []
    passed = list(on_worker.counting(POINT, told.append)(iter([batch(1, 2), batch(3)])))
    assert [each.to_pydict()["value"] for each in passed] == [[1, 2], [3]]
    (report,) = told
    assert report["rows_in"] == 3
    assert report["bytes_in"] == 24
    assert report["rows_out"] is None
    assert (report["instance"], report["node"], report["planned"]) == (3, "rome", "rome")
    assert (report["batch"], report["stage"]) == ("4", 7)


@pytest.mark.parametrize(
    ("granted", "named"), [({"node_paris": None}, "paris"), ({"node_rome": None}, "paris")]
)
def test_the_wrong_node_is_an_error_before_any_row(
    task: Task, monkeypatch: pytest.MonkeyPatch, granted: dict[str, Any], named: str
) -> None:
    """By the resource that Spark granted, and by the name that the worker has."""
    monkeypatch.setattr(task, "granted", granted, raising=False)
    monkeypatch.setenv("BERTH_NODE", named)
    taken: list[Any] = []

    def rows() -> Iterator[Any]:
        taken.append(1)
        yield batch(1)

    with pytest.raises(RuntimeError) as caught:
        list(on_worker.counting(POINT, lambda report: None)(rows()))
    assert message_in(str(caught.value)) == (
        "operator tag runs elsewhere than planned: on paris, not on rome"
    )
    assert not taken


def test_functions_report_what_they_give() -> None:
    """Rows in and out of a function over batches."""
    told: list[dict[str, Any]] = []

    def twice(batches: Iterator[Any]) -> Iterator[Any]:
        for each in batches:
            yield each
            yield each

    list(on_worker.counting(POINT, told.append, twice)(iter([batch(1, 2)])))
    assert (told[0]["rows_in"], told[0]["rows_out"]) == (2, 4)


def fails_on_seven(batches: Iterator[Any]) -> Iterator[Any]:
    for each in batches:
        values = each["value"].to_pylist() if isinstance(each, pa.RecordBatch) else list(each["value"])
        if 7 in values:
            raise ValueError("seven")
        yield each


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
@pytest.mark.parametrize("place", [0, 13, 99])
def test_the_failing_row_is_found(kind: str, place: int) -> None:
    """Wherever it is in the batch."""
    values = [7 if number == place else number + 100 for number in range(100)]
    frames: list[Any] = [batch(1), batch(*values)]
    if kind == "pandas":
        frames = [each.to_pandas() for each in frames]
    with pytest.raises(RuntimeError) as caught:
        list(on_worker.counting(POINT, lambda report: None, fails_on_seven)(iter(frames)))
    assert message_in(str(caught.value)) == "operator tag failed on row {'value': 7}: ValueError: seven"


def test_a_function_that_raises_without_a_row() -> None:
    """Is named all the same."""

    def never(batches: Iterator[Any]) -> Iterator[Any]:
        raise KeyError("model.bin")
        yield

    with pytest.raises(RuntimeError, match="operator tag failed on no row: it raised before the first one"):
        list(on_worker.counting(POINT, lambda report: None, never)(iter([batch(1)])))


def test_values_of_a_failing_row_function_are_named() -> None:
    """User-defined functions get values, not rows."""
    with pytest.raises(RuntimeError) as caught:
        on_worker.naming_rows("tag", lambda value, other: value / other)(1, 0)
    text = f"Traceback ...\nRuntimeError: {caught.value}\n more"
    assert message_in(text) == "operator tag failed on row (1, 0): ZeroDivisionError: division by zero"


def test_shares_are_split_by_the_last_column() -> None:
    """And go on without it."""
    rows = pa.RecordBatch.from_pydict(
        {"value": ["a", "b", "c", "d"], "berth_instance": pa.array([0, 1, 2, 1], pa.int32())}
    )
    told: list[dict[str, Any]] = []
    point = replace(POINT, role="split", keep=(1, 2))
    (kept,) = on_worker.counting(point, told.append)(iter([rows]))
    assert kept.to_pydict() == {"value": ["b", "c", "d"]}
    assert told[0]["rows_in"] == 3


def test_columns_get_their_own_names_back() -> None:
    """Where Spark could not send them under these."""
    seen: list[Any] = []

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        for each in batches:
            seen.append(each.schema.names if isinstance(each, pa.RecordBatch) else list(each.columns))
            yield each

    point = replace(POINT, names=("a.b",))
    list(on_worker.counting(point, lambda report: None, look)(iter([batch(1)])))
    list(on_worker.counting(point, lambda report: None, look)(iter([batch(1).to_pandas()])))
    assert seen == [["a.b"], ["a.b"]]


def test_emulated_delays_are_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first rows, not for empty batches."""
    slept: list[float] = []
    monkeypatch.setattr(on_worker.time, "sleep", slept.append)
    told: list[dict[str, Any]] = []
    point = replace(POINT, wait_ms=22.0)
    list(on_worker.counting(point, told.append)(iter([batch().cast(pa.schema([("value", pa.int64())]))])))
    assert slept == []
    list(on_worker.counting(point, told.append)(iter([batch(1), batch(2)])))
    assert slept == [0.022]
    assert [report["waited_ms"] for report in told] == [0.0, 22.0]


def test_pandas_columns_weigh_what_arrow_makes_of_them() -> None:
    """Text by its characters, not by Python's objects."""
    frame = pd.DataFrame({"number": [1, 2], "text": ["abc", None]})
    assert on_worker._bytes(frame) == 16 + 3 + 8


def test_reports_are_handed_over_on_the_driver_and_added_up_on_workers() -> None:
    """So that the driver keeps none."""
    arrived: list[Any] = []
    driver = on_worker.ReportAccumulator(arrived.extend)
    assert driver.addInPlace([], [{"a": 1}]) == []
    assert arrived == [{"a": 1}]
    kind, arguments = driver.__reduce__()
    worker = kind(*arguments)
    assert worker.addInPlace([{"a": 1}], [{"b": 2}]) == [{"a": 1}, {"b": 2}]
