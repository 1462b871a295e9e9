"""X2.2 and X2.3: data in flight, and messages for a set of candidates (paper 002, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Setting
from berth.experiments.judging import Mean, mean_of, order_verdict, verdict, within
from berth.experiments.latency_bound.growing import (
    CALIBRATIONS,
    COLOURS,
    LABELS,
    LATE,
    PRESENT,
    SCHEMA,
    STALENESS,
    failures,
    growing_rows,
    growing_runs,
    over_time,
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
PAPER_MESSAGES = {"knn": 10, "krand": 10, "el": 288, "cknn": 18}
HOSTS = 200
CLOSE = 0.1


def bars(axes: Axes, values: dict[float, pd.DataFrame], decimals: int) -> None:
    """A pair of bars for each way: means over draws of hosts with their standard errors."""
    for number, (stale, title) in enumerate(STALENESS.items()):
        means, errors = values[stale].mean(), values[stale].sem()
        for place, method in enumerate(LABELS):
            drawn = axes.bar(
                place + 0.38 * (number - 0.5),
                means[method],
                0.36,
                yerr=errors[method],
                color=COLOURS[method],
                alpha=1.0 - 0.45 * number,
                hatch="//" * number,
                edgecolor="white",
                capsize=3,
                label=title if method == "el" else None,
            )
            axes.bar_label(drawn, fmt=f"%.{decimals}f", padding=2, fontsize=8)
    axes.set_xticks(range(len(LABELS)), list(LABELS.values()))
    axes.legend()


def usage_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """The order of the four."""
    values = over_time(table, "usage_kb")
    where = f"{ABOUT[papers_network(setting.data)]}; {failures(table)}"
    found = []
    for text, higher, lower in ORDERS:
        difference = values[PRESENT][higher] - values[PRESENT][lower]
        shown = "; ".join(
            f"{title}: {LABELS[lower]} {mean_of(values[stale][lower]).text()} KB, "
            f"{LABELS[higher]} {mean_of(values[stale][higher]).text()} KB"
            for stale, title in STALENESS.items()
        )
        found.append(
            Claim(
                text,
                "-",
                f"{shown}; {len(difference)} draws of hosts",
                order_verdict(difference.tolist()),
                "rule: the mean difference over draws is above 0 by more than two standard errors, with "
                f"present loads; {where}.{_why(lower, difference)}",
            )
        )
    return found


def _why(lower: str, difference: pd.Series[float]) -> str:
    """What is known about an order that doesn't hold."""
    if mean_of(difference).surely_positive:
        return ""
    return {"krand": WHY_RANDOM, "knn": WHY_NEAREST}.get(lower, "")


def draw_usage(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
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


def message_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """The four numbers, and the shares of hosts that follow from them."""
    values = over_time(table, "messages")
    means = {method: mean_of(values[PRESENT][method]) for method in PAPER_MESSAGES}
    where = f"{ABOUT[papers_network(setting.data)]}; {failures(table)}"
    ordered = max(means["knn"].value, means["krand"].value) < means["cknn"].value < means["el"].value
    found = [
        Claim(
            f"{LABELS[method]} needs {number} messages for a set of candidates",
            f"{number}",
            f"{means[method].text(1)} over {means[method].draws} draws of hosts; late loads: "
            f"{mean_of(values[LATE][method]).text(1)}",
            verdict(within(means[method].value, number, CLOSE), ordered),
            f"rule: within 10 %, present loads; the order: kNN and kRand below CkNN below EL; {where}",
        )
        for method, number in PAPER_MESSAGES.items()
    ]
    return [
        *found,
        _hosts_asked(means["el"], "el", 144 / HOSTS, ordered, where),
        _hosts_asked(means["cknn"], "cknn", 0.05, ordered, where),
    ]


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


def draw_messages(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Bars as in the paper."""
    figure.set_size_inches(9, 4.5)
    axes = figure.subplots()
    bars(axes, over_time(table, "messages"), 1)
    axes.set(yscale="log", ylim=(1, 1000), ylabel="messages for a set of candidates")
    return (
        f"Messages to hosts and back for a set of candidates, 240 operators on {HOSTS} hosts, means over "
        f"{table['draw'].nunique()} draws of hosts with standard errors; "
        f"{ABOUT[papers_network(setting.data)]}. {failures(table)}. The axis is logarithmic."
    )


USAGE = Experiment(
    name="X2.2",
    paper="002, latency constraints (Rizou, Dürr, Rothermel 2011), figure 3",
    title="Network usage of the ways to choose candidates",
    about="The same deployments as in X2.1, judged by the network: how much data is in flight between "
    "machines.",
    schema=SCHEMA,
    runs=partial(growing_runs, counts=range(20, 121, 20), quick_counts=(40, 80, 120)),
    rows=growing_rows,
    claims=usage_claims,
    draw=draw_usage,
    calibrations=(*CALIBRATIONS, Calibration("mean over time", "after 20, 40, ... 120 graphs")),
)
MESSAGES = Experiment(
    name="X2.3",
    paper="002, latency constraints (Rizou, Dürr, Rothermel 2011), figure 4",
    title="Messages for a set of candidates",
    about="The same deployments as in X2.1, judged by their effort: how many messages are sent until a set "
    "of candidates is known.",
    schema=SCHEMA,
    runs=growing_runs,
    rows=growing_rows,
    claims=message_claims,
    draw=draw_messages,
    calibrations=CALIBRATIONS,
)
