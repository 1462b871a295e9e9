"""When nodes are up, from the times of their heartbeats; and when those of a synthetic feed are.

Between two heartbeats a node is what the first one says. Silence longer than three of its intervals (the
median between its heartbeats) is an outage that begins one interval after the last sign of life. Before a
node's first and after its last heartbeat there is silence, too, from the feed's first record to its last.

The times are kept as pieces: what lies between two heartbeats, cut at the ends of windows, with equal
pieces counted. Pieces can be added up like sums, and whether a silence is an outage can be decided at the
end, when the node's interval is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feeds.statistics import window_of

LONGEST_SILENCE = 3
"""In intervals of the node; what is longer is an outage."""

LOOK_BACK = 100
"""Windows that tell a node's interval and the reference for speeds: it, and so many before it."""
LEAST_GAPS = 3
"""Between heartbeats, that tell a node's interval in windows; with fewer, the other nodes have a say."""
MOST_WINDOWS = 100
"""That a gap is cut into by listing them all."""

PIECE_KEYS = ("window", "node", "up", "gap", "offset", "length", "edge")
PIECES = (
    "window bigint, node string, up boolean, gap bigint, offset bigint, length bigint, edge boolean, n bigint"
)
BEATS = "node string, ts bigint, up boolean"
INTERVALS = "window bigint, node string, own double, n bigint"
ENDS = "node string, first struct<ts: bigint, up: boolean>, last struct<ts: bigint, up: boolean>"


def ends_of(beats: DataFrame) -> DataFrame:
    """Every node's first and last heartbeat; also merges rows that are such ends already."""
    if "first" not in beats.columns:
        beat = F.struct("ts", "up")
        beats = beats.select("node", beat.alias("first"), beat.alias("last"))
    return beats.groupBy("node").agg(F.min("first").alias("first"), F.max("last").alias("last"))


def with_next(beats: DataFrame) -> DataFrame:
    """Every heartbeat with the time of the node's `next` one; null for the last."""
    order = Window.partitionBy("node").orderBy("ts", "up")
    return beats.withColumn("next", F.lead("ts").over(order))


def pieces_of(followed: DataFrame, heartbeats: DataFrame, window_ms: int | None) -> DataFrame:
    """The times between heartbeats and the `next` ones, in the windows that have sums of heartbeats."""
    gaps = followed.where(F.col("next") > F.col("ts"))
    return merged_pieces(_cut(gaps.withColumn("edge", F.lit(False)), heartbeats, window_ms))


def merged_pieces(pieces: DataFrame) -> DataFrame:
    """Equal pieces counted together."""
    return pieces.groupBy(*PIECE_KEYS).agg(F.sum("n").alias("n"))


def pieces_to_the_ends(
    beats: DataFrame, ends: DataFrame, heartbeats: DataFrame, window_ms: int | None
) -> DataFrame:
    """The times between heartbeats, and those before each node's first and after its last, within the feed.

    Args:
        beats: every single heartbeat.
        ends: every node's first and last heartbeat, from `ends_of`.
        heartbeats: their sums; no other windows are looked at.
        window_ms: the windows' length.
    """
    feed = ends.agg(F.min("first.ts").alias("feed_first"), F.max("last.ts").alias("feed_last"))
    known = ends.crossJoin(F.broadcast(feed))
    before = known.select(
        "node", F.col("feed_first").alias("ts"), "first.up", F.col("first.ts").alias("next")
    )
    after = known.select("node", "last.ts", "last.up", F.col("feed_last").alias("next"))
    gaps = before.unionByName(after).where(F.col("next") > F.col("ts"))
    edges = _cut(gaps.withColumn("edge", F.lit(True)), heartbeats, window_ms)
    return pieces_of(with_next(beats), heartbeats, window_ms).unionByName(edges)


def _cut(gaps: DataFrame, heartbeats: DataFrame, window_ms: int | None) -> DataFrame:
    """Gaps as pieces, cut at the ends of windows."""
    start, end = F.col("ts"), F.col("next")
    if window_ms is None:
        gaps = gaps.withColumn("window", F.lit(0).cast("bigint"))
    else:
        gaps = _in_windows(gaps, window_ms, heartbeats.select("window").distinct())
        start, end = F.greatest(start, F.col("window")), F.least(end, F.col("window") + window_ms)
    return gaps.select(
        "window",
        "node",
        "up",
        (F.col("next") - F.col("ts")).alias("gap"),
        (start - F.col("ts")).alias("offset"),
        (end - start).alias("length"),
        "edge",
        F.lit(1).cast("bigint").alias("n"),
    )


def _in_windows(gaps: DataFrame, length_ms: int, starts: DataFrame) -> DataFrame:
    """A row for each gap and window that it has a part in."""
    first, last = window_of(F.col("ts"), length_ms), window_of(F.col("next") - 1, length_ms)
    known = F.broadcast(starts)
    few = last - first <= MOST_WINDOWS * length_ms
    listed = F.explode(F.sequence(first, last, F.lit(length_ms)))
    short = gaps.where(few).withColumn("window", listed).join(known, "window", "left_semi")
    # a clock that was wrong by years makes a gap of millions of windows: only those that exist are looked at
    bounds = gaps.where(~few).select("*", first.alias("first_window"), last.alias("last_window"))
    long = bounds.join(known, F.col("window").between(F.col("first_window"), F.col("last_window")))
    return short.unionByName(long.select(*short.columns))


