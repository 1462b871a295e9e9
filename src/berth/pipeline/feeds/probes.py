"""Probes: how long round trips between nodes take. They measure the delays of links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.model.pair_fields import Known, PairField
from berth.pipeline.feeds.changes import Changes
from berth.pipeline.feeds.feed import DAY_MS, TIME, Evidence, Feed, Field, Measure, Rule, named
from berth.pipeline.feeds.sampling import Fault, Randomness, Sample, beside, micro
from berth.pipeline.feeds.statistics import with_level

LEAST_WILD, MOST_WILD = 5.0, 50.0
"""A wild synthetic probe takes so many times as long as it should."""


def update_links(changes: Changes, table: pd.DataFrame) -> None:
    """Put measured delays into the document, and name the links that have none."""
    _Links(changes).update(table)


class Probes(Feed):
    """Round trips between nodes."""

    name = "probes"
    fields = (
        TIME,
        named("from", "node"),
        named("to", "node"),
        Field("rtt_ms", "number", most=DAY_MS, level=True),
    )
    name_rules = (Rule("to: the same node as from", lambda: F.col("from") == F.col("to")),)
    measures = (
        Measure("links", "delay_ms", update_links),
        Measure("links", "spread_ms", smoothed=False),
    )
    faults = (Fault("to: the sender itself", columns=lambda: {"to": F.col("from")}),)

    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """Half the round trip's level; where the network is symmetric, both directions are one link."""
        probes, problem = evidence.sums_of(self), evidence.problem
        if pooled(problem):
            probes = _one_way(probes, problem)
        levels = with_level(probes, ["window", "from", "to"])
        delay, spread = (F.col("level") / 2).alias("delay_ms"), (F.col("spread") / 2).alias("spread_ms")
        return {"links": levels.select("window", "from", "to", delay, spread, "samples")}

    def slots(self, sample: Sample) -> int:
        """As many as the sample has left when all that comes in intervals is counted."""
        return sample.probes

    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """Round trips over every link in turn: log-normal noise around twice the delay, a few far above."""
        options, record = sample.options, F.col("record")
        table = _link_table(sample)
        links = len(table)
        # in turn, but far from node order: a feed with fewer probes than links still sees all nodes
        link = (record % links) * F.lit(_stride(links)) % F.lit(links)
        passed = (record + random.uniform("time", record)) / F.lit(float(sample.probes))
        joined = beside(session, lines.withColumns({"key": link, "passed": passed}), table)
        exponent = F.lit(options.noise) * random.normal("noise", record) + F.lit(options.drift) * (
            F.col("passed") - F.lit(0.5)
        )
        far = F.lit(LEAST_WILD) * F.pow(F.lit(MOST_WILD / LEAST_WILD), random.uniform("how wild", record))
        wild = F.when(random.uniform("wild", record) < F.lit(options.wild), far).otherwise(F.lit(1.0))
        return joined.withColumns(
            {
                "ts": sample.time(F.floor(F.col("passed") * F.lit(float(options.duration_ms)))),
                "rtt_ms": micro(F.lit(2.0) * F.col("delay_ms") * F.exp(exponent) * wild),
            }
        )


def pooled(problem: Problem) -> bool:
    """Whether both directions are one link: the network is symmetric, and no delay in it says otherwise."""
    if not problem.network.symmetric:
        return False
    delay = problem.network.table.delay_ms
    if isinstance(delay, PairField):
        senders, receivers, forth = delay.entries
        return np.array_equal(forth, delay[receivers, senders], equal_nan=True)
    return np.array_equal(delay, delay.T, equal_nan=True)


def _one_way(probes: DataFrame, problem: Problem) -> DataFrame:
    """Probes of both directions under one: the problem's link's, or from the earlier node to the later."""
    session, index = probes.sparkSession, problem.network.index
    place = session.createDataFrame(list(index.items()), "name string, place int")
    placed = probes.join(
        F.broadcast(place.select(F.col("name").alias("from"), F.col("place").alias("from_place"))), "from"
    ).join(F.broadcast(place.select(F.col("name").alias("to"), F.col("place").alias("to_place"))), "to")
    turned = F.col("from_place") > F.col("to_place")
    given = {(link.sender, link.receiver) for link in problem.network.links}
    backwards = [(a, b) for a, b in given if index[a] > index[b] and (b, a) not in given]
    if backwards:
        both = [(*pair, True) for a, b in backwards for pair in ((a, b), (b, a))]
        against = session.createDataFrame(both, "`from` string, `to` string, against boolean")
        placed = placed.join(F.broadcast(against), ["from", "to"], "left")
        turned = turned != F.coalesce("against", F.lit(False))
    return placed.select(
        F.when(turned, F.col("to")).otherwise(F.col("from")).alias("from"),
        F.when(turned, F.col("from")).otherwise(F.col("to")).alias("to"),
        *(name for name in probes.columns if name not in ("from", "to")),
    )


def _stride(links: int) -> int:
    """A step around a circle of links that meets all of them."""
    stride = max(1, round(0.618 * links))
    while np.gcd(stride, links) != 1:
        stride += 1
    return stride


