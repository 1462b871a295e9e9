"""How claims about heuristics and strategies are judged; every rule says in words what it asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from berth.experiments.experiment import Claim, Verdict
from berth.experiments.judging import holds, mean_of, verdict
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

ALL = tuple(range(len(STRATEGIES)))
ONE_RUN = 0.02 + 1e-9
"""One run of the paper's 50: what is behind by no more is as good, and what is no more is none."""
SLIGHT = 0.1
"""A tenth of the runs: what differs by no more is about the same."""
EXACTLY, ROUGHLY = 0.95, 0.7
EACH_STRATEGY = (
    " on the whole, and behind with no strategy by more than one run of 50; the order: only the former"
)


@dataclass(frozen=True)
class Measure:
    """What is compared: a number for each run and strategy, from an outcome."""

    of: Callable[[Outcome], Shares]

    def __sub__(self, other: Measure) -> Measure:
        return Measure(lambda outcome: self.of(outcome) - other.of(outcome))

    def with_strategy(self, strategy: int) -> Measure:
        """The same with one strategy, for all of them."""
        return Measure(lambda outcome: np.repeat(self.of(outcome)[:, [strategy]], len(STRATEGIES), axis=1))

    def best_with(self, strategies: Sequence[int]) -> Measure:
        """The same with the best of some strategies, for all of them."""
        return best_of(*(self.with_strategy(strategy) for strategy in strategies))

    def worst_with(self, strategies: Sequence[int]) -> Measure:
        """The same with the worst of some strategies, for all of them."""
        return worst_of(*(self.with_strategy(strategy) for strategy in strategies))


Kind = Callable[..., Measure]
"""`plans` or `quality`."""


