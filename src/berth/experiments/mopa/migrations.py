"""X3.3: migrations until a new solution is reached (paper 003, figure 4).

The same changes of rates as in X3.2. Counted are the operators that move to another machine, which costs more
than a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting, columns
from berth.experiments.judging import mean_of, verdict
from berth.experiments.mopa.graphs import (
    CALIBRATIONS,
    CHANGES,
    COLOURS,
    adapting_runs,
    counted,
    cumulative,
    finish,
)
from berth.experiments.mopa.messages import paired
from berth.experiments.networks import ABOUT, papers_network

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "MOPA, lazy": ("mopa", {"refine": False}),
    "MOPA, eager": ("mopa", {"refine": False, "migration": "eager"}),
    "SBON, lazy": ("sbon", {}),
    "SBON, eager": ("sbon", {"migration": "eager"}),
}
COMPARISONS = (
    ("MOPA, eager", "SBON, eager"),
    ("MOPA, lazy", "SBON, eager"),
)
"""As algorithm 1 is printed, and MOPA with the lazy form that the paper recommends."""
PAPER_FEWER, PAPER_RUNS = 0.268, 0.9


class Migrations:
    """Graphs of 12 operators that adapt to new rates; migrations counted on the way or at the end."""

    name = "X3.3"
    paper = "003, MOPA (Rizou, Dürr, Rothermel 2010), figure 4"
    title = "Migrations to adapt to new rates"
    schema = columns(network=str, draw=int, graph=int, change=str, policy=str, migrations=int, failed=bool)
    calibrations = (
        *CALIBRATIONS,
        Calibration(
            "when operators migrate", "MOPA at once or, in its lazy form, at the end; SBON at once", "nothing"
        ),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """2000 graphs; fewer if quick."""
        return adapting_runs(setting)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """The migrations of every graph, change and way to migrate."""
        return counted(run, setting, METHODS, "migrations")

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Fewer migrations, on average and in how many runs: for every reading (E3.10)."""
        where = ABOUT[papers_network(setting.data)]
        return [
            claim
            for change in CHANGES
            for ours, other in COMPARISONS
            for claim in _claims(table, change, ours, other, where)
        ]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """The paper's figure for both ways to read the change."""
        figure.set_size_inches(9, 4.5)
        for axes, change in zip(figure.subplots(1, 2, sharey=True), CHANGES, strict=True):
            found = paired(table, change, "migrations")
            for method in METHODS:
                policy, when = method.split(", ")
                style = "-" if when == "eager" else "--"
                cumulative(
                    axes, found[method], f"{method}: mean {found[method].mean():.2f}", COLOURS[policy], style
                )
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            finish(axes, f"new rates of {change}", "migrations")
        graphs, failed = table.groupby(["draw", "graph"]).ngroups, int(table["failed"].sum())
        return (
            f"Cumulative distribution of the migrations until operators rest again, {graphs} graphs of 12 "
            f"operators; {ABOUT[papers_network(setting.data)]}. Eager: an operator migrates whenever another "
            f"node is the nearest to its place; lazy: once, at the end. {failed} of {len(table)} plans "
            "failed and are left out."
        )


def _claims(table: pd.DataFrame, change: str, ours: str, other: str, where: str) -> Iterable[Claim]:
    pairs = paired(table, change, "migrations")
    reading = f"new rates of {change}; {ours} against {other}"
    base = f"{where}; {int(table.loc[table['change'] == change, 'failed'].sum())} plans failed"
    undecided = (
        "The paper says neither when operators migrate nor when SBON rests, and no single reading has its "
        "messages and its migrations both (E3.10)"
    )
    by_draw = pairs.groupby(level="draw").sum()
    saved = mean_of(1.0 - by_draw[ours] / by_draw[other])
    close = abs(saved.value - PAPER_FEWER) <= 0.1
    yield Claim(
        f"MOPA makes 26.8 % fewer migrations than SBON ({reading})",
        "26.8 %",
        f"{100 * abs(saved.value):.1f} ± {100 * saved.error:.1f} % {'fewer' if saved.value > 0 else 'more'} "
        f"over {saved.draws} draws of nodes; means "
        f"{pairs[ours].mean():.2f} and {pairs[other].mean():.2f} of {len(pairs)} graphs",
        verdict(close, saved.surely_positive),
        f"rule: within 10 percentage points; the order: fewer by more than two standard errors; {base}. "
        f"{undecided}",
    )
    fewer = float((pairs[ours] < pairs[other]).mean())
    equal = float((pairs[ours] == pairs[other]).mean())
    yield Claim(
        f"MOPA makes fewer migrations in 90 % of the runs ({reading})",
        "90 %",
        f"{fewer:.0%} fewer, {equal:.0%} as many, of {len(pairs)} graphs",
        verdict(abs(fewer - PAPER_RUNS) <= 0.1, fewer > 0.5),
        f"rule: within 10 percentage points; the order: in more than half; {base}. {undecided}",
    )


EXPERIMENT = Migrations()
