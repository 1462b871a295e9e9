"""How values are put beside a paper's: with their spread, and by rules that are fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from berth.experiments.experiment import Verdict

SURE = 2.0
"""Standard errors beyond which an order is no accident."""


@dataclass(frozen=True)
class Mean:
    """A mean over independent draws, and how far it is known."""

    value: float
    error: float
    draws: int

    def text(self, decimals: int = 2) -> str:
        """For people: the mean, its standard error and what it is a mean of."""
        return f"{self.value:.{decimals}f} ± {self.error:.{decimals}f}"

    @property
    def surely_positive(self) -> bool:
        """Whether it is above 0 by more than chance."""
        return self.value > SURE * self.error


def mean_of(values: ArrayLike) -> Mean:
    """The mean of independent draws with its standard error; the error of a single draw is not known."""
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")
    return Mean(float(array.mean()), error, len(array))


def within(ours: float, paper: float, share: float) -> bool:
    """Whether a value is within a share of the paper's."""
    return abs(ours - paper) <= share * abs(paper)


def same_effect(ours: float, paper: float) -> bool:
    """Whether an effect is neither less than half of the paper's nor more than twice as large.

    Beside a tolerance: 1.05 is within 10 % of 1.02, but its distance from 1, which is the claim, isn't.
    """
    towards = ours if paper >= 0.0 else -ours
    return 0.5 * abs(paper) <= towards <= 2.0 * abs(paper)


def close_ratio(ours: float, paper: float, share: float) -> bool:
    """Whether a ratio is within a share of the paper's, and as far from 1 but for a factor of two."""
    return within(ours, paper, share) and same_effect(ours - 1.0, paper - 1.0)


def verdict(close: bool, ordered: bool) -> Verdict:
    """Reproduced if the value is close and in the right order; else what is left of it."""
    if not ordered:
        return Verdict.NOT_REPRODUCED
    return Verdict.REPRODUCED if close else Verdict.ORDERING_ONLY


def holds(condition: bool) -> Verdict:
    """Of a claim that holds or doesn't, with nothing between."""
    return verdict(close=condition, ordered=condition)


def order_verdict(differences: ArrayLike) -> Verdict:
    """Of a claim that is only an order: the mean difference of paired draws is above 0 beyond chance."""
    return holds(mean_of(differences).surely_positive)