def _link_table(sample: Sample) -> pa.Table:
    network = sample.problem.network
    linked = network.table.connected & ~np.eye(len(network.nodes), dtype=bool)
    senders, receivers = np.nonzero(linked)
    names = sample.names(network.index)
    return pa.table(
        {
            "from": pa.array(names[senders], pa.string()),
            "to": pa.array(names[receivers], pa.string()),
            "delay_ms": network.table.delay_ms[senders, receivers],
        }
    )


class _Links:
    """Delays go where the document has the link: its entry, else the matrix, else a new entry."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._one_way = pooled(changes.problem)
        self._network = changes.document["network"]
        self._index = changes.problem.network.index
        self._entries = {(entry["from"], entry["to"]): entry for entry in self._network.get("links", ())}

    def update(self, table: pd.DataFrame) -> None:
        """Put the delays in, and name the links that have none."""
        known = table[
            table["smoothed_delay_ms"].notna()
            & table["from"].isin(self._index)
            & table["to"].isin(self._index)
        ]
        senders, receivers = (known[end].map(self._index).to_numpy(np.intp) for end in ("from", "to"))
        delays = known["smoothed_delay_ms"].to_numpy(np.float64)
        table_before = self._changes.problem.network.table
        self._changes.added_links = int((~table_before.connected[senders, receivers]).sum())
        in_entries = self._update_entries(senders, receivers, delays)
        rest = ~in_entries
        self._place(senders[rest], receivers[rest], delays[rest])
        self._name_missing(senders, receivers)

    def _update_entries(self, senders: Any, receivers: Any, delays: Any) -> Any:
        """Delays of pairs that have an entry; the mask says which those were."""
        size = len(self._index)
        pairs = np.array([self._index[a] * size + self._index[b] for a, b in self._entries], dtype=np.intp)
        forward = np.isin(senders * size + receivers, pairs)
        backward = np.isin(receivers * size + senders, pairs)
        names = [node.name for node in self._changes.problem.network.nodes]
        holds = forward | (backward if self._one_way else False)
        for a, b, delay in zip(senders[holds], receivers[holds], delays[holds], strict=True):
            for pair in (
                ((names[a], names[b]), (names[b], names[a])) if self._one_way else ((names[a], names[b]),)
            ):
                if pair in self._entries:
                    self._entries[pair]["delay_ms"] = float(delay)
        return holds

    def _place(self, senders: Any, receivers: Any, delays: Any) -> None:
        """Delays of pairs without an entry."""
        network = self._changes.problem.network
        physical = network.routing == "shortest_path"
        matrix = network.matrices.get("delay_ms")
        if physical:
            linked = np.zeros(len(senders), bool) if matrix is None else ~np.isnan(matrix[senders, receivers])
            self._changes.unlinked = int((~linked).sum())
            self._changes.added_links = 0
            senders, receivers, delays = senders[linked], receivers[linked], delays[linked]
        if len(senders) == 0:
            return
        if matrix is not None or not self._entries:
            self._fill_matrix(senders, receivers, delays, matrix)
        else:
            self._append(senders, receivers, delays)

    def _fill_matrix(self, senders: Any, receivers: Any, delays: Any, before: Any) -> None:
        size = len(self._index)
        matrix = np.full((size, size), np.nan) if before is None else before.copy()
        if before is None:
            np.fill_diagonal(matrix, 0.0)
        matrix[senders, receivers] = delays
        if self._one_way:
            matrix[receivers, senders] = delays
        entries = matrix.astype(object)
        entries[np.isnan(matrix)] = None
        self._network["delay_ms"] = entries.tolist()

    def _append(self, senders: Any, receivers: Any, delays: Any) -> None:
        names = [node.name for node in self._changes.problem.network.nodes]
        links = self._network["links"]
        for a, b, delay in zip(senders, receivers, delays, strict=True):
            # an entry that held for both ways no longer does: its fields hold for this way, too
            both = self._entries.get((names[b], names[a]), {}) if self._network.get("symmetric", True) else {}
            links.append({**both, "from": names[a], "to": names[b], "delay_ms": float(delay)})

    def _name_missing(self, senders: Any, receivers: Any) -> None:
        problem = self._changes.problem
        names = [node.name for node in problem.network.nodes]
        linked = problem.network.table.connected
        if isinstance(linked, Known):
            pairs = zip(*self._unmeasured_entries(linked, senders, receivers), strict=True)
        else:
            missing = linked.copy()
            np.fill_diagonal(missing, False)
            missing[senders, receivers] = False
            if self._one_way:
                missing[receivers, senders] = False
                missing = np.triu(missing | missing.T)
            pairs = zip(*np.nonzero(missing), strict=True)
        self._changes.missing("delay_ms of links", (f"{names[a]} -> {names[b]}" for a, b in pairs))

    def _unmeasured_entries(self, linked: Known, senders: Any, receivers: Any) -> tuple[Any, Any]:
        """Of a network without matrices only what has an entry can be missing: coordinates are no links."""
        size = len(linked)
        here, there, _ = linked.field.entries
        measured = senders * size + receivers
        if self._one_way:
            here, there = np.minimum(here, there), np.maximum(here, there)
            measured = np.minimum(senders, receivers) * size + np.maximum(senders, receivers)
        return np.divmod(np.setdiff1d(here * size + there, measured), size)
