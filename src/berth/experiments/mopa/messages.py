"""X3.2: messages until a new solution is reached (paper 003, figure 3).

Streams change their rates, and the placement adapts. Counted are the messages that MOPA and SBON exchange
until they are at rest again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Claim, Row, Run, Setting, columns
from berth.experiments.judging import mean_of, verdict, within
from berth.experiments.mopa.graphs import (
    CALIBRATIONS,
    CHANGES,
    COLOURS,
    adapting_runs,
    counted,
    cumulative,
    finish,
)
from berth.experiments.networks import ABOUT, papers_network

METHODS: dict[str, tuple[str, dict[str, Any]]] = {"MOPA": ("mopa", {"refine": False}), "SBON": ("sbon", {})}
PAPER = {"MOPA": (0, 28), "SBON": (64, 365)}
PAPER_SHARE = 0.0325


class Messages:
    """Graphs of 12 operators that adapt to new rates."""

    name = "X3.2"
    paper = "003, MOPA (Rizou, Dürr, Rothermel 2010), figure 3"
    title = "Messages to adapt to new rates"
    schema = columns(network=str, draw=int, graph=int, change=str, policy=str, messages=int, failed=bool)
    calibrations = CALIBRATIONS

    def runs(self, setting: Setting) -> Iterable[Run]:
        """2000 graphs; fewer if quick."""
        return adapting_runs(setting)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """The messages of every graph, change and policy."""
        return counted(run, setting, METHODS, "messages")

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """The ranges, their order and the ratio, for both ways to read the change."""
        where = ABOUT[papers_network(setting.data)]
        return [claim for change in CHANGES for claim in _claims(table, change, where)]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """The paper's figure for both ways to read the change."""
        figure.set_size_inches(9, 4.5)
        for axes, change in zip(figure.subplots(1, 2, sharey=True), CHANGES, strict=True):
            side_by_side = paired(table, change, "messages")
            for policy in METHODS:
                found = side_by_side[policy]
                low, high = found.min(), found.max()
                cumulative(axes, found, f"{policy}: {low:.0f} to {high:.0f}", COLOURS[policy])
            axes.set_xscale("symlog", linthresh=10)
            axes.set_xlim(left=0)
            finish(axes, f"new rates of {change}", "messages", "center")
        graphs, failed = table.groupby(["draw", "graph"]).ngroups, int(table["failed"].sum())
        return (
            f"Cumulative distribution of the messages until operators rest again, {graphs} graphs of 12 "
            f"operators; {ABOUT[papers_network(setting.data)]}. {failed} of {len(table)} plans failed and "
            "are left out. The axis is linear up to 10 and logarithmic beyond."
        )


def paired(table: pd.DataFrame, change: str, values: str) -> pd.DataFrame:
    """Graphs for which every policy has a plan: a column for each."""
    part = table[(table["change"] == change) & ~table["failed"]]
    return part.pivot_table(index=["draw", "graph"], columns="policy", values=values).dropna()


def _claims(table: pd.DataFrame, change: str, where: str) -> Iterable[Claim]:
    pairs = paired(table, change, "messages")
    here = f"new rates of {change}"
    base = f"{where}; {int(table.loc[table['change'] == change, 'failed'].sum())} plans failed"
    fewer = float((pairs["MOPA"] < pairs["SBON"]).mean())
    yield Claim(
        f"MOPA needs fewer messages than SBON in all cases ({here})",
        "100 %",
        f"{fewer:.1%} of {len(pairs)} graphs",
        verdict(fewer >= 0.99, fewer > 0.5),
        f"rule: in 99 % of the graphs; the order: in most; {base}",
    )
    ordered = bool(pairs["MOPA"].mean() < pairs["SBON"].mean())
    for policy, (low, high) in PAPER.items():
        found = pairs[policy]
        middle = (
            f"{found.quantile(0.05):.0f} to {found.quantile(0.95):.0f} without the outer 5 % of each side"
        )
        yield Claim(
            f"Messages of {policy} ({here})",
            f"{low} to {high}",
            f"{found.min():.0f} to {found.max():.0f} ({middle}), {len(found)} graphs",
            verdict(within(found.max(), high, 0.25) and within(found.min(), low, 0.25), ordered),
            f"rule: both ends within 25 %; the order: MOPA's mean is lower; {base}. The ends depend on when "
            "an algorithm calls itself at rest, which the paper does not say",
        )
    by_draw = pairs.groupby(level="draw").sum()
    share = mean_of(by_draw["MOPA"] / by_draw["SBON"])
    yield Claim(
        f"MOPA needs 3.25 % of SBON's messages on average ({here})",
        "3.25 %",
        f"{100 * share.value:.2f} ± {100 * share.error:.2f} % over {share.draws} draws of nodes; means "
        f"{pairs['MOPA'].mean():.1f} and {pairs['SBON'].mean():.1f}",
        verdict(within(share.value, PAPER_SHARE, 0.1), share.value < 1.0),
        f"rule: within 10 % of it; the order: below 100 %; {base}. The paper says neither when an algorithm "
        "is at rest nor what a message is, and no reading has its messages and its migrations both (E3.10)",
    )


EXPERIMENT = Messages()
