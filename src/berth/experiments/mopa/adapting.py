"""X3.2 and X3.3: messages and migrations until a new solution is reached (paper 003, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import berth
from berth.experiments.experiment import (
    Calibration,
    Claim,
    Experiment,
    Row,
    Run,
    Setting,
    columns,
    named_generator,
)
from berth.experiments.judging import mean_of, verdict, within
from berth.experiments.mopa.graphs import (
    COLOURS,
    cumulative,
    drawn_network,
    finish,
    operator_graph,
    redrawn,
)
from berth.experiments.networks import ABOUT, papers_network

Methods = dict[str, tuple[str, dict[str, Any]]]
"""Ways to place: a policy and its parameters."""
SOURCES, SELECTIVITIES = "sources", "sources and selectivities"
CHANGES = (SOURCES, SELECTIVITIES)
"""What is drawn anew: what the paper's words say, and what its number of migrations suggests (E3.10)."""
BOTH: Methods = {"MOPA": ("mopa", {"refine": False}), "SBON": ("sbon", {})}
WAYS: Methods = {
    "MOPA, lazy": ("mopa", {"refine": False}),
    "MOPA, eager": ("mopa", {"refine": False, "migration": "eager"}),
    "SBON, lazy": ("sbon", {}),
    "SBON, eager": ("sbon", {"migration": "eager"}),
}
COMPARISONS = (("MOPA, eager", "SBON, eager"), ("MOPA, lazy", "SBON, eager"))
"""As algorithm 1 is printed, and MOPA with the lazy form that the paper recommends."""
PAPER_MESSAGES = {"MOPA": (0, 28), "SBON": (64, 365)}
PAPER_SHARE, PAPER_FEWER, PAPER_RUNS = 0.0325, 0.268, 0.9
CALIBRATIONS = (
    Calibration("draws of nodes", "40 times 226 of 490 nodes, 50 graphs each"),
    Calibration("SBON's step", "0.1 x force / highest sum of rates", "64 to 365 messages"),
    Calibration("SBON at rest", "force / highest sum of rates below 0.5 ms", "64 to 365 messages"),
    Calibration("MOPA at rest", "steps shorter than 0.5 ms are not made"),
    Calibration(
        "messages",
        "one for each unpinned neighbour outside the cluster of an operator that moved",
        "0 to 28 messages",
    ),
)


def runs(setting: Setting) -> Iterable[Run]:
    """A run is a draw of nodes with some graphs: 2000 of them; fewer if quick."""
    network = papers_network(setting.data)
    draws, graphs = (8, 25) if setting.quick else (40, 50)
    return (Run.of("{network}/{draw}", network=network, draw=draw, graphs=graphs) for draw in range(draws))


def counted(run: Run, setting: Setting, methods: Methods, count: str) -> Iterator[Row]:
    """What the trace of each plan counts: of every graph, change of rates and way to place."""
    rng = named_generator(setting.seed, run.key)
    network = drawn_network(setting.data, run.parameters["network"], rng)
    for graph in range(run.parameters["graphs"]):
        problem = operator_graph(network, 12, rng)
        changed = {change: redrawn(problem, rng, change == SELECTIVITIES) for change in CHANGES}
        for name, (policy, parameters) in methods.items():
            before = berth.solve(problem, policy, **parameters)
            for change, problem_after in changed.items():
                plan = berth.solve(problem_after, policy, previous=before, **parameters)
                yield {
                    "network": run.parameters["network"],
                    "draw": run.parameters["draw"],
                    "graph": graph,
                    "change": change,
                    "policy": name,
                    count: plan.trace.get(count),
                    "failed": not plan.assignment,
                }


def paired(table: pd.DataFrame, change: str, values: str) -> pd.DataFrame:
    """Graphs for which every policy has a plan: a column for each."""
    part = table[(table["change"] == change) & ~table["failed"]]
    return part.pivot_table(index=["draw", "graph"], columns="policy", values=values).dropna()


def _base(table: pd.DataFrame, change: str, setting: Setting) -> str:
    failed = int(table.loc[table["change"] == change, "failed"].sum())
    return f"{ABOUT[papers_network(setting.data)]}; {failed} plans failed"


def message_claims(table: pd.DataFrame, setting: Setting) -> list[Claim]:
    """The ranges, their order and the ratio, for both ways to read the change."""
    return [claim for change in CHANGES for claim in _on_messages(table, change, setting)]


def _on_messages(table: pd.DataFrame, change: str, setting: Setting) -> Iterable[Claim]:
    pairs = paired(table, change, "messages")
    here = f"new rates of {change}"
    base = _base(table, change, setting)
    fewer = float((pairs["MOPA"] < pairs["SBON"]).mean())
    yield Claim(
        f"MOPA needs fewer messages than SBON in all cases ({here})",
        "100 %",
        f"{fewer:.1%} of {len(pairs)} graphs",
        verdict(fewer >= 0.99, fewer > 0.5),
        f"rule: in 99 % of the graphs; the order: in most; {base}",
    )
    ordered = bool(pairs["MOPA"].mean() < pairs["SBON"].mean())
    for policy, (low, high) in PAPER_MESSAGES.items():
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


