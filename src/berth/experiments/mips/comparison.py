"""X1.1: MIPS against first fit, T-Heron and R-Heron (paper 001, figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.mips.bars import draw_comparison
from berth.experiments.mips.comparison_claims import comparison_claims
from berth.experiments.mips.requests import COMMON, CORRECTED, FAT_TREE, FORMS, TOPOLOGIES, placed, requested
from berth.experiments.mips.schemes import AS_USUAL, FURTHER, SCHEMES, VARIANTS

REPEATS, QUICK_REPEATS, VARIANT_REPEATS = 100, 20, 25


class Comparison:
    """Every scheme places the same requests, on both topologies."""

    name = "X1.1"
    paper = "001 (MIPS), section V-B, figure 3"
    title = "Two-stage schemes: traffic, containers and cost"
    schema = StructType(
        [
            StructField("variant", StringType()),
            StructField("topology", StringType()),
            StructField("repeat", IntegerType()),
            StructField("scheme", StringType()),
            StructField("failed", BooleanType()),
            StructField("traffic", DoubleType()),
            StructField("containers", DoubleType()),
            StructField("server_cost", DoubleType()),
            StructField("total_traffic", DoubleType()),
            StructField("instances", IntegerType()),
        ]
    )
    calibrations = (
        *COMMON,
        Calibration(
            "T-Heron's choice of equally good containers",
            "an empty one (the other way is shown, too)",
            "T/B uses more containers than M/M (traffic)",
        ),
        Calibration(
            "the scale of figure 3 (a) (E1.16)",
            "(T + U) / 2 for all schemes, T in B/s: equation (8) at alpha = 0.5",
            "nothing; reductions by shares of the most are told beside it",
        ),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is a repeat: one request, all schemes."""
        for repeat in range(QUICK_REPEATS if setting.quick else REPEATS):
            yield Run(f"{AS_USUAL}/{repeat}", {"variant": AS_USUAL, "repeat": repeat})
        if not setting.quick:
            for variant in VARIANTS:
                for repeat in range(VARIANT_REPEATS):
                    yield Run(f"{variant}/{repeat}", {"variant": variant, "repeat": repeat})

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """What the judge says of every scheme's plan."""
        variant, repeat = run.parameters["variant"], run.parameters["repeat"]
        usual = variant == AS_USUAL
        for topology in TOPOLOGIES if usual else (FAT_TREE,):
            problem = requested(topology, setting.seed, repeat, **({} if usual else VARIANTS[variant]))
            operators = [operator for item in problem.applications for operator in item.operators]
            streams = [stream for item in problem.applications for stream in item.streams]
            common = {
                "variant": variant,
                "topology": topology,
                "repeat": repeat,
                "total_traffic": sum(stream.bytes_per_s or 0.0 for stream in streams),
                "instances": sum(operator.parallelism for operator in operators),
            }
            further = FURTHER if usual and topology == FAT_TREE else {}
            for scheme, (policy, parameters) in {**SCHEMES, **further}.items():
                given = FORMS[CORRECTED] | parameters if policy == "mips" else parameters
                yield {**common, "scheme": scheme, **placed(problem, policy, given, repeat)}

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """All numbers of the paper's prose."""
        return comparison_claims(table)

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """The panels of figure 3."""
        return draw_comparison(table, figure)


EXPERIMENT = Comparison()
