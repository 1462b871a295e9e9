"""X2.3: messages for a set of candidates (paper 002, figure 4).

The same deployments as in X2.1, judged by their effort: how many messages are sent until a set of candidates
is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Claim, Row, Run, Setting
from berth.experiments.judging import Mean, mean_of, verdict, within
from berth.experiments.latency_bound.growing import (
    CALIBRATIONS,
    LABELS,
    LATE,
    PRESENT,
    SCHEMA,
    bars,
    failures,
    growing_rows,
    growing_runs,
)
from berth.experiments.latency_bound.usage import over_time
from berth.experiments.networks import ABOUT, papers_network

PAPER = {"knn": 10, "krand": 10, "el": 288, "cknn": 18}
HOSTS = 200
CLOSE = 0.1


class Messages:
    """The deployments of X2.1, with all 240 operators."""

    name = "X2.3"
    paper = "002, latency constraints (Rizou, Dürr, Rothermel 2011), figure 4"
    title = "Messages for a set of candidates"
    schema = SCHEMA
    calibrations = CALIBRATIONS

    def runs(self, setting: Setting) -> Iterable[Run]:
        """120 graphs."""
        return growing_runs(setting, (120,), 4 if setting.quick else 20)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """The messages of all candidate sets."""
        return growing_rows(run, setting)

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """The four numbers, and the shares of hosts that follow from them."""
        values = over_time(table, "messages")
        means = {method: mean_of(values[PRESENT][method]) for method in PAPER}
        where = f"{ABOUT[papers_network(setting.data)]}; {failures(table)}"
        ordered = max(means["knn"].value, means["krand"].value) < means["cknn"].value < means["el"].value
        claims = [
            Claim(
                f"{LABELS[method]} needs {number} messages for a set of candidates",
                f"{number}",
                f"{means[method].text(1)} over {means[method].draws} draws of hosts; late loads: "
                f"{mean_of(values[LATE][method]).text(1)}",
                verdict(within(means[method].value, number, CLOSE), ordered),
                f"rule: within 10 %, present loads; the order: kNN and kRand below CkNN below EL; {where}",
            )
            for method, number in PAPER.items()
        ]
        return [
            *claims,
            _hosts_asked(means["el"], "el", 144 / HOSTS, ordered, where),
            _hosts_asked(means["cknn"], "cknn", 0.05, ordered, where),
        ]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Bars as in the paper."""
        figure.set_size_inches(9, 4.5)
        axes = figure.subplots()
        bars(axes, over_time(table, "messages"), 1)
        axes.set_yscale("log")
        axes.set_ylim(1, 1000)
        axes.set_ylabel("messages for a set of candidates")
        return (
            f"Messages to hosts and back for a set of candidates, 240 operators on {HOSTS} hosts, means over "
            f"{table['draw'].nunique()} draws of hosts with standard errors; "
            f"{ABOUT[papers_network(setting.data)]}. {failures(table)}. The axis is logarithmic."
        )


def _hosts_asked(messages: Mean, method: str, paper: float, ordered: bool, where: str) -> Claim:
    """A request and an answer for each host that is asked."""
    share = messages.value / 2.0 / HOSTS
    close = within(share, paper, CLOSE)
    return Claim(
        f"{LABELS[method]} asks {'144 of 200 hosts' if method == 'el' else 'about 5 % of the hosts'}",
        f"{paper:.0%}",
        f"{share:.1%} of {HOSTS} hosts",
        verdict(close, ordered),
        "rule: within 10 % of the share; the order: kNN and kRand below CkNN below EL. The paper's own 18 "
        f"messages are 4.5 % of the hosts (E2.11); {where}",
    )


EXPERIMENT = Messages()
