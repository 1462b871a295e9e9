"""The latency space's loops: see the C++ files of `space/` for what they do."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

LARGEST_ERROR: float
LEAF_SIZE: int
LEAST_HEIGHT_MS: float
LESS: float
NO_LINK: float
SHORTEST_MS: float
TOO_MANY_EVENTS: int

class Room:
    def __init__(self, needed: Floats, place_of_node: list[Numbers], room: list[Floats]) -> None: ...
    @property
    def limits(self) -> int: ...
    def put(self, unit: int, node: int) -> None: ...
    def take(self, unit: int, node: int) -> None: ...
    def fits(self, unit: int, nodes: Numbers) -> Flags: ...
    def fit_pairs(self, one: int, other: int, nodes_of_one: Numbers, nodes_of_other: Numbers) -> Flags: ...
    def overfull(self, node: int) -> bool: ...
    def copy(self) -> Room: ...

class KdTree:
    def __init__(self, points: Floats, heights: Floats, numbers: Numbers) -> None: ...
    def __len__(self) -> int: ...
    def nearest(
        self, points: Floats, count: int, room: Room | None, units: Numbers
    ) -> tuple[Numbers, Floats]: ...
    def in_ellipse(self, first: Floats, second: Floats, length: float) -> Numbers: ...

class Neighbourhoods:
    def __init__(self, rows: Numbers, offsets: Numbers, neighbours: Numbers, delays: Floats) -> None: ...
    @property
    def samples(self) -> int: ...
    @property
    def offsets(self) -> Numbers: ...
    @property
    def neighbours(self) -> Numbers: ...
    @property
    def delays(self) -> Floats: ...
    def spring(
        self,
        order: Numbers,
        positions: Floats,
        heights: Floats,
        errors: Floats,
        *,
        with_height: bool,
        c_c: float,
        c_e: float,
        generator: np.random.Generator,
    ) -> tuple[float, int]: ...
    def polish(
        self, positions: Floats, heights: Floats, *, with_height: bool, exact_ms: float, closeness: float
    ) -> float: ...

def chosen_samples(
    offsets: Numbers, delays: Floats, most: int, near: int, generator: np.random.Generator
) -> Numbers: ...

class Streams:
    def __init__(
        self,
        offsets: Numbers,
        neighbours: Numbers,
        forward: Floats,
        backward: Floats,
        sends: Flags,
        receives: Flags,
    ) -> None: ...

def usage(streams: Streams, weights: Floats, positions: Floats) -> float: ...
def to_the_middle(
    streams: Streams, weights: Floats, held: Flags, choosing: Flags, positions: Floats
) -> Numbers: ...
def at_rest(
    streams: Streams, weights: Floats, moving: Numbers, positions: Floats, tolerance: float, most_rounds: int
) -> int: ...
def relax(
    streams: Streams,
    weights: Floats,
    moving: Numbers,
    positions: Floats,
    free: Flags,
    *,
    pace: float,
    threshold: float,
    most_rounds: int,
    log_rows: int,
) -> tuple[int, int, Floats]: ...

class Ending(Enum):
    VERTEX = 0
    INTERIOR = 1
    ENDLESS = 2

def weber_point(
    points: Floats, weights: Floats, printed: bool = False
) -> tuple[Floats, Ending, int, bool]: ...
def run_events(
    streams: Streams,
    weights: Floats,
    free: Flags,
    positions: Floats,
    first: Numbers,
    *,
    tolerance: float,
    most_events: int,
    printed: bool,
    log_rows: int,
) -> tuple[dict[str, int], int, Numbers, Floats]: ...
def refine(
    streams: Streams,
    room: Room,
    *,
    numbers: Numbers,
    positions: Floats,
    extra: Floats,
    delays: Floats,
    delay_rows: Numbers,
    remembered: Floats,
    known: Flags,
    movable: Flags,
    host: Numbers,
    near: Numbers,
    may_host: Flags,
    first: Numbers,
    most_nodes: int,
    most_tries: int,
    doubt: float,
    squared: bool,
) -> tuple[Numbers, Numbers]: ...

class PlanSearch:
    def __init__(
        self,
        *,
        units: Numbers,
        nodes: Numbers,
        parents: Numbers,
        sums: Floats,
        costs: Floats,
        later: Numbers,
        earlier: Numbers,
        closing: Floats,
        room: Room,
    ) -> None: ...
    def run(self, most_steps: int) -> bool: ...
    @property
    def steps(self) -> int: ...
    @property
    def lowest(self) -> float: ...
    @property
    def best(self) -> Numbers: ...

class ApplicationPaths:
    def __init__(self, offsets: Numbers, receivers: Numbers, order: Numbers, sources: Numbers) -> None: ...
    def longest(self, hops_ms: Floats, stays_ms: Floats) -> tuple[float, Numbers, Numbers]: ...
