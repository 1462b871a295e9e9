"""All that changes while tuples move: tables of records, which compiled loops and Python both work on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Records = NDArray[Any]

BINS_PER_DECADE = 200
FIRST_DECADE, DECADES = -7, 13
"""Latencies are counted from 1e-7 s to 1e6 s."""

# counts, and after them settings, which stay
ORDER, WAITING, FREE, FREE_HEAD, EMITTED, SENT, JOINED, DONE, LOST, CONSUMED, EVENTS, LOGGED = range(12)
REGULAR, FIXED, PROCESSORS, IN_TURN, MOST = range(12, 17)
COUNTS = 17
# sums, and the one setting that is no whole number: the standard deviation of delays in seconds
LATENCY, WORST, TRAFFIC, IN_FLIGHT, JITTER = range(5)
SUMS = 5
OWN, NODE, SHARED = range(3)
PROCESSOR_NUMBERS = {"own": OWN, "node": NODE, "shared": SHARED}


def _record(floats: str, integers: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in floats.split()] + [(name, "i8") for name in integers.split()])


DUE = _record("time", "order code")
TUPLE = _record("birth size", "origin target hop last following")
"""`hop`, `last`: what is left of its way. `following`: the next in its queue, or the next that is free."""
INSTANCE = _record(
    "service unit gain gap due units parts since area busy started goal",
    "node server source sink order blocked losing present arrived served lost first last neighbour",
)
"""`gap`: seconds between two tuples from outside at a source, infinite if it is silent; `due`: when the next
comes, `order` its number in the heap. `source`, `sink`: its row and column in the table of latencies, or -1.
`started`, `goal`: the node's clock when its work began and is done. `first`, `last`: its outputs.
`neighbour`: the next instance on its node."""
QUEUE = _record("started", "head tail serving order")
"""A server with its queue; after the servers, what waits at blocked instances."""
NODE_RECORD = _record("clock at busy", "active order first")
"""`clock`: the work that each active instance has got; `first`: its first instance."""
OUTPUT = _record("bytes", "receiver count all way turn sent")
WAY = _record("", "first last")
"""The hops between two instances; `first` is -1 on one node."""
HOP = _record("delay", "link")
LINK = _record("bandwidth free busy wait bytes", "tuples")
PAIR = _record("sum", "count")
RESULT = _record("birth finish", "origin target")


class Work(NamedTuple):
    """What waits and is served."""

    heap: Records
    pool: Records
    instances: Records
    queues: Records
    nodes: Records
    counts: IntArray


class Net(NamedTuple):
    """What lies between instances."""

    outputs: Records
    ways: Records
    hops: Records
    links: Records


class Tally(NamedTuple):
    """What is noted of tuples that go on or are done."""

    sums: FloatArray
    pairs: Records
    """Latencies from sources (rows) to sinks (columns)."""
    histogram: IntArray
    results: Records


class State(NamedTuple):
    """Everything that a simulation is at a moment."""

    work: Work
    net: Net
    tally: Tally


def grown(work: Work, least: int) -> Work:
    """The same with room for at least so many more tuples and events."""
    size = len(work.pool)
    more = max(least, size)
    pool = np.concatenate([work.pool, np.zeros(more, dtype=TUPLE)])
    pool["following"][size:] = np.arange(size + 1, size + more + 1)
    pool["following"][-1] = work.counts[FREE_HEAD]
    work.counts[FREE_HEAD] = size
    work.counts[FREE] += more
    return work._replace(pool=pool, heap=np.concatenate([work.heap, np.zeros(2 * more, dtype=DUE)]))
