"""The incremental engine: plans that are moved about, and local search over them.

Numbers are `int64` arrays and amounts `float64` arrays, contiguous. Rows of different lengths are given as
`first`, where each of them begins, with the end of the last one, and their values one behind the other.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Amounts = NDArray[np.float64]
Marks = NDArray[np.bool_]

class Blocks:
    """What is placed as one, by its members, application and candidates (ascending, shared by groups)."""

    def __init__(
        self,
        *,
        member_first: Numbers,
        members: Numbers,
        application: Numbers,
        candidate_group: Numbers,
        candidate_first: Numbers,
        candidates: Numbers,
    ) -> None: ...

class Streams:
    """All that two blocks exchange in one direction, by block: each stream is listed at both ends."""

    def __init__(
        self, *, first: Numbers, other: Numbers, sends: Marks, rate: Amounts, pairs: Amounts
    ) -> None: ...

class OwnCosts:
    """What blocks cost on nodes: `by_work` times the slowness, and an entry's cost or else the usual one."""

    def __init__(
        self, *, by_work: Amounts, usual: Amounts, first: Numbers, node: Numbers, cost: Amounts
    ) -> None: ...

class Limits:
    """What the blocks on the nodes of one place need, together, is at most its room."""

    def __init__(self, blocks: int, nodes: int) -> None: ...
    def add(self, *, blocks: Numbers, needed: Amounts, place_of_node: Numbers, room: Amounts) -> None: ...

class Links:
    """What lies between nodes. Empty arrays don't count; where `linked` is empty, all nodes are."""

    @staticmethod
    def of_matrices(
        *,
        nodes: int,
        half_duplex: bool,
        flow: Amounts,
        delay_ms: Amounts,
        log_availability: Amounts,
        linked: Marks,
        next_hop: Numbers,
        physical_bandwidth: Amounts,
        logical_bandwidth: Amounts,
    ) -> Links: ...
    @staticmethod
    def of_coordinates(
        *,
        nodes: int,
        half_duplex: bool,
        positions: Amounts,
        heights: Amounts,
        usual_flow: Amounts,
        first: Numbers,
        to: Numbers,
        flow: Amounts,
        delay_ms: Amounts,
        log_availability: Amounts,
        physical_bandwidth: Amounts,
        logical_bandwidth: Amounts,
        counts_flow: bool,
        counts_physical: bool,
        one_port: bool,
    ) -> Links: ...

class Machines:
    """Nodes by themselves, and the hosts near each."""

    def __init__(
        self,
        *,
        cost_of_use: Amounts,
        log_availability: Amounts,
        slowness: Amounts,
        card_bytes_per_s: Amounts,
        run_queue: Amounts,
        near: Numbers,
        cards_count: bool,
    ) -> None: ...

class Paths:
    """Instances, numbered along the streams, with what applications ask for."""

    def __init__(
        self,
        *,
        block_of: Numbers,
        work_ms: Amounts,
        input_first: Numbers,
        inputs: Numbers,
        input_bytes: Amounts,
        output_first: Numbers,
        outputs: Numbers,
        output_bytes: Amounts,
        application_first: Numbers,
        latest_ms: Amounts,
        least_log_availability: Amounts,
    ) -> None: ...

class Processing:
    """What blocks keep busy, in sum and by their busiest instance, and the processors of nodes."""

    def __init__(self, *, load: Amounts, one_core: Amounts, processors: Amounts) -> None: ...

class Weights:
    """What a unit of each thing that is no plain sum adds to the value."""

    def __init__(
        self,
        *,
        response_time: float = 0.0,
        response_time_sum: float = 0.0,
        loaded_response_time: float = 0.0,
        busiest_link: float = 0.0,
        busiest_machine: float = 0.0,
        log_availability: float = 0.0,
        availability: float = 0.0,
    ) -> None: ...

class Case:
    """All of it; it never changes."""

    def __init__(
        self,
        *,
        blocks: Blocks,
        streams: Streams,
        own_costs: OwnCosts,
        limits: Limits,
        links: Links,
        machines: Machines,
        paths: Paths,
        processing: Processing,
        weights: Weights,
    ) -> None: ...
    @property
    def movable(self) -> int: ...
    @property
    def choices(self) -> Numbers: ...
    @property
    def only_sums(self) -> bool: ...
    @property
    def is_quadratic(self) -> bool: ...

class Plan:
    """A plan and all that follows from it; moves are made and undone one by one."""

    def __init__(self, case: Case) -> None: ...
    def place(self, nodes: Numbers) -> None: ...
    def move(self, block: int, node: int) -> None: ...
    def swap(self, one: int, other: int) -> None: ...
    def move_all(self, moves: Sequence[tuple[int, int]]) -> None: ...
    def undo(self) -> None: ...
    def outcome_of(self, moves: Sequence[tuple[int, int]]) -> tuple[float, float]: ...
    def added_by_moves(self) -> Amounts: ...
    def added_by_swaps(self) -> Amounts: ...
    def outcomes_on(self, blocks: Sequence[int], nodes: Numbers) -> tuple[Amounts, Amounts]: ...
    @property
    def nodes(self) -> Numbers: ...
    @property
    def value(self) -> float: ...
    @property
    def broken(self) -> float: ...
    @property
    def whole(self) -> bool: ...
    @property
    def log_availability(self) -> float: ...
    @property
    def response_time(self) -> float: ...
    @property
    def loaded_response_time(self) -> float: ...
    @property
    def busiest_link(self) -> float: ...

class Search:
    """Local search from a plan of its own; it keeps the best that it saw."""

    def __init__(
        self,
        case: Case,
        seed: int,
        *,
        ceilings: list[Case] = ...,
        most: list[float] = ...,
        unit: list[float] = ...,
    ) -> None: ...
    def place_in_order(self, order: Numbers, wanted: Numbers) -> None: ...
    def go_to(self, nodes: Numbers) -> None: ...
    def go_to_best(self) -> None: ...
    def forget_best(self) -> None: ...
    def typical_change(self, count: int) -> float: ...
    def begin_cycle(
        self,
        *,
        hot: float,
        cold: float,
        length: int,
        period: int,
        until_whole: bool,
        value_price: float,
        broken_price: float,
        least_price: float,
        most_price: float,
    ) -> None: ...
    def run(self, steps: int) -> int: ...
    @property
    def cycle_over(self) -> bool: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def nodes(self) -> Numbers: ...
    @property
    def value(self) -> float: ...
    @property
    def broken(self) -> float: ...
    @property
    def best_nodes(self) -> Numbers: ...
    @property
    def best_value(self) -> float: ...
    @property
    def best_whole(self) -> bool: ...

class QuadraticWalk:
    """Annealing for generalised quadratic assignment, from where a plan is."""

    def __init__(self, plan: Plan) -> None: ...
    def anneal(self, *, steps: int, seed: int, hot: float, cold: float, price: float) -> int: ...
    @property
    def nodes(self) -> Numbers: ...
    @property
    def best_nodes(self) -> Numbers: ...
    @property
    def best_cost(self) -> float: ...
    @property
    def cost(self) -> float: ...
    @property
    def broken(self) -> float: ...
    @property
    def table(self) -> Amounts: ...
    @property
    def loads(self) -> Amounts: ...
