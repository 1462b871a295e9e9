"""What changes: a partial or whole plan with its loads, in cells that can be put back.

Between `keep` (or the beginning) and `undo` every cell that changes is logged once, with what it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from berth.policies.many.case import Case
from berth.policies.many.cells import BLOCKED, UNPLACED
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

WANTED, REUSED, SKIPPED = 0, 1, 2
"""An operator's status: computed as soon as its units have nodes; taken from its provider; not needed."""


class Log(NamedTuple):
    """The cells of one array that have changed, with what they were."""

    written: IntArray
    """How many, and the number of the present step."""
    cell: IntArray
    seen: IntArray
    """Of every cell the last step in which it was logged."""


@structref.register
class _StateType(types.StructRef):
    """A state for compiled code: a reference."""


class State(structref.StructRefProxy):
    """A plan. All but the first two and the logs are views of parts of these: read them, write by `put_*`."""

    amounts: FloatArray
    numbers: IntArray
    amounts_log: Log
    numbers_log: Log
    amounts_before: FloatArray
    numbers_before: IntArray
    load: FloatArray
    error: FloatArray
    """What rounding took from every load: sums are compensated, so that what is taken away leaves nothing."""
    held: FloatArray
    """By unit: throughput and resources that it counts for, among those of its computation on its node."""
    crossing: FloatArray
    """By pair: what it counts for, among those with its result between its nodes; -1: another one counts."""
    throughput: FloatArray
    """By operator, lifted by those that take its result; -1: none."""
    read: FloatArray
    """By read, bytes per second, lifted likewise."""
    fetched: FloatArray
    """By object and node: bytes per second of the download; -1: none is needed."""
    users: IntArray
    """How many amounts above 0 every load is made of."""
    node: IntArray
    """By unit; -1: none."""
    status: IntArray
    provider: IntArray
    """By operator: whose result stands for its own; itself unless reused."""
    uses: IntArray
    """By operator: how many wanted operators consume it, and how many take its result."""
    hosted: IntArray
    """By node: units there."""
    pair_from: IntArray
    pair_to: IntArray
    """By pair: the nodes between which it crosses; -1: it doesn't."""
    matches: IntArray
    """By kind, wanting and giving operator: in how many ways the first one's needs fall to the second."""
    source: IntArray
    """By object and node: from where it is downloaded; -1: from nowhere."""
    figures: IntArray


_FIELDS = tuple(State.__annotations__)
structref.define_proxy(State, _StateType, list(_FIELDS))  # type: ignore[no-untyped-call]


def new_state(case: Case) -> State:
    """Nothing is placed, and everything is wanted."""
    cells, operators = case.cells, case.operators
    amounts, numbers = np.zeros(cells.amounts), np.zeros(cells.numbers, dtype=np.int64)
    amount_ends = (cells.error, cells.held, cells.crossing, cells.throughput, cells.read, cells.fetched)
    number_ends = (
        cells.node,
        cells.status,
        cells.provider,
        cells.uses,
        cells.hosted,
        cells.pair_from,
        cells.pair_to,
        cells.matches,
        cells.source,
        cells.figures,
    )
    parts = (
        amounts,
        numbers,
        _new_log(cells.amounts),
        _new_log(cells.numbers),
        np.empty(cells.amounts),
        np.empty(cells.numbers, dtype=np.int64),
        tuple(np.split(amounts, amount_ends)),
        tuple(np.split(numbers, number_ends)),
    )
    state = _state(*parts)
    for name, part in zip(_FIELDS, (*parts[:-2], *parts[-2], *parts[-1]), strict=True):
        setattr(state, name, part)
    state.throughput[:] = operators.own
    state.read[:] = case.objects.read_rate
    state.crossing[:] = -1.0
    state.fetched[:] = -1.0
    for part in (state.node, state.pair_from, state.pair_to, state.source):
        part[:] = -1
    state.provider[:] = np.arange(len(operators.kind))
    state.uses[:] = np.diff(operators.consumer_first)
    state.figures[UNPLACED] = len(case.units.operator)
    state.figures[BLOCKED] = -1
    return state


@compiled
def _state(
    amounts: FloatArray,
    numbers: IntArray,
    amounts_log: Log,
    numbers_log: Log,
    amounts_before: FloatArray,
    numbers_before: IntArray,
    amount_parts: tuple[FloatArray, ...],
    number_parts: tuple[IntArray, ...],
) -> State:
    logs = amounts_log, numbers_log, amounts_before, numbers_before
    return State(amounts, numbers, *logs, *amount_parts, *number_parts)  # type: ignore[no-untyped-call]


def _new_log(cells: int) -> Log:
    return Log(np.array([0, 1]), np.empty(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64))


@compiled
def put_amount(state: State, cell: int, value: float) -> None:
    """Write an amount, and log what was there."""
    log = state.amounts_log
    if log.seen[cell] != log.written[1]:
        log.seen[cell] = log.written[1]
        log.cell[log.written[0]] = cell
        state.amounts_before[log.written[0]] = state.amounts[cell]
        log.written[0] += 1
    state.amounts[cell] = value


@compiled
def put_number(state: State, cell: int, value: int) -> None:
    """Write a number, and log what was there."""
    log = state.numbers_log
    if log.seen[cell] != log.written[1]:
        log.seen[cell] = log.written[1]
        log.cell[log.written[0]] = cell
        state.numbers_before[log.written[0]] = state.numbers[cell]
        log.written[0] += 1
    state.numbers[cell] = value


@compiled
def keep(state: State) -> None:
    """What was done stays: a later `undo` comes back to here."""
    for log in (state.amounts_log, state.numbers_log):
        log.written[0] = 0
        log.written[1] += 1


@compiled
def undo(state: State) -> None:
    """Put everything back as it was at the last `keep` or `undo`."""
    for entry in range(state.amounts_log.written[0]):
        state.amounts[state.amounts_log.cell[entry]] = state.amounts_before[entry]
    for entry in range(state.numbers_log.written[0]):
        state.numbers[state.numbers_log.cell[entry]] = state.numbers_before[entry]
    keep(state)