def plans(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Shares of forests with a plan, for values from `low` to `high`; the mean of several heuristics."""
    return Measure(lambda outcome: outcome.mean(outcome.found, heuristics, low, high, reuse))


def quality(
    heuristics: int | Sequence[int], low: float = -np.inf, high: float = np.inf, reuse: int = REUSE
) -> Measure:
    """Relative performance, likewise."""
    return Measure(lambda outcome: outcome.mean(outcome.quality, heuristics, low, high, reuse))


def best(kind: Kind, heuristics: Sequence[int], *between: float, **more: int) -> Measure:
    """Plans or quality of the best of some heuristics."""
    return best_of(*(kind(heuristic, *between, **more) for heuristic in heuristics))


def worst(kind: Kind, heuristics: Sequence[int], *between: float, **more: int) -> Measure:
    """Plans or quality of the worst of some heuristics."""
    return worst_of(*(kind(heuristic, *between, **more) for heuristic in heuristics))


def best_of(*measures: Measure) -> Measure:
    """For each strategy the measure with the highest mean."""
    return Measure(lambda outcome: _best(np.array([measure.of(outcome) for measure in measures])))


def worst_of(*measures: Measure) -> Measure:
    """For each strategy the measure with the lowest mean."""
    return Measure(lambda outcome: -_best(-np.array([measure.of(outcome) for measure in measures])))


def rivals(heuristic: int, strategy: int, low: float = -np.inf, high: float = np.inf) -> Measure:
    """The performance of the best other pair of heuristic and strategy, for all strategies."""
    return best_of(
        *(
            quality(other, low, high).with_strategy(place)
            for other in range(len(HEURISTICS))
            for place in ALL
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


@dataclass(frozen=True)
class Rule(ABC):
    """How a claim of the paper is judged.

    Attributes:
        paper: the paper's value; "-": an order only.
        cause: why it may come out otherwise; shown where it does.
    """

    paper: str = field(default="-", kw_only=True)
    cause: str = field(default="", kw_only=True)

    @abstractmethod
    def judged(self, outcome: Outcome) -> Judged:
        """Judge an outcome."""

    def claim(self, text: str, outcome: Outcome) -> Claim:
        """The claim with its verdict."""
        found = self.judged(outcome)
        why = "" if found.verdict is Verdict.REPRODUCED else f" {self._why(found)}"
        ours = f"{found.ours} ({outcome.found.shape[1]} forests for each value)"
        return Claim(text, self.paper, ours, found.verdict, f"Rule: {found.rule}.{why}")

    def _why(self, found: Judged) -> str:
        """The cause that was named; of an order without one, whether the two are close at all."""
        if self.cause not in ("", CLOSE):
            return self.cause
        close = found.difference is not None and abs(found.difference) < SLIGHT
        return CLOSE if close else UNKNOWN


@dataclass(frozen=True)
class More(Rule):
    """One measure is above another: beyond chance on the whole, and with no strategy clearly below."""

    first: Measure
    second: Measure
    strategies: Sequence[int] = ALL

    def judged(self, outcome: Outcome) -> Judged:
        """Judge the paired differences."""
        strategies = list(self.strategies)
        first, second = (measure.of(outcome)[:, strategies] for measure in (self.first, self.second))
        whole = mean_of((first - second).mean(axis=1))
        nowhere_behind = (first - second).mean(axis=0).min() >= -ONE_RUN
        pairs = zip(first.mean(axis=0), second.mean(axis=0), strict=True)
        values = _listed(strategies, [f"{percent(ours)} against {percent(other)}" for ours, other in pairs])
        return Judged(
            f"{values}; difference {100 * whole.value:+.1f} ± {100 * whole.error:.1f} points",
            verdict(bool(nowhere_behind), whole.surely_positive),
            f"above by more than two standard errors{EACH_STRATEGY if len(strategies) > 1 else ''}",
            whole.value,
        )


@dataclass(frozen=True)
class Between(Rule):
    """A measure lies in a range with every strategy meant; else it may still go in the right direction.

    Attributes:
        measure: what is judged.
        range: from where to where.
        strategies: those that are meant.
        direction: two measures, of which the first has to be higher if the range is missed.
        in_words: what that means.
        what: the measure's name, where it isn't plain.
    """

    measure: Measure
    range: tuple[float, float]
    strategies: Sequence[int] = ALL
    direction: tuple[Measure, Measure] | None = None
    in_words: str = ""
    what: str = ""

    def judged(self, outcome: Outcome) -> Judged:
        """Judge the means."""
        strategies, (low, high) = list(self.strategies), self.range
        means = self.measure.of(outcome)[:, strategies].mean(axis=0)
        inside = bool(((means >= low) & (means <= high)).all())
        values = _listed(strategies, [percent(mean) for mean in means])
        values = f"{self.what}: {values}" if self.what else values
        rule = f"from {percent(low)} to {percent(high)}"
        if low <= -1 or high >= 1:
            rule = f"at most {percent(high)}" if low <= -1 else f"at least {percent(low)}"
        if self.direction is None:
            return Judged(values, holds(inside), rule)
        towards = More(*self.direction, self.strategies).judged(outcome)
        clear = towards.verdict is Verdict.REPRODUCED and (towards.difference or 0.0) >= SLIGHT
        return Judged(
            f"{values}; {self.in_words}: {towards.ours}",
            verdict(inside, inside or clear),
            f"{rule}; the order: {self.in_words}, beyond chance and by a tenth of the runs or more",
        )


@dataclass(frozen=True)
class Ranking(Rule):
    """Measures in descending order, by name; each is a mean over its strategies."""

    measures: Mapping[str, Measure]

    def judged(self, outcome: Outcome) -> Judged:
        """Judge neighbours, and the first against the last."""
        columns = {name: measure.of(outcome).mean(axis=1) for name, measure in self.measures.items()}
        means = np.array([column.mean() for column in columns.values()])
        first, *_, last = columns.values()
        ahead = mean_of(first - last).surely_positive
        return Judged(
            ", ".join(f"{name} {percent(mean)}" for name, mean in zip(columns, means, strict=True)),
            verdict(bool((np.diff(means) <= ONE_RUN).all()) and ahead, ahead),
            "none is above the one before it by more than one run of 50, and the first is above the last by "
            "more than two standard errors; the order: only the latter",
        )


def nothing(
    measure: Measure, against: Measure, in_words: str, strategies: Sequence[int] = ALL, **why: Any
) -> Between:
    """None or nearly none; else at least less than what it is compared with."""
    return Between(measure, (0.0, ONE_RUN), strategies, (against, measure), in_words, **why)


def about_alike(first: Measure, second: Measure, strategies: Sequence[int] = ALL, **why: Any) -> Between:
    """Differs by no more than a tenth of the runs."""
    return Between(first - second, (-SLIGHT, SLIGHT), strategies, what="difference", **why)


NO_REUSE_NO_PLAN = {
    "RandomNoReuse never finds a plan": nothing(
        plans(H1), worst(plans, REUSERS), "fewer than any other heuristic", paper="0 of 50", cause=LIGHT
    )
}
"""A claim that the paper repeats for several figures."""


def percent(share: float) -> str:
    """For people; small shares with a decimal."""
    return f"{100 * share:.1f} %" if 0 < abs(share) < SLIGHT else f"{100 * share:.0f} %"


def _listed(strategies: Sequence[int], values: Sequence[str]) -> str:
    """Values of strategies; a single one goes without its name."""
    if len(strategies) == 1:
        return values[0]
    return ", ".join(
        f"{STRATEGIES[number]} {value}" for number, value in zip(strategies, values, strict=True)
    )


@dataclass(frozen=True)
class Mirrors(Rule):
    """The curve of performance has the shape of that of plans found."""

    heuristics: Sequence[int]

    def judged(self, outcome: Outcome) -> Judged:
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
            return Judged("no plans at all: both are 0", Verdict.REPRODUCED, "both curves are 0")
        (strategy, heuristic), least = min(seen.items(), key=lambda item: item[1])
        names = list(HEURISTICS)
        return Judged(
            f"correlation {np.median(list(seen.values())):.2f} in the median of {len(seen)} curves, lowest "
            f"{least:.2f} ({names[heuristic]}, {strategy})",
            verdict(least >= EXACTLY, least >= ROUGHLY),
            f"{EXACTLY} or more for every curve; the order: {ROUGHLY}",
        )


@dataclass(frozen=True)
class SameSuccess(Rule):
    """Where two strategies lead to as many plans, their performance differs."""

    heuristics: Sequence[int]

    def judged(self, outcome: Outcome) -> Judged:
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
