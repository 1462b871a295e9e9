"""Probes: how long round trips between nodes take. They measure the delays of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Network, Problem
from berth.model.pair_fields import Known, PairField
from berth.pipeline.feeds.changes import Changes, Document, values_of
from berth.pipeline.feeds.feed import DAY_MS, TABLE_KEYS, TIME, Evidence, Feed, Field, Measure, Rule, named
from berth.pipeline.feeds.sampling import Fault, Randomness, Sample, beside, micro
from berth.pipeline.feeds.statistics import with_level

Pair = tuple[str, str]
LEAST_WILD, MOST_WILD = 5.0, 50.0
"""A wild synthetic probe takes so many times as long as it should."""


def update_links(changes: Changes, table: pd.DataFrame) -> None:
    """Put measured delays into the document, and name the links that have none.

    Delays go where the document has the link: its entry, else the matrix, else a new entry.
    """
    network, document = changes.problem.network, changes.document["network"]
    index, one_way = network.index, pooled(changes.problem)
    found: dict[Pair, float] = values_of(table, TABLE_KEYS["links"], "delay_ms")
    delays = {pair: delay for pair, delay in found.items() if pair[0] in index and pair[1] in index}
    senders, receivers = (np.array([index[pair[end]] for pair in delays], dtype=np.intp) for end in (0, 1))
    changes.missing("delay_ms of links", _unmeasured(network, one_way, senders, receivers))
    entries = {(entry["from"], entry["to"]): entry for entry in document.get("links", ())}
    rest: dict[Pair, float] = {}
    for (sender, receiver), delay in delays.items():
        ways = ((sender, receiver), (receiver, sender)) if one_way else ((sender, receiver),)
        held = [entries[way] for way in ways if way in entries]
        for entry in held:
            entry["delay_ms"] = delay
        if not held:
            rest[sender, receiver] = delay
    matrix = network.matrices.get("delay_ms")
    if network.routing == "shortest_path":
        physical = {
            (sender, receiver): delay
            for (sender, receiver), delay in rest.items()
            if matrix is not None and not np.isnan(matrix[index[sender], index[receiver]])
        }
        changes.unlinked = len(rest) - len(physical)
        rest = physical
    else:
        changes.added_links = int((~network.table.connected[senders, receivers]).sum())
    if rest and (matrix is not None or not entries):
        _fill_matrix(document, network, rest, one_way)
    else:
        for (sender, receiver), delay in rest.items():
            # an entry that held for both ways no longer does: its fields hold for this way, too
            both = entries.get((receiver, sender), {}) if document.get("symmetric", True) else {}
            document["links"].append({**both, "from": sender, "to": receiver, "delay_ms": delay})


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


def _fill_matrix(document: Document, network: Network, delays: Mapping[Pair, float], one_way: bool) -> None:
    size, index = len(network.nodes), network.index
    before = network.matrices.get("delay_ms")
    matrix = np.where(np.eye(size, dtype=bool), 0.0, np.nan) if before is None else before.copy()
    for (sender, receiver), delay in delays.items():
        matrix[index[sender], index[receiver]] = delay
        if one_way:
            matrix[index[receiver], index[sender]] = delay
    entries = matrix.astype(object)
    entries[np.isnan(matrix)] = None
    document["delay_ms"] = entries.tolist()


def _unmeasured(network: Network, one_way: bool, senders: Any, receivers: Any) -> Iterator[str]:
    """The links without a measurement."""
    size, linked = len(network.nodes), network.table.connected
    # of a network without matrices only what has an entry can be missing: coordinates are no links
    here, there = linked.field.entries[:2] if isinstance(linked, Known) else np.nonzero(linked)
    if one_way:
        here, there = np.minimum(here, there), np.maximum(here, there)
        senders, receivers = np.minimum(senders, receivers), np.maximum(senders, receivers)
    pairs = (here * size + there)[here != there]
    for pair in np.setdiff1d(pairs, senders * size + receivers).tolist():
        yield f"{network.nodes[pair // size].name} -> {network.nodes[pair % size].name}"
