"""What the five experiments of paper 004 have in common: one thing is varied, all ways are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, columns
from berth.experiments.many.heuristics import (
    CARD,
    CARD_LEFT,
    FASTEST,
    FASTEST_LEFT,
    HEURISTICS,
    NO_REUSE,
    REUSE,
    USUAL,
    Outcome,
    costs,
    forest,
    outcome_of,
)
from berth.experiments.many.rules import Rule
from berth.generators.forest import Forest
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
FORESTS = 50
"""The paper's runs for each value."""
BLOCK = 10
"""Forests of one run of ours."""
SEEDS_APART = 1000
"""Experiments with different seeds have no forest in common."""
AS_USUAL = "as usual"
COMMON = (
    Calibration("copies of each object (E4.14)", "1, and 3 or 10 among X4.1's other settings"),
    Calibration(
        "alike: chance that a subtree is one that was drawn before (E4.14)",
        "0.6 of 0.4 to 0.85",
        "success of TopDownBFS in experiment 1: a rise from 1 to 20 processors, then most of the 50 runs",
    ),
    Calibration("operators of an application", "drawn from 25 to 50 (of 'at most 50'; half the most)"),
    Calibration("what operators do", "one function: equal inputs make equal operators (E4.14)"),
    Calibration(
        "who may join a processor of a blocking strategy",
        "father and children of the operator that it was chosen for",
        "no plan without reuse below 60 processors with strategy 2",
    ),
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
        _settings(axes, {AS_USUAL: outcome, **variants}, axis, usual)


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


def _settings(axes: Axes, parts: Mapping[str, Outcome], axis: str, usual: float) -> None:
    """What the paper leaves open: plans of the six heuristics, the mean over the strategies."""
    width = 0.8 / len(HEURISTICS)
    places = np.arange(len(parts), dtype=np.float64)
    for number, (heuristic, (colour, _)) in enumerate(zip(HEURISTICS, STYLES, strict=True)):
        shares = [part.mean(part.found, number, usual, usual).mean() for part in parts.values()]
        axes.bar(places + (number - 2.5) * width, shares, width, color=colour, label=heuristic)
    axes.set_xticks(places, list(parts), fontsize=8)
    axes.set_ylim(0, 1.04)
    axes.set_ylabel("share of forests,\nmean of 4 strategies", fontsize=8)
    title = f"plans found with reuse under settings that the paper leaves open; {axis}: {usual:g}"
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3, axis="y")


@dataclass(frozen=True)
class Sweep:
    """One setting of the generator is varied.

    Attributes:
        name: of the experiment.
        title: what is varied, in a few words.
        about: what it is about, for people who have not read the paper.
        figures: the paper's.
        varied: the setting of the generator.
        axis: what it is, with its unit.
        values: of it.
        quick_forests: forests for each value in quick mode.
        questions: what the paper says, and how that is judged.
        fixed: other settings.
        variants: further settings by name, tried at `usual_value` only.
        usual_value: where the variants are tried.
        calibrations: what the paper doesn't give.
    """

    name: str
    title: str
    about: str
    figures: str
    varied: str
    axis: str
    values: Sequence[int]
    quick_forests: int
    questions: Mapping[str, Rule]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    usual_value: int = 0
    calibrations: Sequence[Calibration] = COMMON

    def experiment(self) -> Experiment:
        """What `berth reproduce` runs."""
        return Experiment(
            name=self.name,
            paper=f"004 (Benoit, Casanova, Rehn-Sonigo, Robert), section 6.2, {self.figures}",
            title=f"Heuristics for many applications: {self.title}",
            about=self.about,
            schema=columns(
                "variant str, value float, forest int, reuse bool, strategy str, heuristic str, found bool, "
                "enrolled_speed float"
            ),
            runs=self.runs,
            rows=self.rows,
            claims=self.claims,
            draw=self.draw,
            calibrations=self.calibrations,
        )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is some forests of one value."""
        cases = [(AS_USUAL, value) for value in self.values]
        cases += [(variant, self.usual_value) for variant in self.variants]
        most = self.quick_forests if setting.quick else FORESTS
        for variant, value in cases:
            for first in range(0, most, BLOCK):
                forests = min(BLOCK, most - first)
                yield Run.of(
                    "{variant}/{value}/{first}", variant=variant, value=value, first=first, forests=forests
                )

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """Every way's speed enrolled, for every forest; none where it found no plan."""
        variant, value, first = (run.parameters[name] for name in ("variant", "value", "first"))
        given = {**USUAL, **self.fixed, self.varied: value, **self.variants.get(variant, {})}
        for number in range(first, first + run.parameters["forests"]):
            seed = setting.seed * SEEDS_APART + number
            cost = costs(forest(seed, Forest(**given)), seed)
            ways = product((False, True), STRATEGIES, HEURISTICS)
            for (reuse, strategy, heuristic), speed in zip(ways, cost.ravel().tolist(), strict=True):
                yield {
                    "variant": variant,
                    "value": float(value),
                    "forest": number,
                    "reuse": reuse,
                    "strategy": strategy,
                    "heuristic": heuristic,
                    "found": bool(np.isfinite(speed)),
                    "enrolled_speed": speed if np.isfinite(speed) else None,
                }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """What the paper says of it."""
        outcome = outcome_of(table[table["variant"] == AS_USUAL])
        return [rule.claim(text, outcome) for text, rule in self.questions.items()]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Plans found and relative performance over what is varied, for every strategy."""
        parts = {str(variant): outcome_of(part) for variant, part in table.groupby("variant", sort=False)}
        outcome = parts.pop(AS_USUAL)
        draw_curves(figure, outcome, self.axis, parts, self.usual_value)
        runs = outcome.found.shape[1]
        return (
            f"Plans found and relative performance of six heuristics against: {self.axis}. A row for each "
            "strategy, the way to choose a new processor. Relative performance: the least speed enrolled by "
            "any heuristic with any strategy over the own one, 0 without a plan; its axes end at the highest "
            f"mean. {runs} random forests for each value, on synthetic processors; bands are one standard "
            "error wide on either side; a heuristic that is stuck counts as no plan. Without reuse Random "
            "and RandomNoReuse are the same."
        )
