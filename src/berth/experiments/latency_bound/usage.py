"""X2.2: data in flight for each way to choose candidates (paper 002, figure 3).

The same deployments as in X2.1, judged by the network: how much data is in flight between machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.judging import mean_of, order_verdict
from berth.experiments.latency_bound.growing import (
    CALIBRATIONS,
    LABELS,
    PRESENT,
    SCHEMA,
    STALENESS,
    bars,
    failures,
    growing_rows,
    growing_runs,
    side_by_side,
)
from berth.experiments.networks import ABOUT, papers_network

ORDERS = (
    ("kNN's usage is low: below CkNN's", "cknn", "knn"),
    ("kRand's usage is low: below CkNN's", "cknn", "krand"),
    ("EL's usage is high: above kNN's", "el", "knn"),
    ("EL's usage is high: above CkNN's", "el", "cknn"),
)
WHY_RANDOM = (
    " Random hosts of an ellipse that seconds of work make wide are far from the place of least usage; the "
    "paper's hosts and rates, which would tell why not there, are not published"
)

WHY_NEAREST = (
    " Both take hosts near the place of least usage, and with present loads CkNN leaves out few of these: "
    "its condition is necessary only (E2.7), and work of seconds outweighs delays"
)


class Usage:
    """The deployments of X2.1, looked at several times on the way."""

    name = "X2.2"
    paper = "002, latency constraints (Rizou, Dürr, Rothermel 2011), figure 3"
    title = "Network usage of the ways to choose candidates"
    schema = SCHEMA
    calibrations = (*CALIBRATIONS, Calibration("mean over time", "after 20, 40, ... 120 graphs", "nothing"))

    def runs(self, setting: Setting) -> Iterable[Run]:
        """Snapshots while 120 graphs are deployed."""
        if setting.quick:
            return growing_runs(setting, (40, 80, 120), 4)
        return growing_runs(setting, range(20, 121, 20), 20)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """The usage after every few graphs."""
        return growing_rows(run, setting)

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """The order of the four."""
        values = over_time(table, "usage_kb")
        where = f"{ABOUT[papers_network(setting.data)]}; {failures(table)}"
        claims = []
        for text, higher, lower in ORDERS:
            difference = values[PRESENT][higher] - values[PRESENT][lower]
            shown = "; ".join(
                f"{title}: {LABELS[lower]} {mean_of(values[stale][lower]).text()} KB, "
                f"{LABELS[higher]} {mean_of(values[stale][higher]).text()} KB"
                for stale, title in STALENESS.items()
            )
            claims.append(
                Claim(
                    text,
                    "-",
                    f"{shown}; {len(difference)} draws of hosts",
                    order_verdict(difference.tolist()),
                    "rule: the mean difference over draws is above 0 by more than two standard errors, with "
                    f"present loads; {where}.{_why(lower, difference)}",
                )
            )
        return claims

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Bars as in the paper."""
        figure.set_size_inches(9, 4.5)
        axes = figure.subplots()
        bars(axes, over_time(table, "usage_kb"), 2)
        axes.set_ylabel("data in transit for a graph, KB")
        return (
            "Data in transit for each graph (rate x delay), mean over time while 120 graphs are deployed, "
            f"and over {table['draw'].nunique()} draws of 200 hosts, with standard errors; "
            f"{ABOUT[papers_network(setting.data)]}. {failures(table)}."
        )


def _why(lower: str, difference: pd.Series[float]) -> str:
    """What is known about an order that doesn't hold."""
    if mean_of(difference).surely_positive:
        return ""
    return {"krand": WHY_RANDOM, "knn": WHY_NEAREST}.get(lower, "")


def over_time(table: pd.DataFrame, values: str) -> dict[float, pd.DataFrame]:
    """For each staleness, draws as rows and ways as columns: the mean over all numbers of operators."""
    return {stale: side_by_side(table, stale, values).groupby(level="draw").mean() for stale in STALENESS}


EXPERIMENT = Usage()
