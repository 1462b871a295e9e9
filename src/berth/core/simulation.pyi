from typing import Literal

import numpy as np
from numpy.typing import NDArray

BINS_PER_DECADE: int
FIRST_DECADE: int
DECADES: int

class Snapshot:
    """Everything that only grows, at a moment: what happened between two moments is the difference."""

    time: float
    inside: int
    """Tuples on their way."""
    emitted: int
    sent: int
    served: int
    joined: int
    lost: int
    results: int
    events: int
    latency_s: float
    """The sum over all results."""
    worst_latency_s: float
    traffic_bytes: float
    byte_seconds: float
    """Bytes times the time that they spend on links."""
    histogram: NDArray[np.int64]
    """Latencies of results, in classes of `1 / BINS_PER_DECADE` decades."""
    pair_latency_s: NDArray[np.float64]
    """The table of latencies, sources by sinks, row by row."""
    pair_results: NDArray[np.int64]
    output_sent: NDArray[np.int64]
    instance_arrived: NDArray[np.int64]
    instance_served: NDArray[np.int64]
    instance_lost: NDArray[np.int64]
    instance_tuple_seconds: NDArray[np.float64]
    instance_busy: NDArray[np.float64]
    node_busy: NDArray[np.float64]
    link_busy: NDArray[np.float64]
    link_wait: NDArray[np.float64]
    link_bytes: NDArray[np.float64]
    link_tuples: NDArray[np.int64]

class Machine:
    """The running system: tuples come in, are served, split over streams and cross links."""

    def __init__(
        self,
        generator: np.random.Generator,
        cores: NDArray[np.float64],
        *,
        unit: NDArray[np.float64],
        source_row: NDArray[np.int32],
        sink_column: NDArray[np.int32],
        first_output: NDArray[np.int32],
        tuple_bytes: NDArray[np.float64],
        gain: NDArray[np.float64],
        first_receiver: NDArray[np.int32],
        receivers: NDArray[np.int32],
        first_route: NDArray[np.int32],
        to_all: NDArray[np.bool_],
        processors: Literal["own", "node", "shared"],
        regular_arrivals: bool,
        fixed_service: bool,
        split_in_turn: bool,
        jitter_s: float,
        record: int,
        most_inside: int,
    ) -> None:
        """Cores by node, then arrays over instances and outputs.

        `first_output` has one more number at the end; `gain` is an output's tuples for each unit of work.

        The routes of an output's receivers follow one another from `first_route` on.
        """

    @property
    def full(self) -> bool:
        """Whether there are more tuples inside than may be."""

    @property
    def now(self) -> float:
        """The time of the last event."""

    def place(
        self,
        node: NDArray[np.int32],
        service_s: NDArray[np.float64],
        first_hop: NDArray[np.int32],
        last_hop: NDArray[np.int32],
    ) -> None:
        """Put instances on nodes (-1: it isn't computed), with a route for each receiver of each output."""

    def set_network(
        self, link: NDArray[np.int32], delay_s: NDArray[np.float64], bandwidth: NDArray[np.float64]
    ) -> None:
        """All hops and the bandwidth of all links; those that were there before keep their numbers."""

    def set_delays(self, delay_s: NDArray[np.float64]) -> None:
        """The delays of all hops."""

    def set_first_gaps(self, source: int, gaps: float) -> None:
        """When a source begins, in multiples of the time between two of its tuples."""

    def set_gap(self, source: int, gap: float, now: float) -> None:
        """The time between two tuples of a source; what is due comes sooner or later in proportion."""

    def stop(self, instance: int, losing: bool, now: float) -> None:
        """Stop an instance: its tuples are lost, or wait until it resumes and then start again."""

    def resume(self, instance: int, now: float) -> None:
        """Let an instance go on, with what has waited for it."""

    def advance(self, until: float, most_events: int) -> bool:
        """Let happen what is due before a time, at most so many events.

        False: there is more to do, or it is full.
        """

    def snapshot(self, now: float) -> Snapshot:
        """How far everything is; what is being served or transmitted counts up to now."""

    def results(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The first results: birth, finish, the source's row in the table of latencies, and the sink."""
