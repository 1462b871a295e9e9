"""X1.2: MIPS over alpha and over the number of samples (paper 001, figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.mips.curves import LABELS, curve, standard_error
from berth.experiments.mips.requests import COMMON, FAT_TREE, FORMS, placed, requested
from berth.experiments.mips.tradeoff_claims import ALPHA, SAMPLES, alpha_claims, sample_claims

VALUES: dict[str, tuple[float, ...]] = {
    ALPHA: (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    SAMPLES: (1, 10, 50, 100, 250, 500, 1000, 1500),
}
QUICK_VALUES: dict[str, tuple[float, ...]] = {
    ALPHA: (0.0, 0.3, 0.7, 1.0),
    SAMPLES: (1, 50, 500, 1000, 1500),
}
REPEATS, QUICK_REPEATS, BLOCK = 100, 10, 10


class Tradeoff:
    """One parameter of MIPS is varied, on the same requests."""

    name = "X1.2"
    paper = "001 (MIPS), section V-B, figure 4"
    title = "MIPS: weight of traffic and number of samples"
    schema = StructType(
        [
            StructField("varied", StringType()),
            StructField("form", StringType()),
            StructField("value", DoubleType()),
            StructField("repeat", IntegerType()),
            StructField("failed", BooleanType()),
            StructField("traffic", DoubleType()),
            StructField("containers", DoubleType()),
            StructField("server_cost", DoubleType()),
        ]
    )
    calibrations = (
        *COMMON,
        Calibration("least number of samples (E1.10)", "1, for the paper's 0", "nothing"),
        Calibration("samples while alpha is varied", "500, as in the paper's figure 3", "nothing"),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is some requests with one value."""
        repeats = QUICK_REPEATS if setting.quick else REPEATS
        for varied, values in (QUICK_VALUES if setting.quick else VALUES).items():
            for form in FORMS:
                for value in values:
                    for first in range(0, repeats, BLOCK):
                        yield Run(
                            f"{varied}/{form}/{value:g}/{first}",
                            {"varied": varied, "form": form, "value": value, "first": first},
                        )

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """What the judge says of every plan."""
        varied, form, value = (run.parameters[name] for name in ("varied", "form", "value"))
        given = {**FORMS[form], varied: int(value) if varied == SAMPLES else float(value)}
        for repeat in range(run.parameters["first"], run.parameters["first"] + BLOCK):
            problem = requested(FAT_TREE, setting.seed, repeat)
            common = {"varied": varied, "form": form, "value": float(value), "repeat": repeat}
            yield {**common, **placed(problem, "mips", given, repeat)}

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Both parts of the prose, for both forms of the search."""
        return [
            *(claim for form in FORMS for claim in alpha_claims(table, form)),
            *(claim for form in FORMS for claim in sample_claims(table, form)),
        ]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """A row for alpha and one for samples."""
        figure.set_size_inches(10, 6.5)
        figure.set_layout_engine("constrained")
        panels = figure.subplots(2, len(LABELS))
        labels = {ALPHA: "alpha (0: fewest containers, 1: least traffic)", SAMPLES: "samples a decision"}
        for row, (varied, label) in zip(panels, labels.items(), strict=True):
            part = table[table["varied"] == varied]
            for axes, name in zip(row, LABELS, strict=True):
                curve(axes, part, "value", name, standard_error)
                axes.set_xlabel(label, fontsize=8)
        panels[0][0].legend(fontsize=8)
        repeats = table["repeat"].nunique()
        return (
            f"Means and standard errors over {repeats} repeats, each a random request on a synthetic "
            "Fat-Tree of 16 servers; below, alpha is 0.5. 'Corrected' is the search with its errata repaired "
            "and costs normalised, without local steps; 'as printed' has raw costs and keeps only the map "
            f"that it committed to. {int(table['failed'].sum())} of {len(table)} plans failed and are left "
            "out."
        )


EXPERIMENT = Tradeoff()
