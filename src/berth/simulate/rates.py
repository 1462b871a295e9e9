"""How rates of sources change in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.model import InstanceGraph
from berth.simulate.events import RateChange

FloatArray = NDArray[np.float64]


def changed(factor: FloatArray, change: RateChange, graph: InstanceGraph) -> FloatArray:
    """The factors of all instances after a change."""
    if change.sources is None:
        return np.full(len(factor), float(change.factor))
    after = factor.copy()
    for name in change.sources:
        after[list(graph.operators[graph.operator_index[name]].instances)] = change.factor
    return after


def tuples_coming(
    rate: FloatArray, changes: tuple[RateChange, ...], graph: InstanceGraph, duration: float
) -> float:
    """How many tuples are expected to come in, of sources with such rates."""
    factor, last, total = np.ones(len(rate)), 0.0, 0.0
    for change in sorted(changes, key=lambda each: each.at_s):
        time = min(change.at_s, duration)
        total += float((rate * factor).sum()) * (time - last)
        factor, last = changed(factor, change, graph), time
    return total + float((rate * factor).sum()) * (duration - last)
