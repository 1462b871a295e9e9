"""What a search aims at, and by how much a change comes nearer: read off the engine's log."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.policies.many.case import Case
from berth.policies.many.cells import CROSSED, UNPLACED
from berth.policies.many.state import State
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EXCESS, COST, MOVED = 0, 1, 2
"""The parts of an energy: what is beyond limits, what is paid, how many units have left their place."""
_WORST = 1e3
"""The most that one load beyond its limit counts for."""

_CHARGE = 0.01
"""What any excess counts for at least: otherwise a plan with many small ones would look good."""


class Aims(NamedTuple):
    """Limits that are to be kept, and prices."""

    limit: FloatArray
    """Of every load; at most the engine's."""
    scale: FloatArray
    """What one unit beyond a limit counts for."""
    price: FloatArray
    """Of every node that hosts anything."""
    crossed: float
    """Of a byte per second that crosses links."""
    busy: float
    """Of a processor's time."""
    nodes: IntArray
    """That are offered."""
    offered: NDArray[np.bool_]
    home: IntArray
    """Where every unit was before; -1: nowhere."""
    stay: float
    """The price of a unit that has left its place, or isn't computed any more."""
    bound: NDArray[np.bool_]
    """Operators that are not to be touched."""


def scale_of(limit: FloatArray) -> FloatArray:
    """Excesses are counted in shares of their limit."""
    scale = np.ones(len(limit))
    finite = np.isfinite(limit) & (limit > 0.0)
    scale[finite] = 1.0 / limit[finite]
    return scale


@compiled
def excess(load: float, limit: float, scale: float) -> float:
    """What a load counts for: nothing within its limit."""
    if load <= limit * (1.0 + 1e-12):
        return 0.0
    return _CHARGE + min((load - limit) * scale, _WORST)


@compiled
def add_change(case: Case, state: State, aims: Aims, into: FloatArray) -> None:
    """Add what has changed since the last `keep` or `undo` to the parts of an energy."""
    cells = case.cells
    log = state.amounts_log
    for entry in range(log.written[0]):
        cell = log.cell[entry]
        if cell >= cells.loads:
            continue
        before, after = state.amounts_before[entry], state.amounts[cell]
        if aims.limit[cell] < np.inf:
            into[EXCESS] += excess(after, aims.limit[cell], aims.scale[cell]) - excess(
                before, aims.limit[cell], aims.scale[cell]
            )
        if cell == cells.marks + CROSSED:
            into[COST] += aims.crossed * (after - before)
        elif cell < cells.card:
            into[COST] += aims.busy * (after - before)
    log = state.numbers_log
    for entry in range(log.written[0]):
        cell = log.cell[entry]
        number, now = state.numbers_before[entry], state.numbers[cell]
        if cells.hosted <= cell < cells.pair_from:
            into[COST] += aims.price[cell - cells.hosted] * (int(now > 0) - int(number > 0))
        elif cells.node <= cell < cells.status:
            home = aims.home[cell - cells.node]
            if home >= 0:
                into[MOVED] += int(now != home) - int(number != home)
        elif cell == cells.figures + UNPLACED:
            into[EXCESS] += now - number


@compiled
def energy_of(case: Case, state: State, aims: Aims, into: FloatArray) -> None:
    """The parts of a state's energy."""
    cells = case.cells
    into[EXCESS] = float(state.figures[UNPLACED])
    for load in range(cells.loads):
        if aims.limit[load] < np.inf:
            into[EXCESS] += excess(state.load[load], aims.limit[load], aims.scale[load])
    into[COST] = aims.crossed * state.load[cells.marks + CROSSED]
    for node in range(cells.nodes):
        into[COST] += aims.busy * state.load[cells.busy + node]
        if state.hosted[node] > 0:
            into[COST] += aims.price[node]
    into[MOVED] = 0.0
    for unit in range(len(aims.home)):
        if aims.home[unit] >= 0 and state.node[unit] != aims.home[unit]:
            into[MOVED] += 1.0
