"""X2.1: latency under growing load (paper 002, figure 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Claim, Row, Run, Setting
from berth.experiments.latency_bound.growing import (
    CALIBRATIONS,
    COLOURS,
    LABELS,
    SCHEMA,
    STALENESS,
    failures,
    growing_rows,
    growing_runs,
    side_by_side,
)
from berth.experiments.latency_bound.latency_claims import latency_claims
from berth.experiments.networks import ABOUT, papers_network


class Latency:
    """A bound of 0 ms: every graph looks for its least latency."""

    name = "X2.1"
    paper = "002, latency constraints (Rizou, Dürr, Rothermel 2011), figure 2"
    title = "Latency while operators are added"
    schema = SCHEMA
    calibrations = CALIBRATIONS

    def runs(self, setting: Setting) -> Iterable[Run]:
        """Up to 120 graphs, 240 operators."""
        if setting.quick:
            return growing_runs(setting, (10, 30, 60, 90, 120), 4)
        return growing_runs(setting, range(10, 121, 10), 20)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """The latency after every few graphs."""
        return growing_rows(run, setting)

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """How the four ways compare."""
        return latency_claims(table, papers_network(setting.data))

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """The paper's figure, with present loads and with late ones."""
        figure.set_size_inches(9, 4.5)
        for axes, (stale, title) in zip(figure.subplots(1, 2, sharey=True), STALENESS.items(), strict=True):
            values = side_by_side(table, stale, "latency_ms") / 1000.0
            means, errors = (getattr(values.groupby(level="operators"), how)() for how in ("mean", "sem"))
            for way, label in LABELS.items():
                axes.errorbar(
                    means.index,
                    means[way],
                    errors[way],
                    label=label,
                    color=COLOURS[way],
                    marker="o",
                    markersize=3,
                )
            axes.set_title(title)
            axes.set_xlabel("operators deployed")
            axes.set_ylabel("mean end-to-end latency, s")
            axes.set_ylim(bottom=0)
            axes.legend()
        return (
            "Mean end-to-end latency of all graphs deployed so far, latency bound 0, 200 hosts; "
            f"{ABOUT[papers_network(setting.data)]}. Means over {table['draw'].nunique()} draws of hosts "
            "with their "
            "standard errors. Left: hosts tell their present loads; right: an answer is older by a "
            "placement for "
            f"every host asked before it. {failures(table)}."
        )


EXPERIMENT = Latency()
