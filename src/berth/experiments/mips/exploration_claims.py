"""What paper 001 says of its figure 5."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from berth.experiments.experiment import Claim
from berth.experiments.judging import mean_of, verdict
from berth.experiments.mips.tradeoff_claims import NAMES

SAME_LEVEL, NEARLY = 5.0, 10.0
MIDDLE = (1.0, 5.0)
"""Weights that are neither unduly exploitative nor explorative; the usual one is sqrt(2)."""


def exploration_claims(table: pd.DataFrame, form: str) -> Iterator[Claim]:
    """Flat means, and more spread at both ends."""
    part = table[(table["form"] == form) & ~table["failed"]]
    means = part.groupby("exploration")[list(NAMES)].mean()
    ranges = 100.0 * (means.max() - means.min()) / means.mean()
    weights = f"{len(means)} weights from {means.index.min():g} to {means.index.max():g}"
    yield Claim(
        f"Costs stay at the same level for weights of exploration from 0 to 20 (search {form})",
        "roughly the same level",
        "highest less lowest mean, of the mean: "
        + ", ".join(f"{NAMES[name]} {value:.1f} %" for name, value in ranges.items())
        + f"; {weights}, {len(part) // max(len(means), 1)} plans each",
        verdict(float(ranges.max()) <= SAME_LEVEL, float(ranges.max()) <= NEARLY),
        f"Rule: none of the three varies by more than {SAME_LEVEL:g} %; the order: {NEARLY:g} %. As printed, "
        "the search weighs exploration against raw costs; corrected, against costs from 0 to 1 (E1.9)",
    )
    spreads = {name: relative_spread(table, form, name) for name in NAMES}
    for weight, end in ((means.index.min(), "no"), (means.index.max(), "the most")):
        gaps = {name: spread[weight] - _middle(spread) for name, spread in spreads.items()}
        whole = mean_of(sum(gaps.values()) / len(gaps))
        yield Claim(
            f"Results vary more among repeats with {end} exploration than with some (search {form})",
            "-",
            f"spread at {weight:g} less that from {MIDDLE[0]:g} to {MIDDLE[1]:g}, in points of the mean: "
            f"{whole.value:+.2f} ± {whole.error:.2f} for all three; "
            + ", ".join(f"{NAMES[name]} {gap.mean():+.2f}" for name, gap in gaps.items())
            + f"; {whole.draws} requests",
            verdict(whole.surely_positive, whole.surely_positive),
            "Rule: the standard deviation among searches of the same request, in % of their mean, is higher "
            "beyond chance (two standard errors). Where searches all find the best map, nothing varies",
        )


def relative_spread(table: pd.DataFrame, form: str, name: str) -> pd.DataFrame:
    """By request and weight: the standard deviation among repeats in percent of their mean."""
    part = table[(table["form"] == form) & ~table["failed"]]
    groups = part.groupby(["request", "exploration"])[name]
    return (100.0 * groups.std() / groups.mean()).unstack().fillna(0.0)


def _middle(spread: pd.DataFrame) -> pd.Series:
    low, high = MIDDLE
    return spread[[weight for weight in spread if low <= weight <= high]].mean(axis=1)
