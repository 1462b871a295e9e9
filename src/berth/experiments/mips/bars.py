"""The panels of paper 001's figure 3: a bar for each scheme."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.experiments.mips.requests import FAT_TREE, TOPOLOGIES
from berth.experiments.mips.schemes import AS_USUAL, FURTHER, MIPS, SCHEMES, common_repeats, failures

PANELS = {
    "cost": "(a) first stage: (T + U) / 2",
    "server_cost": "(a) second stage: traffic x hops, B/s",
    "traffic": "(b) traffic between containers T, B/s",
    "containers": "(c) containers used U",
}
SHADES = {FAT_TREE: "#1f5fa8", "Jellyfish": "#e0a02c"}


def draw_comparison(table: pd.DataFrame, figure: Figure) -> str:
    """Both topologies for the paper's schemes, and further ones on the Fat-Tree."""
    figure.set_size_inches(10, 7.5)
    figure.set_layout_engine("constrained")
    parts = {name: common_repeats(table, AS_USUAL, name) for name in TOPOLOGIES}
    for axes, (column, title) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        for place, (topology, part) in enumerate(parts.items()):
            _bars(axes, part[column], topology, place)
        schemes = [*SCHEMES, *FURTHER]
        axes.set_xticks(range(len(schemes)), schemes, rotation=40, ha="right", fontsize=8)
        axes.axvline(len(SCHEMES) - 0.5, color="black", linewidth=0.8, linestyle=":")
        axes.set_title(title, fontsize=10)
        axes.set_ylabel(title.partition(") ")[2].rpartition(": ")[2], fontsize=8)
        axes.grid(alpha=0.3, axis="y")
        axes.set_axisbelow(True)
    figure.axes[0].legend(fontsize=8)
    repeats = " and ".join(f"{len(part)} ({name})" for name, part in parts.items())
    return (
        f"Means and standard errors over {repeats} repeats, each a random request on synthetic servers; "
        f"{failures(table, AS_USUAL)}. Right of the dotted line: parts and readings that the paper doesn't "
        f"show, on the Fat-Tree. {', '.join(MIPS)} are MIPS with its errata repaired and without local "
        "steps; 'polished' has these, too. F, T, R: the packing of FFD, T-Heron and R-Heron; B: best fit "
        "in the "
        "second stage."
    )


def _bars(axes: Axes, values: pd.DataFrame, label: str, place: int) -> None:
    schemes = [scheme for scheme in (*SCHEMES, *FURTHER) if scheme in values]
    alone = np.array([scheme in FURTHER for scheme in schemes])
    where = np.arange(len(schemes)) + np.where(alone, 0.0, 0.4 * place - 0.2)
    errors = values[schemes].std() / np.sqrt(max(len(values), 1))
    axes.bar(where, values[schemes].mean(), 0.4, yerr=errors, label=label, color=SHADES[label], capsize=2)
