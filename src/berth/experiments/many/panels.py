"""The figures of paper 004: a row for each strategy, a curve for each heuristic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from berth.experiments.many.outcome import Outcome
from berth.experiments.many.ways import CARD, CARD_LEFT, FASTEST, FASTEST_LEFT, HEURISTICS, NO_REUSE, REUSE
from berth.policies.sharing.heuristics import STRATEGIES

PAPERS_NUMBERS = {CARD_LEFT: 3, FASTEST_LEFT: 4, CARD: 2, FASTEST: 1}
"""Strategies in the order of the rows, best first as in the paper, and the numbers they have there."""
NOTHING = "no heuristic finds a plan"
STYLES = (
    ("#888888", "x"),
    ("#c77dbb", "+"),
    ("#1f5fa8", "o"),
    ("#2a9d5c", "s"),
    ("#c8452e", "^"),
    ("#e0a02c", "v"),
)


def draw_curves(
    figure: Figure, outcome: Outcome, axis: str, variants: Mapping[str, Outcome], usual: float
) -> None:
    """Plans and performance with reuse, plans without reuse; below, what other settings do."""
    extra = 1 if variants else 0
    figure.set_size_inches(10, 9.5 + 2.8 * extra)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(
        len(STRATEGIES) + extra, 3, height_ratios=[1.0] * len(STRATEGIES) + [1.1] * extra
    )
    columns = (
        ("plans found, with reuse", outcome.found, REUSE),
        ("relative performance, with reuse", outcome.quality, REUSE),
        ("plans found, without reuse", outcome.found, NO_REUSE),
    )
    for row, (strategy, number) in enumerate(PAPERS_NUMBERS.items()):
        for column, (title, table, reuse) in enumerate(columns):
            axes = figure.add_subplot(grid[row, column])
            _curves(axes, outcome.values, table[:, :, reuse, strategy])
            if row == 0:
                axes.set_title(title, fontsize=10)
            if row == len(STRATEGIES) - 1:
                axes.set_xlabel(axis, fontsize=9)
            share = f"{STRATEGIES[strategy]}\n(strategy {number})\nshare of forests"
            axes.set_ylabel((share, "least cost / cost", "share of forests")[column], fontsize=8)
            highest = table[:, :, reuse, strategy].mean(axis=1).max()
            if column == 1:
                axes.set_ylim(0.0, max(0.05, 1.1 * highest))
            if not highest:
                axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(HEURISTICS), fontsize=9, frameon=False
    )
    if variants:
        axes = figure.add_subplot(grid[-1, :])
        _settings(axes, {"as usual": _at(outcome, usual), **variants}, f"{axis}: {usual:g}")


def _curves(axes: Axes, values: NDArray[np.float64], table: NDArray[np.float64]) -> None:
    runs = table.shape[1]
    means, errors = table.mean(axis=1), table.std(axis=1) / np.sqrt(max(runs, 1))
    for number, (heuristic, (colour, marker)) in enumerate(zip(HEURISTICS, STYLES, strict=True)):
        mean, error = means[:, number], errors[:, number]
        axes.plot(values, mean, label=heuristic, color=colour, marker=marker, markersize=3.5, linewidth=1.2)
        axes.fill_between(values, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
    axes.set_ylim(-0.04, 1.04)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)


def _at(outcome: Outcome, value: float) -> Outcome:
    chosen = outcome.values == value
    return Outcome(outcome.values[chosen], outcome.found[chosen], outcome.quality[chosen])


def _settings(axes: Axes, parts: Mapping[str, Outcome], title: str) -> None:
    """What the paper leaves open: plans of the six heuristics, the mean over the strategies."""
    width = 0.8 / len(HEURISTICS)
    places = np.arange(len(parts), dtype=np.float64)
    for number, (heuristic, (colour, _)) in enumerate(zip(HEURISTICS, STYLES, strict=True)):
        shares = [part.success(number).mean() for part in parts.values()]
        axes.bar(places + (number - 2.5) * width, shares, width, color=colour, label=heuristic)
    axes.set_xticks(places, list(parts), fontsize=8)
    axes.set_ylim(0, 1.04)
    axes.set_ylabel("share of forests,\nmean of 4 strategies", fontsize=8)
    axes.set_title(f"plans found with reuse under settings that the paper leaves open; {title}", fontsize=10)
    axes.grid(alpha=0.3, axis="y")
