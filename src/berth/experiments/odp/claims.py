"""Figures of a table of windows, and claims about them: one value for each draw, then their mean."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from berth.experiments.experiment import Claim, Verdict
from berth.experiments.judging import close_ratio, mean_of, verdict, within

CLOSE, CLOSE_COUNT = 0.1, 0.2
"""A count of the paper's single run is not known better than by a fifth."""
OFTEN, SOMETIMES = 0.5, 0.1
"""Shares of draws in which what the paper's single run shows must be seen."""
RATIO_RULE = (
    f"rule: mean within {CLOSE:.0%}, and its distance from 1 within a factor of two; the order: above 1 by "
    "more than two standard errors"
)
SAME = 1.001
"""Ratios up to this are equal but for rounding."""


def averages(
    table: pd.DataFrame, method: str, column: str, begin: float, end: float, calm: bool = False
) -> pd.Series[float]:
    """The mean of a column between two times, for each draw; `calm`: of windows in which nothing moved."""
    chosen = _between(table, method, begin, end)
    if calm:
        chosen = chosen[chosen["reassignments"] == 0]
    means: pd.Series[float] = chosen.groupby("instance")[column].mean()
    return means


def ratios(
    table: pd.DataFrame, method: str, optimum: str, column: str, begin: float, end: float, calm: bool = False
) -> pd.Series[float]:
    """A method's mean in terms of the optimum's, for each draw."""
    return averages(table, method, column, begin, end, calm) / averages(
        table, optimum, column, begin, end, calm
    )


def moves(table: pd.DataFrame, method: str, begin: float, end: float) -> pd.Series[int]:
    """How many reassignments there were between two times, for each draw."""
    counts: pd.Series[int] = _between(table, method, begin, end).groupby("instance")["reassignments"].sum()
    return counts


def last_move(table: pd.DataFrame, method: str) -> pd.Series[float]:
    """When the last reassignment was, for each draw; 0 without any."""
    chosen = table[table["method"] == method]
    times: pd.Series[float] = chosen["reassigned_at_s"].astype("float64").fillna(0.0)
    return times.groupby(chosen["instance"]).max()


def at_optimum(table: pd.DataFrame, method: str, optimum: str, time_s: float) -> pd.Series[bool]:
    """Whether the plan in force at a time is as good as the optimum, for each draw."""
    found, best = (
        table[(table["method"] == name) & (table["time_s"] == time_s)].set_index("instance")["goal"]
        for name in (method, optimum)
    )
    return found <= best * SAME


def typical(values: pd.Series[int] | pd.Series[float]) -> int:
    """The draw whose value is the (lower) median; of several, the first."""
    ordered = values.sort_values(kind="stable")
    median = ordered.iloc[(len(ordered) - 1) // 2]
    return int(values[values == median].index.min())


def _between(table: pd.DataFrame, method: str, begin: float, end: float) -> pd.DataFrame:
    return table[(table["method"] == method) & (table["time_s"] > begin) & (table["time_s"] <= end)]


def ratio_claim(text: str, paper: float, found: pd.Series[float], reason: str) -> Claim:
    """A claim about a ratio above 1: close to the paper's, or at least above 1 by more than chance."""
    known = found.dropna()
    mean = mean_of(known)
    return Claim(
        text,
        f"{paper:g} x",
        f"{mean.text()} x, quartiles {_quartiles(known)}, {len(known)} of {len(found)} draws",
        verdict(close_ratio(mean.value, paper, CLOSE), mean_of(known - 1.0).surely_positive),
        f"{RATIO_RULE}. {reason}",
    )


def count_claim(text: str, paper: float, found: pd.Series[int], ordered: bool, reason: str) -> Claim:
    """A claim about a count of reassignments."""
    mean = mean_of(found)
    return Claim(
        text,
        f"{paper:g}",
        f"{mean.text(1)}, quartiles {_quartiles(found)}, {mean.draws} draws",
        verdict(within(mean.value, paper, CLOSE_COUNT), ordered),
        f"rule: mean within {CLOSE_COUNT:.0%} (the paper's is a count of one run). {reason}",
    )


def share_claim(text: str, paper: str, found: pd.Series[bool], reason: str) -> Claim:
    """A claim about the paper's single run: it holds in most draws, in some, or in none."""
    if not len(found):
        return Claim(text, paper, "no draw to look at", Verdict.NOT_REPRODUCED, reason)
    share = float(found.mean())
    return Claim(
        text,
        paper,
        f"in {int(found.sum())} of {len(found)} draws",
        verdict(share >= OFTEN, share >= SOMETIMES),
        "rule: in at least half of the draws; ordering only: in a tenth, so that it happens but is not "
        f"the rule. {reason}",
    )


def _quartiles(values: pd.Series[int] | pd.Series[float]) -> str:
    low, high = np.quantile(values, [0.25, 0.75]) if len(values) else (math.nan, math.nan)
    return f"{low:.2f} to {high:.2f}"
