"""Curves over a parameter of MIPS: a panel for each figure of the judge, a line for each form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from berth.experiments.mips.requests import CORRECTED, PRINTED

LABELS = {
    "containers": "containers used U",
    "traffic": "traffic between containers T, B/s",
    "server_cost": "traffic x hops between servers W, B/s",
}
STYLES = {CORRECTED: ("#1f5fa8", "o"), PRINTED: ("#c8452e", "s")}


def curve(
    axes: Axes, table: pd.DataFrame, parameter: str, figure: str, spread: Callable[[pd.Series], float]
) -> None:
    """Means over a parameter for each form, with bars as long as `spread` says."""
    for form, part in table[~table["failed"]].groupby("form", sort=False):
        colour, marker = STYLES[str(form)]
        groups = part.groupby(parameter)[figure]
        means, errors = groups.mean(), groups.agg(spread)
        axes.errorbar(
            means.index, means, yerr=errors, label=form, color=colour, marker=marker, markersize=4, capsize=2
        )
    axes.set_ylabel(LABELS[figure], fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)


def standard_error(values: pd.Series) -> float:
    """Of a mean over repeats."""
    return float(values.std() / np.sqrt(len(values)))
