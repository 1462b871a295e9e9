"""From sums to the tables: what was measured of links, nodes, operators and streams, window by window.

Every feed fills its columns of the tables (`Feed.measured`); a table joins what its feeds say of the same
window and the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feeds import FEEDS, TABLE_KEYS
from berth.pipeline.feeds.feed import Evidence, Measure
from berth.pipeline.feeds.statistics import smoothed
from berth.pipeline.options import IngestOptions

TABLES = tuple(TABLE_KEYS)
COLUMNS: dict[str, tuple[Measure, ...]] = {
    table: tuple(
        sorted(
            (measure for feed in FEEDS for measure in feed.measures if measure.table == table),
            key=lambda measure: not measure.smoothed,
        )
    )
    for table in TABLES
}
"""What is measured for each table: first what has a moving average."""
MEASURES = {
    table: tuple(each.name for each in columns if each.smoothed) for table, columns in COLUMNS.items()
}
"""The columns that have a smoothed one beside them."""
TABLE_SCHEMAS = {
    table: ", ".join(
        ["window_start timestamp, window_end timestamp"]
        + [f"`{key}` string" for key in TABLE_KEYS[table]]
        + [f"{each.name} double" for each in columns]
        + ["samples bigint", *(f"smoothed_{name} double" for name in MEASURES[table])]
    )
    for table, columns in COLUMNS.items()
}
NEWEST_SCHEMAS = {
    table: ", ".join(
        [f"`{key}` string" for key in TABLE_KEYS[table]]
        + [f"smoothed_{name} double" for name in MEASURES[table]]
    )
    for table in TABLES
}
"""Of the newest moving averages."""
NOTHING_MEASURED = {
    table: pd.DataFrame(
        {key: pd.Series(dtype=object) for key in TABLE_KEYS[table]}
        | {f"smoothed_{name}": pd.Series(dtype=float) for name in MEASURES[table]}
    )
    for table in TABLES
}
"""The newest moving averages where nothing was measured."""


@contextmanager
def measured(evidence: Evidence) -> Iterator[dict[str, DataFrame]]:
    """The tables that there is evidence for: `window`, keys, measures and the number of samples.

    They are without their smoothed columns, and can be used as long as the `with` block lasts.
    """
    found: dict[str, list[DataFrame]] = {}
    for feed in FEEDS:
        if feed.name in evidence.sums:
            for table, rows in feed.measured(evidence).items():
                found.setdefault(table, []).append(rows)
    try:
        yield {table: _joined(table, found[table]) for table in TABLES if table in found}
    finally:
        evidence.close()


def _joined(table: str, parts: list[DataFrame]) -> DataFrame:
    """What several feeds say of the same things; a measure that none of them has is null."""
    keys = ["window", *TABLE_KEYS[table]]
    counted = []
    for number, part in enumerate(parts):
        if "samples" in part.columns:
            part = part.withColumnRenamed("samples", f"samples_{number}")
            counted.append(F.coalesce(F.col(f"samples_{number}"), F.lit(0)))
        parts[number] = part
    rows = reduce(lambda one, other: one.join(other, keys, "full"), parts)
    samples = reduce(lambda one, other: one + other, counted, F.lit(0).cast("bigint"))
    columns = [
        F.col(each.name) if each.name in rows.columns else F.lit(None).cast("double").alias(each.name)
        for each in COLUMNS[table]
    ]
    return rows.select(*keys, *columns, samples.alias("samples"))


def finished(
    table: DataFrame,
    name: str,
    options: IngestOptions,
    span: tuple[int, int],
    seeds: DataFrame | None = None,
) -> DataFrame:
    """A measured table as users see it: with smoothed columns, and with the times of its windows.

    Args:
        table: from `measured`.
        name: which table it is.
        options: the windows' length and the weight of a new one.
        span: the feed's first and last record, where there is one window over all of it.
        seeds: the averages up to the windows before these.
    """
    keys, measures = TABLE_KEYS[name], MEASURES[name]
    if options.window_ms is None:
        start, end = (F.lit(time).cast("bigint") for time in span)
        averaged = table.select("*", *(F.col(item).alias(f"smoothed_{item}") for item in measures))
    else:
        start, end = F.col("window"), F.col("window") + options.window_ms
        averaged = smoothed(table, keys, measures, options.weight, seeds)
    return averaged.select(
        F.timestamp_millis(start).alias("window_start"),
        F.timestamp_millis(end).alias("window_end"),
        *(item for item in averaged.columns if item != "window"),
    ).sortWithinPartitions("window_start", *keys)
