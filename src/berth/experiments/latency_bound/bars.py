"""Bars for the four ways, with present loads and late ones: the form of paper 002's figures 3 and 4."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from berth.experiments.latency_bound.growing import COLOURS, LABELS, STALENESS


def bars(axes: Axes, values: dict[float, pd.DataFrame], decimals: int) -> None:
    """A pair of bars for each way: means over draws of hosts with their standard errors."""
    for number, (stale, title) in enumerate(STALENESS.items()):
        means, errors = values[stale].mean(), values[stale].sem()
        for place, way in enumerate(LABELS):
            drawn = axes.bar(
                place + 0.38 * (number - 0.5),
                means[way],
                0.36,
                yerr=errors[way],
                color=COLOURS[way],
                alpha=1.0 - 0.45 * number,
                hatch="//" * number,
                edgecolor="white",
                capsize=3,
                label=title if way == "el" else None,
            )
            axes.bar_label(drawn, fmt=f"%.{decimals}f", padding=2, fontsize=8)
    axes.set_xticks(range(len(LABELS)), list(LABELS.values()))
    axes.legend()
