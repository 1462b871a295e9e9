"""How claims about heuristics and strategies are judged; every rule says in words what it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from berth.experiments.experiment import Claim, Verdict
from berth.experiments.judging import mean_of, verdict
from berth.experiments.many.causes import CLOSE, UNKNOWN
from berth.experiments.many.measures import Measure, less
from berth.experiments.many.outcome import Outcome
from berth.policies.sharing.heuristics import STRATEGIES

ALL = tuple(range(len(STRATEGIES)))
ONE_RUN = 0.02 + 1e-9
"""One run of the paper's 50: what is behind by no more is as good, and what is no more is none."""
SLIGHT = 0.1
"""A tenth of the runs: what differs by no more is about the same."""


@dataclass(frozen=True)
class Judged:
    """What a rule says.

    Attributes:
        ours: the values seen.
        verdict: what became of the claim.
        rule: what was asked.
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
        cause: why it may come out otherwise; told where it does.
    """

    text: str
    rule: Rule
    paper: str = "-"
    cause: str = ""

    def asked(self, outcome: Outcome) -> Claim:
        """The claim with its verdict."""
        said = self.rule(outcome)
        why = "" if said.verdict is Verdict.REPRODUCED else f" {self._why(said)}"
        runs = outcome.found.shape[1]
        return Claim(
            self.text,
            self.paper,
            f"{said.ours} ({runs} forests for each value)",
            said.verdict,
            f"Rule: {said.rule}.{why}",
        )

    def _why(self, said: Judged) -> str:
        """The cause that was named; of an order without one, whether the two are close at all."""
        if self.cause not in ("", CLOSE):
            return self.cause
        close = said.difference is not None and abs(said.difference) < SLIGHT
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


def percent(share: float) -> str:
    """For people; small shares with a decimal."""
    return f"{100 * share:.1f} %" if 0 < abs(share) < SLIGHT else f"{100 * share:.0f} %"


def _name(strategy: int, among: Sequence[int]) -> str:
    return f"{STRATEGIES[strategy]} " if len(among) > 1 else ""
