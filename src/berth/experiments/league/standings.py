"""From what every policy did with every problem to standings in each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from berth.experiments.league.solving import BROKEN, CRASHED, NO_PLAN, NOT_MADE, PLAN

NEAR = 1.01
"""Times the best known value: as good as it, for most purposes."""
PROVED = 1e-6
ZERO = 1e-12


@dataclass(frozen=True)
class Standing:
    """What a policy did with the problems of a group.

    Attributes:
        policy: its name.
        ratio: geometric mean of objective / best known, where it has a plan; NaN: it has none.
        near: problems where it is within 1 % of the best known.
        plans: problems with a plan that keeps all constraints.
        broken: those whose plan breaks some.
        without: those for which it found none, or stopped with an error.
        not_made: those that it is not made for.
        seconds: median of processor time, of those that it is made for.
        own_goal: whether it minimises something else than a problem asks for.
    """

    policy: str
    ratio: float
    near: int
    plans: int
    broken: int
    without: int
    not_made: int
    seconds: float
    own_goal: bool

    @property
    def made_for(self) -> int:
        """Problems that it is made for."""
        return self.plans + self.broken + self.without


def with_ratios(table: pd.DataFrame) -> pd.DataFrame:
    """The table with each plan's objective over the best known one, and the best proved bound."""
    parts = []
    for _, part in table.groupby(["problem", "seed"], sort=False):
        maximise = bool(part["maximise"].any())
        best = part["value"].max() if maximise else part["value"].min()
        bounds = part["bound"].dropna()
        bound = (bounds.min() if maximise else bounds.max()) if len(bounds) else float("nan")
        ratios = [_ratio(value, best, maximise) for value in part["value"]]
        parts.append(part.assign(best=best, ratio=ratios, proved=bound))
    return pd.concat(parts, ignore_index=True)


def _ratio(value: float | None, best: float, maximise: bool) -> float:
    """At least 1; above a best of 0 no ratio says anything, and it counts as twice the best."""
    if value is None or np.isnan(value):
        return float("nan")
    better, worse = (value, best) if maximise else (best, value)
    if abs(better - worse) <= ZERO:
        return 1.0
    return worse / better if better > ZERO else 2.0


def standings(table: pd.DataFrame, group: str) -> list[Standing]:
    """Of a group, the best first: most problems within 1 %, then most plans, then the lowest ratio."""
    part = table[table["group"] == group]
    found = [_standing(policy, rows) for policy, rows in part.groupby("policy", sort=True)]
    return sorted(found, key=lambda item: (-item.near, -item.plans, np.nan_to_num(item.ratio, nan=np.inf)))


def _standing(policy: str, rows: pd.DataFrame) -> Standing:
    outcomes = rows["outcome"]
    ratios = rows.loc[outcomes == PLAN, "ratio"].dropna()
    own, seconds = rows["own_goal"].dropna(), rows["seconds"].dropna()
    return Standing(
        policy=policy,
        ratio=float(np.exp(np.log(ratios).mean())) if len(ratios) else float("nan"),
        near=int((ratios <= NEAR).sum()),
        plans=int((outcomes == PLAN).sum()),
        broken=int((outcomes == BROKEN).sum()),
        without=int(outcomes.isin([NO_PLAN, CRASHED]).sum()),
        not_made=int((outcomes == NOT_MADE).sum()),
        seconds=float(seconds.median()) if len(seconds) else float("nan"),
        own_goal=bool(own.astype(bool).any()),
    )


def is_proved(best: float, bound: float) -> bool:
    """Whether the best known value is the best there is."""
    return bool(abs(best - bound) <= PROVED * max(abs(best), 1e-9))
