"""Hand-made outcomes: the same for every run, or as told."""

from collections.abc import Mapping

import numpy as np

from berth.experiments.many.heuristics import REUSE, SHAPE, Outcome


def made(
    values: tuple[float, ...],
    plans: Mapping[int, float],
    quality: Mapping[int, float] | None = None,
    runs: int = 10,
) -> Outcome:
    """Shares of plans and performance by heuristic, with reuse; 0 for all others and without reuse."""
    shape = (len(values), runs, *SHAPE)
    tables = np.zeros(shape), np.zeros(shape)
    for table, given in zip(tables, (plans, quality or plans), strict=True):
        for heuristic, share in given.items():
            table[:, :, REUSE, :, heuristic] = share
    return Outcome(np.array(values), *tables)
