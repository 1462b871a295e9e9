"""X1.3: MIPS over the weight of exploration (paper 001, figure 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.mips.curves import LABELS, STYLES, curve, standard_error
from berth.experiments.mips.exploration_claims import exploration_claims, relative_spread
from berth.experiments.mips.requests import COMMON, FAT_TREE, FORMS, placed, requested

DEFAULT = 2.0**0.5
WEIGHTS = (0.0, 0.5, 1.0, DEFAULT, 2.0, 5.0, 10.0, 15.0, 20.0)
QUICK_WEIGHTS = (0.0, DEFAULT, 5.0, 20.0)
REQUESTS, REPEATS = 20, 5
QUICK_REQUESTS, QUICK_REPEATS = 8, 3
BLOCK = 2
"""Requests of one run."""


class Exploration:
    """The same requests are searched again and again, with different chance."""

    name = "X1.3"
    paper = "001 (MIPS), section V-B, figure 5"
    title = "MIPS: weight of exploration"
    schema = StructType(
        [
            StructField("form", StringType()),
            StructField("exploration", DoubleType()),
            StructField("request", IntegerType()),
            StructField("repeat", IntegerType()),
            StructField("failed", BooleanType()),
            StructField("traffic", DoubleType()),
            StructField("containers", DoubleType()),
            StructField("server_cost", DoubleType()),
        ]
    )
    calibrations = (
        *COMMON[:-1],
        Calibration(
            "the paper's 100 repeats", "20 requests, each searched 5 times with other chance", "nothing"
        ),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is some requests with one weight."""
        for form in FORMS:
            for weight in QUICK_WEIGHTS if setting.quick else WEIGHTS:
                for first in range(0, QUICK_REQUESTS if setting.quick else REQUESTS, BLOCK):
                    yield Run(
                        f"{form}/{weight:.3g}/{first}", {"form": form, "weight": weight, "first": first}
                    )

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """What the judge says of every plan."""
        form, weight, first = (run.parameters[name] for name in ("form", "weight", "first"))
        repeats = QUICK_REPEATS if setting.quick else REPEATS
        for request in range(first, first + BLOCK):
            problem = requested(FAT_TREE, setting.seed, request)
            for repeat in range(repeats):
                chance = request * repeats + repeat
                yield {
                    "form": form,
                    "exploration": weight,
                    "request": request,
                    "repeat": repeat,
                    **placed(problem, "mips", {**FORMS[form], "exploration": weight}, chance),
                }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Means and spread, for both forms of the search."""
        return [claim for form in FORMS for claim in exploration_claims(table, form)]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Means above, spread among repeats below."""
        figure.set_size_inches(10, 6.5)
        figure.set_layout_engine("constrained")
        panels = figure.subplots(2, len(LABELS))
        for (above, below), name in zip(panels.T, LABELS, strict=True):
            curve(above, table, "exploration", name, standard_error)
            above.set_ylim(0, None)
            for form, (colour, marker) in STYLES.items():
                spread = relative_spread(table, form, name)
                mean, error = spread.mean(axis=0), spread.sem(axis=0)
                below.errorbar(
                    mean.index, mean, yerr=error, color=colour, marker=marker, markersize=4, capsize=2
                )
            below.set_xlabel("weight of exploration ω", fontsize=8)
            below.set_ylabel("spread among repeats,\n% of the mean", fontsize=8)
            below.tick_params(labelsize=8)
            below.grid(alpha=0.3)
            below.set_ylim(0, None)
        panels[0][0].legend(fontsize=8)
        requests, repeats = table["request"].nunique(), table["repeat"].nunique()
        return (
            f"Above: means and standard errors. Below: the standard deviation among {repeats} searches of "
            f"the same request, the mean over {requests} requests with its standard error. A synthetic "
            "Fat-Tree of 16 servers, alpha 0.5, 500 samples. 'Corrected': costs between 0 and 1; 'as "
            "printed': raw costs. "
            f"{int(table['failed'].sum())} of {len(table)} plans failed and are left out."
        )


EXPERIMENT = Exploration()
