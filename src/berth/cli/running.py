"""What `berth run` and `berth watch` share: the cluster they run on, their options, ending when told to."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berth.model import BadInput, Problem

if TYPE_CHECKING:
    from berth.runtime.access import Access

ClusterUrl = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="The cluster: spark://host:7077. Default: the running one of 'berth cluster start' that has the "
        "problem's nodes, else one that is started for this command.",
        metavar="URL",
    ),
]
MasterPage = Annotated[
    str | None,
    typer.Option(
        "--master-ui",
        help="The page of that cluster's master, http://host:8080; it says which nodes are up.",
        metavar="URL",
    ),
]
EmulateNetwork = Annotated[
    float | None,
    typer.Option(
        "--emulate-network",
        help="Make rows wait for the problem's delays between nodes, so many times as long: 1, or 50 where "
        "batches of a second would hide them.",
        metavar="TIMES",
    ),
]
Every = Annotated[
    float,
    typer.Option(
        "--batch-every",
        help="Seconds from one batch to the next; 0: whenever there is something.",
        metavar="S",
    ),
]
ExecutorMemory = Annotated[str, typer.Option(help="Memory of the executor on each node.", metavar="SIZE")]


@contextmanager
def cluster_access(
    problem: Problem, master: str | None, page: str | None, report: Callable[[str], None]
) -> Iterator[Access]:
    """The cluster to run on, started for the time of a `with` block where none is there.

    Raises:
        BadInput: the master is no cluster, or none can be started.
    """
    from berth.runtime.access import access_by_url, access_to
    from berth.runtime.cluster import cluster_for, temporary_cluster

    if master is not None:
        if master.startswith("local"):
            raise BadInput([f"--master {master}: has no workers to pin operators to; leave it out"])
        yield access_by_url(master, page)
        return
    running = cluster_for(problem)
    if running is not None:
        yield access_to(running)
        return
    with temporary_cluster(problem, report) as started:
        yield access_to(started)


@contextmanager
def stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM, SIGHUP) asks to stop, the second leaves at once.

    A handler may not talk to Java: it interrupts whoever does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(number, before[number])
        stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, ask)
    try:
        yield
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)


def check_numbers(emulate: float | None, batch_every: float, seconds: float | None) -> None:
    """Refuse times that make no sense.

    Raises:
        BadInput: a line for each.
    """
    mistakes = [
        f"{name}: {value} is no number {limit}"
        for name, value, fine, limit in (
            ("--emulate-network", emulate, emulate is None or 0 <= emulate < math.inf, "from 0 on"),
            ("--batch-every", batch_every, 0 <= batch_every < math.inf, "from 0 on"),
            ("--for", seconds, seconds is None or 0 < seconds < math.inf, "above 0"),
        )
        if not fine
    ]
    if mistakes:
        raise BadInput(mistakes)
