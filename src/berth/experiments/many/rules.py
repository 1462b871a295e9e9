"""How claims about heuristics and strategies are judged; every rule says in words what it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from berth.experiments.experiment import Claim, Verdict
from berth.experiments.judging import mean_of, verdict
from berth.experiments.many.heuristics import H1, HEURISTICS, REUSE, REUSERS, Outcome, Shares
from berth.policies.sharing.heuristics import STRATEGIES

LIGHT = (
    "By the paper's own numbers all applications together need about a tenth of the speed of 30 "
    "processors: strategies that don't block gather everything on few of them, so that even random "
    "heuristics and those without reuse find plans."
)
GATHERS = (
    "TopDownBFS places all roots while nothing else is on a card, so that with biggest-card-remaining they "
    "gather on one processor, and most of their trees, too: it finds plans longest and enrols least, where "
    "the paper has others before it."
)
UNKNOWN = "Why is not known: the paper's trees and programs are not published (E4.14)."
SCALE = (
    "Which work and result sizes make up a ratio is not published (E4.13): results are ratio x work here, "
    "with a mean work of 0.05 Mop, chosen so that success begins to fall near 60."
)
CLOSE = "The two are nearly as good as each other here, and forests differ."


Measure = Callable[[Outcome], Shares]
ALL = tuple(range(len(STRATEGIES)))
ONE_RUN = 0.02 + 1e-9
"""One run of the paper's 50: what is behind by no more is as good, and what is no more is none."""
SLIGHT = 0.1
"""A tenth of the runs: what differs by no more is about the same."""
EXACTLY, ROUGHLY = 0.95, 0.7


