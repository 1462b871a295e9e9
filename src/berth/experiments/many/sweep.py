"""What the five experiments of paper 004 have in common: one thing is varied, all ways are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.many.outcome import outcome_of
from berth.experiments.many.panels import draw_curves
from berth.experiments.many.rules import Question
from berth.experiments.many.ways import HEURISTICS, NO_REUSE, REUSE, USUAL, costs, forest
from berth.generators.forest import ForestParameters
from berth.policies.sharing.heuristics import STRATEGIES

FORESTS = 50
"""The paper's runs for each value."""
BLOCK = 10
"""Forests of one run of ours."""
SEEDS_APART = 1000
"""Experiments with different seeds have no forest in common."""
AS_USUAL = "as usual"
COMMON = (
    Calibration("copies of each object (E4.14)", "1, and 3 or 10 among X4.1's other settings", "nothing"),
    Calibration(
        "alike: chance that a subtree is one that was drawn before (E4.14)",
        "0.6 of 0.4 to 0.85",
        "success of TopDownBFS in experiment 1: a rise from 1 to 20 processors, then most of the 50 runs",
    ),
    Calibration(
        "operators of an application", "drawn from 25 to 50 (of 'at most 50'; half the most)", "nothing"
    ),
    Calibration("what operators do", "one function: equal inputs make equal operators (E4.14)", "nothing"),
    Calibration(
        "who may join a processor of a blocking strategy",
        "father and children of the operator that it was chosen for",
        "no plan without reuse below 60 processors with strategy 2",
    ),
)


@dataclass(frozen=True)
class Sweep:
    """One setting of the generator is varied.

    Attributes:
        name: of the experiment.
        title: what it shows.
        figures: the paper's.
        varied: the setting of the generator.
        axis: what it is, with its unit.
        values: of it.
        quick_forests: forests for each value in quick mode.
        questions: what the paper says.
        fixed: other settings.
        variants: further settings by name, tried at `usual_value` only.
        usual_value: where the variants are tried.
        calibrations: what the paper doesn't give.
    """

    name: str
    title: str
    figures: str
    varied: str
    axis: str
    values: Sequence[int]
    quick_forests: int
    questions: Sequence[Question]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    usual_value: int = 0
    calibrations: Sequence[Calibration] = COMMON

    schema = StructType(
        [
            StructField("variant", StringType()),
            StructField("value", DoubleType()),
            StructField("forest", IntegerType()),
            StructField("reuse", BooleanType()),
            StructField("strategy", StringType()),
            StructField("heuristic", StringType()),
            StructField("found", BooleanType()),
            StructField("enrolled_speed", DoubleType()),
        ]
    )

    @property
    def paper(self) -> str:
        """Where the paper has it."""
        return f"004 (Benoit, Casanova, Rehn-Sonigo, Robert), section 6.2, {self.figures}"

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is some forests of one value."""
        cases = [(AS_USUAL, value) for value in self.values]
        cases += [(variant, self.usual_value) for variant in self.variants]
        forests = self.quick_forests if setting.quick else FORESTS
        for variant, value in cases:
            for first in range(0, forests, BLOCK):
                yield Run(
                    f"{variant}/{value}/{first}",
                    {
                        "variant": variant,
                        "value": value,
                        "first": first,
                        "forests": min(BLOCK, forests - first),
                    },
                )

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """Every way's speed enrolled, for every forest; none where it found no plan."""
        variant, value, first = (run.parameters[name] for name in ("variant", "value", "first"))
        given = {**USUAL, **self.fixed, self.varied: value, **self.variants.get(variant, {})}
        for number in range(first, first + run.parameters["forests"]):
            seed = setting.seed * SEEDS_APART + number
            cost = costs(forest(seed, ForestParameters(**given)), seed)
            for reuse in (NO_REUSE, REUSE):
                for strategy, of_strategy in zip(STRATEGIES, cost[reuse], strict=True):
                    for heuristic, speed in zip(HEURISTICS, of_strategy.tolist(), strict=True):
                        yield {
                            "variant": variant,
                            "value": float(value),
                            "forest": number,
                            "reuse": bool(reuse),
                            "strategy": strategy,
                            "heuristic": heuristic,
                            "found": bool(np.isfinite(speed)),
                            "enrolled_speed": speed if np.isfinite(speed) else None,
                        }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """What the paper says of it."""
        outcome = outcome_of(table[table["variant"] == AS_USUAL])
        return [question.asked(outcome) for question in self.questions]

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
            "error wide on either side; a heuristic that is stuck counts as no plan. Without reuse "
            "Random and "
            "RandomNoReuse are the same."
        )
