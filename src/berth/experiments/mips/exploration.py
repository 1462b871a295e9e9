"""X1.3: MIPS over the weight of exploration (paper 001, figure 5).

How much the tree search tries what it knows little about is set by a factor omega. It is varied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting, columns
from berth.experiments.judging import mean_of, verdict
from berth.experiments.mips.requests import (
    COMMON,
    FAT_TREE,
    FORMS,
    LABELS,
    STYLES,
    curve,
    placed,
    requested,
    standard_error,
)
from berth.experiments.mips.tradeoff import NAMES

DEFAULT = 2.0**0.5
WEIGHTS = (0.0, 0.5, 1.0, DEFAULT, 2.0, 5.0, 10.0, 15.0, 20.0)
QUICK_WEIGHTS = (0.0, DEFAULT, 5.0, 20.0)
REQUESTS, REPEATS = 20, 5
QUICK_REQUESTS, QUICK_REPEATS = 8, 3
BLOCK = 2
"""Requests of one run."""
SAME_LEVEL, NEARLY = 5.0, 10.0
MIDDLE = (1.0, 5.0)
"""Weights that are neither unduly exploitative nor explorative; the usual one is sqrt(2)."""


class Exploration:
    """The same requests are searched again and again, with different chance."""

    name = "X1.3"
    paper = "001 (MIPS), section V-B, figure 5"
    title = "MIPS: weight of exploration"
    schema = columns(
        form=str,
        exploration=float,
        request=int,
        repeat=int,
        failed=bool,
        traffic=float,
        containers=float,
        server_cost=float,
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


EXPERIMENT = Exploration()