def migration_claims(table: pd.DataFrame, setting: Setting) -> list[Claim]:
    """Fewer migrations, on average and in how many runs: for every reading (E3.10)."""
    return [
        claim
        for change in CHANGES
        for ours, other in COMPARISONS
        for claim in _on_migrations(table, change, ours, other, setting)
    ]


def _on_migrations(
    table: pd.DataFrame, change: str, ours: str, other: str, setting: Setting
) -> Iterable[Claim]:
    pairs = paired(table, change, "migrations")
    reading = f"new rates of {change}; {ours} against {other}"
    base = _base(table, change, setting)
    undecided = (
        "The paper says neither when operators migrate nor when SBON rests, and no single reading has its "
        "messages and its migrations both (E3.10)"
    )
    by_draw = pairs.groupby(level="draw").sum()
    saved = mean_of(1.0 - by_draw[ours] / by_draw[other])
    yield Claim(
        f"MOPA makes 26.8 % fewer migrations than SBON ({reading})",
        "26.8 %",
        f"{100 * abs(saved.value):.1f} ± {100 * saved.error:.1f} % {'fewer' if saved.value > 0 else 'more'} "
        f"over {saved.draws} draws of nodes; means "
        f"{pairs[ours].mean():.2f} and {pairs[other].mean():.2f} of {len(pairs)} graphs",
        verdict(abs(saved.value - PAPER_FEWER) <= 0.1, saved.surely_positive),
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


def draw_messages(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """The paper's figure for both ways to read the change."""
    figure.set_size_inches(9, 4.5)
    for axes, change in zip(figure.subplots(1, 2, sharey=True), CHANGES, strict=True):
        side_by_side = paired(table, change, "messages")
        for policy in BOTH:
            found = side_by_side[policy]
            cumulative(axes, found, f"{policy}: {found.min():.0f} to {found.max():.0f}", COLOURS[policy])
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xlim(left=0)
        finish(axes, f"new rates of {change}", "messages", "center")
    graphs, failed = table.groupby(["draw", "graph"]).ngroups, int(table["failed"].sum())
    return (
        f"Cumulative distribution of the messages until operators rest again, {graphs} graphs of 12 "
        f"operators; {ABOUT[papers_network(setting.data)]}. {failed} of {len(table)} plans failed and "
        "are left out. The axis is linear up to 10 and logarithmic beyond."
    )


def draw_migrations(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """The paper's figure for both ways to read the change."""
    figure.set_size_inches(9, 4.5)
    for axes, change in zip(figure.subplots(1, 2, sharey=True), CHANGES, strict=True):
        side_by_side = paired(table, change, "migrations")
        for method in WAYS:
            found = side_by_side[method]
            policy, when = method.split(", ")
            label, style = f"{method}: mean {found.mean():.2f}", "-" if when == "eager" else "--"
            cumulative(axes, found, label, COLOURS[policy], style)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(axes, f"new rates of {change}", "migrations")
    graphs, failed = table.groupby(["draw", "graph"]).ngroups, int(table["failed"].sum())
    return (
        f"Cumulative distribution of the migrations until operators rest again, {graphs} graphs of 12 "
        f"operators; {ABOUT[papers_network(setting.data)]}. Eager: an operator migrates whenever another "
        f"node is the nearest to its place; lazy: once, at the end. {failed} of {len(table)} plans "
        "failed and are left out."
    )


MESSAGES = Experiment(
    name="X3.2",
    paper="003, MOPA (Rizou, Dürr, Rothermel 2010), figure 3",
    title="Messages to adapt to new rates",
    about="Streams change their rates, and the placement adapts. Counted are the messages that MOPA and SBON "
    "exchange until they are at rest again.",
    schema=columns("network str, draw int, graph int, change str, policy str, messages int, failed bool"),
    runs=runs,
    rows=partial(counted, methods=BOTH, count="messages"),
    claims=message_claims,
    draw=draw_messages,
    calibrations=CALIBRATIONS,
)
MIGRATIONS = Experiment(
    name="X3.3",
    paper="003, MOPA (Rizou, Dürr, Rothermel 2010), figure 4",
    title="Migrations to adapt to new rates",
    about="The same changes of rates as in X3.2. Counted are the operators that move to another machine, "
    "which costs more than a message.",
    schema=columns("network str, draw int, graph int, change str, policy str, migrations int, failed bool"),
    runs=runs,
    rows=partial(counted, methods=WAYS, count="migrations"),
    claims=migration_claims,
    draw=draw_migrations,
    calibrations=(
        *CALIBRATIONS,
        Calibration("when operators migrate", "MOPA at once or, in its lazy form, at the end; SBON at once"),
    ),
)