def plans(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Shares of forests with a plan, for values from `low` to `high`; the mean of several heuristics."""
    return lambda outcome: outcome.mean(outcome.found, heuristics, low, high, reuse)


def quality(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Relative performance, likewise."""
    return lambda outcome: outcome.mean(outcome.quality, heuristics, low, high, reuse)


def with_strategy(strategy: int, measure: Measure | None = None) -> Measure:
    """A measure with one strategy, for all; unless one is given, plans of the heuristics that can reuse."""
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


@dataclass(frozen=True)
class Judged:
    """What a rule says.

    Attributes:
        ours: the values seen.
        verdict: what became of the claim.
        rule: what was required.
        difference: for an order, by how much it holds.
    """

    ours: str
    verdict: Verdict
    rule: str
    difference: float | None = None


Rule = Callable[[Outcome], Judged]


@dataclass(frozen=True)
class Question:
    """A claim of the paper and how it is judged.

    Attributes:
        text: the claim.
        rule: how it is judged.
        paper: the paper's value; "-": an order only.
        cause: why it may come out otherwise; shown where it does.
    """

    text: str
    rule: Rule
    paper: str = "-"
    cause: str = ""

    def judged(self, outcome: Outcome) -> Claim:
        """The claim with its verdict."""
        found = self.rule(outcome)
        why = "" if found.verdict is Verdict.REPRODUCED else f" {self._why(found)}"
        runs = outcome.found.shape[1]
        return Claim(
            self.text,
            self.paper,
            f"{found.ours} ({runs} forests for each value)",
            found.verdict,
            f"Rule: {found.rule}.{why}",
        )

    def _why(self, found: Judged) -> str:
        """The cause that was named; of an order without one, whether the two are close at all."""
        if self.cause not in ("", CLOSE):
            return self.cause
        close = found.difference is not None and abs(found.difference) < SLIGHT
        return CLOSE if close else UNKNOWN


@dataclass(frozen=True)
class More:
    """One measure is above another: beyond chance on the whole, and with no strategy clearly below."""

    first: Measure
    second: Measure
    strategies: Sequence[int] = ALL

    def __call__(self, outcome: Outcome) -> Judged:
        """Judge the paired differences."""
        strategies = list(self.strategies)
        first, second = (measure(outcome)[:, strategies] for measure in (self.first, self.second))
        whole = mean_of((first - second).mean(axis=1))
        nowhere_behind = (first - second).mean(axis=0).min() >= -ONE_RUN
        values = ", ".join(
            f"{_name(strategy, strategies)}{percent(ours)} against {percent(theirs)}"
            for strategy, ours, theirs in zip(
                strategies, first.mean(axis=0), second.mean(axis=0), strict=True
            )
        )
        each = (
            " on the whole, and behind with no strategy by more than one run of 50; the order: only the "
            "former"
            if len(strategies) > 1
            else ""
        )
        return Judged(
            f"{values}; difference {100 * whole.value:+.1f} ± {100 * whole.error:.1f} points",
            verdict(bool(nowhere_behind), whole.surely_positive),
            f"above by more than two standard errors{each}",
            whole.value,
        )


@dataclass(frozen=True)
class Between:
    """A measure lies in a range with every strategy meant; else it may still go in the right direction."""

    measure: Measure
    low: float
    high: float
    strategies: Sequence[int] = ALL
    direction: Rule | None = None
    in_words: str = ""
    what: str = ""

    def __call__(self, outcome: Outcome) -> Judged:
        """Judge the means."""
        strategies = list(self.strategies)
        means = self.measure(outcome)[:, strategies].mean(axis=0)
        inside = bool(((means >= self.low) & (means <= self.high)).all())
        values = ", ".join(
            f"{_name(strategy, strategies)}{percent(mean)}"
            for strategy, mean in zip(strategies, means, strict=True)
        )
        values = f"{self.what}: {values}" if self.what else values
        rule = f"from {percent(self.low)} to {percent(self.high)}"
        if self.low <= -1 or self.high >= 1:
            rule = f"at most {percent(self.high)}" if self.low <= -1 else f"at least {percent(self.low)}"
        if self.direction is None:
            return Judged(values, verdict(inside, inside), rule)
        towards = self.direction(outcome)
        clear = towards.verdict is Verdict.REPRODUCED and (towards.difference or 0.0) >= SLIGHT
        return Judged(
            f"{values}; {self.in_words}: {towards.ours}",
            verdict(inside, inside or clear),
            f"{rule}; the order: {self.in_words}, beyond chance and by a tenth of the runs or more",
        )


@dataclass(frozen=True)
class Ranking:
    """Measures in descending order, by name; each is a mean over its strategies."""

    measures: Mapping[str, Measure]

    def __call__(self, outcome: Outcome) -> Judged:
        """Judge neighbours, and the first against the last."""
        columns = {name: measure(outcome).mean(axis=1) for name, measure in self.measures.items()}
        means = np.array([column.mean() for column in columns.values()])
        first, *_, last = columns.values()
        ahead = mean_of(first - last).surely_positive
        return Judged(
            ", ".join(f"{name} {percent(mean)}" for name, mean in zip(columns, means, strict=True)),
            verdict(bool((np.diff(means) <= ONE_RUN).all()) and ahead, ahead),
            "none is above the one before it by more than one run of 50, and the first is above the last by "
            "more than two standard errors; the order: only the latter",
        )


def nothing(measure: Measure, against: Measure, in_words: str, strategies: Sequence[int] = ALL) -> Between:
    """None or nearly none; else at least less than what it is compared with."""
    return Between(measure, 0.0, ONE_RUN, strategies, More(against, measure, strategies), in_words)


def about_alike(first: Measure, second: Measure, strategies: Sequence[int] = ALL) -> Between:
    """Differs by no more than a tenth of the runs."""
    return Between(less(first, second), -SLIGHT, SLIGHT, strategies, what="difference")


NO_REUSE_NO_PLAN = Question(
    "RandomNoReuse never finds a plan",
    nothing(plans(H1), worst_of(*(plans(h) for h in REUSERS)), "fewer than any other heuristic"),
    "0 of 50",
    LIGHT,
)
"""A claim that the paper repeats for several figures."""


def percent(share: float) -> str:
    """For people; small shares with a decimal."""
    return f"{100 * share:.1f} %" if 0 < abs(share) < SLIGHT else f"{100 * share:.0f} %"


def _name(strategy: int, among: Sequence[int]) -> str:
    return f"{STRATEGIES[strategy]} " if len(among) > 1 else ""


@dataclass(frozen=True)
class Mirrors:
    """The curve of performance has the shape of that of plans found."""

    heuristics: Sequence[int]

    def __call__(self, outcome: Outcome) -> Judged:
        """Correlate both over the values, for every strategy where there is anything to correlate."""
        found, quality = (table.mean(axis=1)[:, REUSE] for table in (outcome.found, outcome.quality))
        seen = {
            (strategy, heuristic): float(
                np.corrcoef(found[:, place, heuristic], quality[:, place, heuristic])[0, 1]
            )
            for place, strategy in enumerate(STRATEGIES)
            for heuristic in self.heuristics
            if np.ptp(found[:, place, heuristic]) > 0
        }
        if not seen:
            return Judged("no plans at all: both are 0", verdict(True, True), "both curves are 0")
        (strategy, heuristic), least = min(seen.items(), key=lambda item: item[1])
        names = list(HEURISTICS)
        return Judged(
            f"correlation {np.median(list(seen.values())):.2f} in the median of {len(seen)} curves, lowest "
            f"{least:.2f} ({names[heuristic]}, {strategy})",
            verdict(least >= EXACTLY, least >= ROUGHLY),
            f"{EXACTLY} or more for every curve; the order: {ROUGHLY}",
        )


@dataclass(frozen=True)
class SameSuccess:
    """Where two strategies lead to as many plans, their performance differs."""

    heuristics: Sequence[int]

    def __call__(self, outcome: Outcome) -> Judged:
        """The mean difference of performance over all pairs of strategies with as many plans, and some."""
        found, quality = (table.mean(axis=1)[:, REUSE] for table in (outcome.found, outcome.quality))
        gaps = [
            abs(quality[:, one, heuristic] - quality[:, other, heuristic])[
                (abs(found[:, one, heuristic] - found[:, other, heuristic]) <= ONE_RUN)
                & (found[:, one, heuristic] > 0)
            ]
            for heuristic in self.heuristics
            for one in range(len(STRATEGIES))
            for other in range(one)
        ]
        joined = np.concatenate(gaps)
        mean = float(joined.mean()) if len(joined) else 0.0
        return Judged(
            f"{mean:.2f} in the mean of {len(joined)} pairs of strategies with as many plans",
            verdict(mean >= SLIGHT, mean > ONE_RUN),
            "0.1 or more in the mean, of pairs within one run of 50; the order: more than 0.02",
        )
