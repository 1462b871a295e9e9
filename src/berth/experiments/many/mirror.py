"""Rules about how plans found and performance go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berth.experiments.judging import verdict
from berth.experiments.many.outcome import Outcome
from berth.experiments.many.rules import ONE_RUN, SLIGHT, Judged
from berth.experiments.many.ways import HEURISTICS, REUSE
from berth.policies.sharing.heuristics import STRATEGIES

EXACTLY, ROUGHLY = 0.95, 0.7


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
