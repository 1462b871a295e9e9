"""Everything that only grows, at a moment: what happened between two moments is the difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.simulate.state import FREE, PROCESSORS, SHARED, State

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Sums since the beginning."""

    time: float
    counts: IntArray
    sums: FloatArray
    histogram: IntArray
    pair_sum: FloatArray
    pair_count: IntArray
    sent: IntArray
    """Tuples of every output."""
    area: FloatArray
    arrived: IntArray
    served: IntArray
    lost: IntArray
    instance_busy: FloatArray
    node_busy: FloatArray
    link_busy: FloatArray
    link_wait: FloatArray
    link_bytes: FloatArray
    link_tuples: IntArray
    inside: int


def snapshot(state: State, now: float) -> Snapshot:
    """How far everything is, with what is being served or transmitted counted up to now."""
    work, links, tally = state.work, state.net.links, state.tally
    instances = work.instances
    instance_busy, node_busy = instances["busy"].copy(), work.nodes["busy"].copy()
    at_work = work.queues["serving"]
    serving = np.flatnonzero(at_work >= 0)
    who = work.pool["target"][at_work[serving]]
    node = instances["node"][who]
    if work.counts[PROCESSORS] == SHARED:
        there = work.nodes[node]
        clock = there["clock"] + (now - there["at"]) / np.maximum(there["active"], 1)
        done = clock - instances["started"][who]
    else:
        done = now - work.queues["started"][serving]
    np.add.at(instance_busy, who, done)
    np.add.at(node_busy, node, done)
    return Snapshot(
        time=now,
        counts=work.counts.copy(),
        sums=tally.sums.copy(),
        histogram=tally.histogram.copy(),
        pair_sum=tally.pairs["sum"].copy(),
        pair_count=tally.pairs["count"].copy(),
        sent=state.net.outputs["sent"].copy(),
        area=instances["area"] + instances["present"] * (now - instances["since"]),
        arrived=instances["arrived"].copy(),
        served=instances["served"].copy(),
        lost=instances["lost"].copy(),
        instance_busy=instance_busy,
        node_busy=node_busy,
        # what waits for a link is one piece of work without a gap
        link_busy=links["busy"] - np.maximum(0.0, links["free"] - now),
        link_wait=links["wait"].copy(),
        link_bytes=links["bytes"].copy(),
        link_tuples=links["tuples"].copy(),
        inside=len(work.pool) - int(work.counts[FREE]),
    )


def since(now: FloatArray | IntArray, before: FloatArray | IntArray) -> FloatArray:
    """The difference, where more of something is there now than before."""
    grown = np.zeros(len(now))
    grown[: len(before)] = before
    return np.asarray(now - grown, dtype=np.float64)
