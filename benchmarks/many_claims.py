"""What paper 004 says about its five experiments, as questions to a table of outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FASTEST, CARD, FASTEST_LEFT, CARD_LEFT = 0, 1, 2, 3
BLOCKING, OPEN = [FASTEST, CARD], [FASTEST_LEFT, CARD_LEFT]
H1, H2, H3, H4, H5, H6 = range(6)
REUSE, NO_REUSE = 1, 0
SLIGHT = 0.1
"""Shares of all runs that differ by no more than this count as about the same."""
ONE_RUN = 0.02 + 1e-9
"""Of 50: what is behind by no more still is as good."""


@dataclass(frozen=True)
class Outcome:
    """Of one experiment, by value, reuse, strategy and heuristic: shares of runs with a plan, performance."""

    values: NDArray[np.float64]
    found: NDArray[np.float64]
    performance: NDArray[np.float64]

    def success(self, heuristic: int, low: float = -np.inf, high: float = np.inf) -> NDArray[np.float64]:
        """With reuse, by strategy: the mean over values between two."""
        return self.mean(self.found, low, high)[REUSE, :, heuristic]

    def quality(self, heuristic: int, low: float = -np.inf, high: float = np.inf) -> NDArray[np.float64]:
        """Relative performance, likewise."""
        return self.mean(self.performance, low, high)[REUSE, :, heuristic]

    def mean(self, table: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        """Over values between two, both included."""
        return np.asarray(table[(self.values >= low) & (self.values <= high)].mean(axis=0))

    def strategies(self, low: float = -np.inf, high: float = np.inf) -> NDArray[np.float64]:
        """Successes by strategy, over the heuristics that reuse."""
        return np.asarray(self.mean(self.found, low, high)[REUSE, :, H2:].mean(axis=-1))


Verdict = NDArray[np.bool_]
"""One for all, or one for each strategy."""
Claim = tuple[str, Callable[[Outcome], Verdict | np.bool_ | bool]]


def _alike(*shares: NDArray[np.float64]) -> Verdict:
    return np.asarray(np.ptp(shares, axis=0) <= SLIGHT)


def _as_many(shares: NDArray[np.float64], *others: NDArray[np.float64]) -> Verdict:
    return np.asarray(shares >= np.max(others, axis=0) - ONE_RUN)


def _no_reuse(outcome: Outcome, low: float, high: float) -> NDArray[np.float64]:
    return np.asarray(outcome.mean(outcome.found, low, high)[NO_REUSE].max(axis=-1))


def _steep(o: Outcome) -> Verdict:
    return np.asarray((o.success(H3, 1, 1) <= 0.2) & (o.success(H3, 20, 20) >= 0.8))


def _best(o: Outcome, low: float, high: float, heuristic: int, strategy: int) -> np.bool_:
    mean = o.mean(o.performance, low, high)[REUSE]
    return np.bool_(mean[strategy, heuristic] == mean.max())


def _top_down_without_reuse(o: Outcome) -> Verdict:
    tables = [o.mean(table, -np.inf, np.inf)[NO_REUSE] for table in (o.found, o.performance)]
    best = [table[:, [H3, H4]].min(axis=1) >= table[:, [H1, H2, H5, H6]].max(axis=1) for table in tables]
    return np.asarray(best[0] & best[1])


def _reuse_helps(o: Outcome) -> Verdict:
    found = o.mean(o.found, -np.inf, np.inf)[:, :, H2:].mean(axis=-1)
    return np.asarray(found[REUSE] > found[NO_REUSE])


CLAIMS: dict[str, list[Claim]] = {
    "X4.1": [
        ("more plans with reuse than without", _reuse_helps),
        ("H3 finds the most plans", lambda o: _as_many(o.success(H3), *(o.success(h) for h in range(6)))),
        ("H4 and H5 find about as many", lambda o: _alike(o.success(H4), o.success(H5))),
        ("H3 rises from 20 % or less at 1 processor to 80 % or more at 20", _steep),
        ("H6 finds none up to 30 processors", lambda o: o.success(H6, 1, 30) == 0),
        (
            "H2 finds none below 20 processors, some from there",
            lambda o: (o.success(H2, 1, 19) == 0) & (o.success(H2, 20) > 0),
        ),
        ("H2 finds fewer than H6 beyond 30", lambda o: o.success(H2, 31) < o.success(H6, 31)),
        ("H1 never finds a plan", lambda o: o.success(H1) == 0),
        (
            "card remaining > speed remaining > card > speed",
            lambda o: (np.diff(o.strategies()) >= -ONE_RUN).all(),
        ),
        ("... and the differences are small", lambda o: np.ptp(o.strategies()) <= SLIGHT),
        ("performance H4 > H3", lambda o: o.quality(H4) > o.quality(H3)),
        ("performance H3 > H5", lambda o: o.quality(H3) > o.quality(H5)),
        ("without reuse nothing below 35 processors", lambda o: _no_reuse(o, 1, 34) == 0),
        ("without reuse nothing below 60 processors", lambda o: _no_reuse(o, 1, 59) == 0),
        ("without reuse top-down is best in plans and performance", _top_down_without_reuse),
    ],
    "X4.2": [
        (
            "blocking finds fewer plans than not, from 5 applications",
            lambda o: o.strategies(5)[BLOCKING].max() < o.strategies(5)[OPEN].min(),
        ),
        (
            "performance of H3 and H4 above H5's",
            lambda o: np.minimum(o.quality(H3), o.quality(H4)) > o.quality(H5),
        ),
        ("H6 finds plans only up to 4 applications", lambda o: o.success(H6, 5) == 0),
        ("best above 10 applications: H3, card remaining", lambda o: _best(o, 11, 99, H3, CARD_LEFT)),
        ("best below 10 applications: H4, card remaining", lambda o: _best(o, 1, 9, H4, CARD_LEFT)),
    ],
    "X4.3": [
        (
            "card remaining finds the most plans above 40 operators",
            lambda o: o.strategies(41).argmax() == CARD_LEFT,
        ),
        (
            "up to 40 operators the other strategies find about as many",
            lambda o: np.ptp(o.strategies(high=40)) <= SLIGHT,
        ),
        ("H3 finds more plans than H4, or as many", lambda o: _as_many(o.success(H3), o.success(H4))),
        ("H4 finds more plans than H5, or as many", lambda o: _as_many(o.success(H4), o.success(H5))),
        ("H1 finds plans only below 20 operators", lambda o: o.success(H1, 20) == 0),
        ("H6 finds plans only up to 40 operators", lambda o: o.success(H6, 41) == 0),
        ("H2 finds plans only up to 50 operators", lambda o: o.success(H2, 51) == 0),
        (
            "best performance above 20 operators: H3 or H4, card remaining",
            lambda o: _best(o, 21, 999, H3, CARD_LEFT) | _best(o, 21, 999, H4, CARD_LEFT),
        ),
        ("without reuse nothing above 40 operators", lambda o: _no_reuse(o, 41, 999) == 0),
    ],
    "X4.4": [
        (
            "H3, H4 and H5 find plans in 98 % of the runs up to 60",
            lambda o: np.min([o.success(h, high=60) for h in (H3, H4, H5)], 0) >= 1 - ONE_RUN,
        ),
        (
            "H3, H4 and H5 find fewer at 180 than at 60",
            lambda o: np.all([o.success(h, 180) < o.success(h, 60, 60) for h in (H3, H4, H5)], axis=0),
        ),
        ("... and none at 180", lambda o: np.max([o.success(h, 180) for h in (H3, H4, H5)], 0) == 0),
        ("H3 finds half or more at 180 (paper: 32 of 50 with card)", lambda o: o.success(H3, 180) >= 0.5),
        ("most plans above 120: card, blocking", lambda o: o.strategies(121).argmax() == CARD),
        (
            "H3 finds the most plans",
            lambda o: _as_many(o.success(H3), o.success(H4), o.success(H5)),
        ),
        ("H5 before H4 below 120", lambda o: _as_many(o.success(H5, high=119), o.success(H4, high=119))),
        ("H4 before H5 above 120", lambda o: _as_many(o.success(H4, 121), o.success(H5, 121))),
        ("H2 finds more than H6", lambda o: o.success(H2) > o.success(H6)),
        ("H1 never finds a plan", lambda o: o.success(H1) == 0),
    ],
    "X4.5": [
        (
            "card remaining > speed remaining > both that block",
            lambda o: (
                o.strategies()[CARD_LEFT] >= o.strategies()[FASTEST_LEFT] > o.strategies()[BLOCKING].max()
            ),
        ),
        ("both that block find about as many", lambda o: _alike(*o.strategies()[BLOCKING])),
        (
            "more plans for trees that are equal than for those that differ in all",
            lambda o: o.success(H3, high=0) > o.success(H3, o.values.max()),
        ),
        ("H3 finds more plans than H4, or as many", lambda o: _as_many(o.success(H3), o.success(H4))),
        ("H4 finds more plans than H5, or as many", lambda o: _as_many(o.success(H4), o.success(H5))),
        (
            "H5 finds more than H6 and H2, or as many",
            lambda o: _as_many(o.success(H5), o.success(H6), o.success(H2)),
        ),
        ("H6 and H2 find about as many", lambda o: _alike(o.success(H6), o.success(H2))),
        ("H1 never finds a plan", lambda o: o.success(H1) == 0),
        ("best performance: H3", lambda o: o.quality(H3) >= np.max([o.quality(h) for h in range(6)], 0)),
        ("best performance: H4", lambda o: o.quality(H4) >= np.max([o.quality(h) for h in range(6)], 0)),
        (
            "H5 third in performance",
            lambda o: (
                (np.minimum(o.quality(H3), o.quality(H4)) >= o.quality(H5))
                & (o.quality(H5) >= np.max([o.quality(h) for h in (H1, H2, H6)], 0))
            ),
        ),
    ],
}
