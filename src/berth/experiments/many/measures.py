"""What rules look at: functions from an outcome to shares by run and strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from berth.experiments.many.outcome import Outcome, Shares
from berth.experiments.many.ways import HEURISTICS, REUSE, REUSERS
from berth.policies.sharing.heuristics import STRATEGIES

Measure = Callable[[Outcome], Shares]


def plans(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Shares of forests with a plan, for values from `low` to `high`; the mean of several heuristics."""
    return lambda outcome: outcome.success(heuristics, low, high, reuse)


def quality(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Relative performance, likewise."""
    return lambda outcome: outcome.performance(heuristics, low, high, reuse)


def with_strategy(strategy: int, measure: Measure | None = None) -> Measure:
    """A measure with one strategy, for all; if not told which: plans of the heuristics that can reuse."""
    return lambda outcome: np.repeat(
        (measure or plans(REUSERS))(outcome)[:, [strategy]], len(STRATEGIES), axis=1
    )


def best_of(*measures: Measure) -> Measure:
    """For each strategy the measure with the highest mean."""
    return lambda outcome: _best(np.array([measure(outcome) for measure in measures]))


def worst_of(*measures: Measure) -> Measure:
    """For each strategy the measure with the lowest mean."""
    return lambda outcome: -_best(-np.array([measure(outcome) for measure in measures]))


def less(first: Measure, second: Measure) -> Measure:
    """The first less the second."""
    return lambda outcome: first(outcome) - second(outcome)


def rivals(heuristic: int, strategy: int, low: float = -np.inf, high: float = np.inf) -> Measure:
    """The performance of the best other pair of heuristic and strategy, for all strategies."""
    return best_of(
        *(
            with_strategy(place, quality(other, low, high))
            for other in range(len(HEURISTICS))
            for place in range(len(STRATEGIES))
            if (other, place) != (heuristic, strategy)
        )
    )


def _best(stacked: Shares) -> Shares:
    best = stacked.mean(axis=1).argmax(axis=0)
    return np.asarray(np.take_along_axis(stacked, best[None, None, :], axis=0)[0])