def own_intervals(pieces: DataFrame) -> DataFrame:
    """window, node, `own`, `n`: the median of a node's n times between heartbeats; null where n is 0."""
    # the edges of the feed and what a window only sees the rest of don't tell a node's interval
    tells = ~F.col("edge") & (F.col("offset") == 0)
    return pieces.groupBy("window", "node").agg(
        F.percentile(F.when(tells, F.col("gap")), F.lit(0.5), F.col("n")).alias("own"),
        F.coalesce(F.sum(F.when(tells, F.col("n"))), F.lit(0)).alias("n"),
        F.min("offset").alias("offset"),
    )


def looking_back(rows: WindowSpec, window_ms: int | None) -> WindowSpec:
    """A window and those before it, as far as they are looked at."""
    return rows.orderBy("window").rangeBetween(-LOOK_BACK * (window_ms or 0), 0)


def availability_of(pieces: DataFrame, past: DataFrame, window_ms: int | None) -> DataFrame:
    """window, node, interval_ms, availability; null where nothing tells how long a silence may be.

    A node's interval in a window is the median over that window and those before it: a window may have few
    heartbeats, and none of later windows is known when a follower closes it.

    Args:
        pieces: the times between heartbeats.
        past: the intervals of windows before these.
        window_ms: the windows' length; None: over all time a node's own heartbeats decide, be they few.
    """
    now = own_intervals(pieces)
    before = past.withColumn("offset", F.lit(0).cast("bigint"))
    first = now.agg(F.min("window").alias("first"))
    so_far = looking_back(Window.partitionBy("node"), window_ms)
    running = F.percentile("own", F.lit(0.5), F.col("n")).over(so_far)
    usual = F.percentile("running", F.lit(0.5)).over(Window.partitionBy("window"))
    enough = F.col("gaps") >= (1 if window_ms is None else LEAST_GAPS)
    interval = F.when(enough, F.col("running")).otherwise(F.least("running", usual))
    # where nobody's interval is known, a silence that fills a window is an outage
    silent = F.when(F.col("offset") > 0, 0.0)
    intervals = (
        now.unionByName(before)
        .crossJoin(F.broadcast(first))
        .select("*", running.alias("running"), F.sum("n").over(so_far).alias("gaps"))
        .where(F.col("window") >= F.col("first"))
        .select("window", "node", F.coalesce(interval, silent).alias("interval_ms"))
    )
    up_ms = F.sum(F.col("n") * F.when(F.col("up"), _up_ms(F.col("interval_ms"))).otherwise(0.0))
    share = up_ms / F.sum(F.col("n") * F.col("length"))
    return (
        pieces.join(intervals, ["window", "node"])
        .groupBy("window", "node")
        .agg(
            F.first("interval_ms").alias("interval_ms"),
            F.when(F.count("interval_ms") > 0, share).alias("availability"),
        )
    )


def _up_ms(interval: Column) -> Column:
    """How long a piece behind a sign of life counts as up."""
    rest = F.greatest(F.lit(0.0), F.least(F.col("length").cast("double"), interval - F.col("offset")))
    return F.when(F.col("gap") > LONGEST_SILENCE * interval, rest).otherwise(F.col("length").cast("double"))


IntArray = NDArray[np.int64]

SPELL = 4
"""The shortest spell to aim at: silence counts as an outage from 3 missed heartbeats on."""
SHORTEST_SILENCE = 3
PERIOD = 60
"""Heartbeats in a period, at least, where a node has more than one spell."""


@dataclass(frozen=True, eq=False)
class Outages:
    """When the nodes of a synthetic feed are down: in as many heartbeats as their availability says.

    `down` counts each node's heartbeats in which it is down, `periods` share them out.
    Of the heartbeats 0 to `ticks`, the first and the last are there and `up`, so that the feed has the same
    ends for every node. Those between fall into equal periods with one spell in each. Spells take turns: in
    one the node is silent, in the next it says that it isn't up. A node that is down all the time says so in
    every heartbeat.
    """

    ticks: int
    down: IntArray
    periods: IntArray

    @property
    def period_length(self) -> IntArray:
        """Heartbeats in each node's periods."""
        return np.asarray(max(self.ticks - 1, 1) // self.periods)

    @property
    def always(self) -> NDArray[np.bool_]:
        """The nodes that are never up."""
        return self.down >= self.ticks

    @property
    def may_be_silent(self) -> NDArray[np.bool_]:
        """The nodes whose spells are long enough for silence to be seen as an outage."""
        return (self.down >= SHORTEST_SILENCE) & ~self.always

    @property
    def records(self) -> int:
        """Heartbeats of all nodes, the missed ones left out."""
        node = np.repeat(np.arange(len(self.down)), self.periods)
        period = np.arange(len(node)) - np.repeat(np.cumsum(self.periods) - self.periods, self.periods)
        down, periods = self.down[node], self.periods[node]
        spell = down * (period + 1) // periods - down * period // periods
        silent = self.may_be_silent[node] & ((node + period) % 2 == 0)
        return len(self.down) * (self.ticks + 1) - int(spell[silent].sum())


def outages_of(availability: NDArray[np.float64], ticks: int) -> Outages:
    """The outages that give each node its availability, to the nearest heartbeat."""
    down = np.rint((1.0 - availability) * ticks).astype(np.int64)
    several = np.minimum(ticks // PERIOD, down // SPELL)
    # a node that is down more than half the time has one long spell: it might not fit into parts
    periods = np.where(2 * down < ticks, np.maximum(several, 1), 1)
    return Outages(ticks, down, periods.astype(np.int64))
