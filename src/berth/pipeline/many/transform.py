"""The transformation: requests in, plans out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from berth.pipeline.many.isolation import SolverProcess
from berth.pipeline.many.schema import PLANS, REQUESTS
from berth.pipeline.many.solver import Row, Terms
from berth.pipeline.many.tally import Tally

Batches = Iterable[pa.RecordBatch]

FLUSH_ROWS = 64


def solve_many(requests: DataFrame, terms: Terms, tally: Tally | None = None) -> DataFrame:
    """The plans of some requests.

    Args:
        requests: the columns of `REQUESTS`; each row is solved as a whole, in the partition that it is in.
        terms: time limit and objective.
        tally: counts what is answered.

    Returns:
        The columns of `PLANS`, a row for each variant of each request. Nothing that a problem or a policy
        does fails the job: it is in the row's `error`.
    """
    wanted = requests.select(*REQUESTS.fieldNames())
    return wanted.mapInArrow(answering(terms, tally), PLANS)


def answering(terms: Terms, tally: Tally | None = None) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What each task does with its batches of requests."""

    def answer(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(PLANS)
        solver = _solver()
        for batch in batches:
            requests = batch.to_pylist()
            warm, began, rows = solver.warm, time.monotonic(), []
            for row in solver.answers(requests, terms):
                rows.append(row)
                if len(rows) >= FLUSH_ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema)
                    _count(tally, rows)
                    rows = []
            if tally is not None and warm:
                tally.add_time(len(requests), time.monotonic() - began)
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema)
                _count(tally, rows)

    return answer


def _count(tally: Tally | None, rows: list[Row]) -> None:
    if tally is not None:
        tally.add(len(rows), sum(row.get("error") is not None for row in rows))


@cache
def _solver() -> SolverProcess:
    """The one of this Python worker. What it needs is loaded before it is forked: a new one has it, too."""
    import berth.exact.general  # noqa: F401

    return SolverProcess()
