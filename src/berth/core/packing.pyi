"""The tree search for packings: see the C++ files of `packing/` for what it does."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

EQUAL: float
NO: int
PLAIN: int
PREFERRED: int

class SharedLimit:
    def __init__(self, needed: Floats, place_of_bin: Numbers, room: Floats) -> None: ...

class Case:
    def __init__(
        self,
        *,
        members: Numbers,
        need: Floats,
        room: Floats,
        traffic: Floats,
        allowed: Flags,
        hosts: NDArray[np.uint64],
        distance: Floats,
        following: Numbers,
        share: Floats,
        fullness: Floats,
        nearness: Floats,
        shared: list[SharedLimit],
        scale: float,
        uniform: bool,
        per_traffic: float,
        per_bin: float,
    ) -> None: ...
    @property
    def kinds(self) -> int: ...
    @property
    def bins(self) -> int: ...
    @property
    def items(self) -> int: ...

class PartialMap:
    def __init__(self, case: Case) -> None: ...
    def place(self, kind: int, bin: int) -> None: ...
    def roll_out(self, seed: int) -> None: ...
    @property
    def whole(self) -> bool: ...
    @property
    def hopeless_kinds(self) -> int: ...
    def actions_in(self, bin: int, status: int) -> int: ...
    @property
    def path(self) -> Numbers: ...
    @property
    def left(self) -> Numbers: ...
    def statuses(self, case: Case) -> Numbers: ...

class TreeSearch:
    def __init__(
        self,
        case: Case,
        seed: int,
        *,
        samples: int,
        attempts: int,
        patience: int,
        exploration: float,
        unit: float,
        worst: float,
        all_traffic: float,
        farthest: float,
        printed: bool,
        most_nodes: int,
    ) -> None: ...
    def sample(self, most: int) -> bool: ...
    def decide(self) -> bool: ...
    @property
    def rounds(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def roll_outs(self) -> int: ...
    @property
    def dead_ends(self) -> int: ...
    @property
    def best(self) -> Numbers: ...
    @property
    def decided(self) -> Numbers: ...
    @property
    def visits(self) -> int: ...
    @property
    def best_action(self) -> int: ...
    def children(self) -> list[tuple[int, int, float]]: ...
