"""What a probe does on a node: round trips to the others, the load, the speed of its processor.

These functions go to the workers by value: berth need not be installed there, and nothing here imports it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Address = tuple[str, int]

SCHEMA = "other string, rtt_ms double, problem string, run_queue double, mips double"
"""A row for the node itself, without `other`, and one for each node that it tried to reach."""

NODE_VARIABLE = "BERTH_NODE"
CONNECTIONS = 3
"""To each node; the quickest counts."""
CONNECT_SECONDS = 1.0
LOOPS = 5
LOOP_STEPS = 20_000


def probe(node: str, targets: Mapping[str, Address]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for `mapInArrow` that measures where it runs, whatever rows it gets."""

    def probed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for _ in batches:
            continue
        here = os.environ.get(NODE_VARIABLE, node)
        if here != node:
            raise RuntimeError(f"a probe of {node} ran on {here}")
        rows = [_row(other, *round_trip_ms(address)) for other, address in targets.items()]
        rows.append({**_row(None, None, None), "run_queue": waiting_processes(), "mips": loop_mips()})
        columns = {
            name: pyarrow.array([row[name] for row in rows], kind)
            for name, kind in (
                ("other", pyarrow.string()),
                ("rtt_ms", pyarrow.float64()),
                ("problem", pyarrow.string()),
                ("run_queue", pyarrow.float64()),
                ("mips", pyarrow.float64()),
            )
        }
        yield pyarrow.RecordBatch.from_pydict(columns)

    return probed


def _row(other: str | None, rtt_ms: float | None, problem: str | None) -> dict[str, Any]:
    return {"other": other, "rtt_ms": rtt_ms, "problem": problem, "run_queue": None, "mips": None}


def round_trip_ms(address: Address) -> tuple[float | None, str | None]:
    """The quickest of a few TCP connections, in milliseconds; or what was wrong.

    A connection is there after one round trip: the name is looked up beforehand, and nothing is sent.
    """
    quickest = None
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
        for _ in range(CONNECTIONS):
            with socket.socket(family, kind, protocol) as connection:
                connection.settimeout(CONNECT_SECONDS)
                began = time.perf_counter()
                connection.connect(place)
                took = (time.perf_counter() - began) * 1000
            quickest = took if quickest is None else min(quickest, took)
    except OSError as error:
        return None, f"{address[0]}:{address[1]}: {(error.strerror or str(error)).lower()}"
    return quickest, None


def waiting_processes() -> float:
    """The processes that wait for a processor here: the load of the last minute, less the cores."""
    return max(0.0, os.getloadavg()[0] - (os.cpu_count() or 1))


def loop_mips() -> float:
    """Million steps a second of a fixed Python loop, at its quickest.

    A step is a multiplication, an addition and a cut to 32 bits. The time is that of the processor in this
    thread: a busy machine has a long queue, not a slow processor.
    """
    quickest = min(_loop_seconds() for _ in range(LOOPS))
    return LOOP_STEPS / quickest / 1e6


def _loop_seconds() -> float:
    value = 1
    began = time.thread_time()
    for _ in range(LOOP_STEPS):
        value = (value * 1_103_515_245 + 12_345) & 0xFFFFFFFF
    return time.thread_time() - began
