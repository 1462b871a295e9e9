"""X1.1: MIPS against first fit, T-Heron and R-Heron (paper 001, figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, columns
from berth.experiments.judging import holds, mean_of, verdict
from berth.experiments.mips.schemes import (
    COMMON,
    CORRECTED,
    FAT_TREE,
    FORMS,
    POINTS,
    TOPOLOGIES,
    close_points,
    percent,
    placed,
    reduction,
    requested,
)

MM_TRAFFIC, MM_BOTH, MM_UTIL = "M/M (traffic)", "M/M (both)", "M/M (util.)"
FB, TB, RB = "F/B", "T/B", "R/B"
MB, PRINTED_MM, POLISHED_MM = "M/B (traffic)", "M/M, as printed", "M/M, polished"
FB_HERON, TB_USED = "F/B, Heron's", "T/B, ties to used"
MIPS, BASELINES = (MM_TRAFFIC, MM_BOTH, MM_UTIL), (FB, TB, RB)
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    MM_TRAFFIC: ("mips", {"alpha": 1.0}),
    MM_BOTH: ("mips", {"alpha": 0.5}),
    MM_UTIL: ("mips", {"alpha": 0.0}),
    FB: ("ffd", {}),
    TB: ("t-heron", {"ties": "empty"}),
    RB: ("r-heron", {}),
}
FURTHER: dict[str, tuple[str, dict[str, Any]]] = {
    MB: ("mips", {"alpha": 1.0, "second_stage": "best-fit"}),
    PRINTED_MM: ("mips", {"alpha": 1.0, "mode": "paper"}),
    POLISHED_MM: ("mips", {"alpha": 1.0, "polish": True}),
    FB_HERON: ("ffd", {"variant": "heron"}),
    TB_USED: ("t-heron", {"ties": "used"}),
}
"""Readings and parts that the paper doesn't show, on the Fat-Tree."""
AS_USUAL = "as usual"
VARIANTS: dict[str, dict[str, Any]] = {
    "containers of 24 cores and 24 GB": {"container_cores": 24, "container_memory": 24},
    "traffic spread 0.5": {"traffic_log_deviation": 0.5},
    "traffic spread 2": {"traffic_log_deviation": 2.0},
    "two requests": {"applications": 2},
}
"""Other choices for what the paper doesn't give."""
REPEATS, QUICK_REPEATS, VARIANT_REPEATS = 100, 20, 25
LOWER_COST = {FB: 13.0, TB: 4.0, RB: 12.0}
FEWEST_CONTAINERS = 7.0
LESS_TRAFFIC = 6.0
LESS_BETWEEN_SERVERS = 60.0
SAME = 1e-9
PANELS = {
    "cost": "(a) first stage: (T + U) / 2",
    "server_cost": "(a) second stage: traffic x hops, B/s",
    "traffic": "(b) traffic between containers T, B/s",
    "containers": "(c) containers used U",
}
SHADES = {FAT_TREE: "#1f5fa8", "Jellyfish": "#e0a02c"}


def common_repeats(table: pd.DataFrame, variant: str, topology: str) -> pd.DataFrame:
    """Columns by figure and scheme, of the repeats in which no scheme failed; with both stages' costs."""
    part = table[(table["variant"] == variant) & (table["topology"] == topology)]
    whole = part[~part.groupby("repeat")["failed"].transform("any")]
    shares = whole["traffic"] / whole["total_traffic"] + whole["containers"] / whole["instances"]
    costs = {"cost": (whole["traffic"] + whole["containers"]) / 2, "share_cost": shares / 2}
    return whole.assign(**costs).pivot(
        index="repeat",
        columns="scheme",
        values=["traffic", "containers", "server_cost", "cost", "share_cost"],
    )


def failures(table: pd.DataFrame, variant: str) -> str:
    """How many plans are left out, for people."""
    part = table[table["variant"] == variant]
    return f"{int(part['failed'].sum())} of {len(part)} plans failed; their repeats are left out"


def runs(setting: Setting) -> Iterable[Run]:
    """A run is a repeat: one request, all schemes."""
    repeats = {AS_USUAL: QUICK_REPEATS if setting.quick else REPEATS}
    if not setting.quick:
        repeats |= dict.fromkeys(VARIANTS, VARIANT_REPEATS)
    for variant, count in repeats.items():
        for repeat in range(count):
            yield Run.of("{variant}/{repeat}", variant=variant, repeat=repeat)


def rows(run: Run, setting: Setting) -> Iterator[Row]:
    """What the judge says of every scheme's plan."""
    variant, repeat = run.parameters["variant"], run.parameters["repeat"]
    usual = variant == AS_USUAL
    for topology in TOPOLOGIES if usual else (FAT_TREE,):
        problem = requested(topology, setting.seed, repeat, **VARIANTS.get(variant, {}))
        operators = [operator for item in problem.applications for operator in item.operators]
        streams = [stream for item in problem.applications for stream in item.streams]
        common = {
            "variant": variant,
            "topology": topology,
            "repeat": repeat,
            "total_traffic": sum(stream.bytes_per_s or 0.0 for stream in streams),
            "instances": sum(operator.parallelism for operator in operators),
        }
        further = FURTHER if usual and topology == FAT_TREE else {}
        for scheme, (policy, parameters) in {**SCHEMES, **further}.items():
            given = FORMS[CORRECTED] | parameters if policy == "mips" else parameters
            yield {**common, "scheme": scheme, **placed(problem, policy, given, repeat)}


def claims(table: pd.DataFrame, setting: Setting) -> list[Claim]:
    """All numbers of the paper's prose, in its order."""
    by_topology = {name: common_repeats(table, AS_USUAL, name) for name in TOPOLOGIES}
    here = by_topology[FAT_TREE]
    return [
        _same_first_stage(by_topology),
        *(_lower_cost(table, here, scheme, paper) for scheme, paper in LOWER_COST.items()),
        *_order_of_costs(here),
        *_traffic_and_containers(table, here),
        *(_between_servers(part, name, failures(table, AS_USUAL)) for name, part in by_topology.items()),
        _second_stage(here),
    ]


def _same_first_stage(by_topology: dict[str, pd.DataFrame]) -> Claim:
    one, other = (part["cost"][list(SCHEMES)] for part in by_topology.values())
    shared = one.index.intersection(other.index)
    highest = float((one.loc[shared] - other.loc[shared]).abs().to_numpy().max())
    return Claim(
        "The cost of the first stage is the same under Fat-Tree and Jellyfish, for every scheme",
        "the same",
        f"highest difference {highest:.2g} of {len(shared)} repeats and {len(SCHEMES)} schemes",
        holds(highest <= SAME),
        "Rule: no difference in any repeat",
    )


def _lower_cost(table: pd.DataFrame, here: pd.DataFrame, scheme: str, paper: float) -> Claim:
    ours = reduction(here["cost", MM_TRAFFIC], here["cost", scheme])
    shares = reduction(here["share_cost", MM_TRAFFIC], here["share_cost", scheme])
    more = f"; {percent(shares)} if traffic and containers count as shares of their most"
    if scheme == TB:
        used = reduction(here["cost", MM_TRAFFIC], here["cost", TB_USED])
        more += f"; {percent(used)} if T-Heron's ties go to used containers"
    return Claim(
        f"The first stage of M/M (traffic) costs {paper:g} % less than that of {scheme}",
        f"{paper:g} %",
        f"{percent(ours)} over {ours.draws} repeats{more}",
        verdict(close_points(ours.value, paper), ours.surely_positive),
        f"Rule: within {POINTS:g} percentage points and a factor of two; the order: lower beyond chance. "
        + _elsewhere(table, "cost", MM_TRAFFIC, scheme),
    )


def _elsewhere(table: pd.DataFrame, column: str, lower: str, higher: str) -> str:
    """The same under other choices for what the paper doesn't give."""
    elsewhere = []
    for variant in table["variant"].unique():
        if variant != AS_USUAL:
            part = common_repeats(table, variant, FAT_TREE)
            if len(part) > 1:
                ours = reduction(part[column, lower], part[column, higher])
                elsewhere.append(f"{variant}: {percent(ours)} of {len(part)} repeats")
    unknown = "Containers and traffic are not published (E1.15)"
    return f"{unknown}; {'; '.join(elsewhere)}" if elsewhere else f"{unknown}; the full run tries others, too"


def _order_of_costs(here: pd.DataFrame) -> Iterator[Claim]:
    cost = here["cost"]
    means = cost.mean()
    least = min(BASELINES, key=lambda scheme: float(means[scheme]))
    for scheme in (MM_UTIL, MM_BOTH):
        below, above = reduction(cost[scheme], cost[least]), reduction(cost[MM_TRAFFIC], cost[scheme])
        yield Claim(
            f"{scheme} costs less than all other schemes, too, and slightly more than M/M (traffic)",
            "-",
            f"{percent(below)} below {least}, the best of the others; M/M (traffic) is {percent(above)} "
            "below it",
            verdict(0 <= above.value <= POINTS, below.surely_positive),
            f"Rule: below the best of the others beyond chance, and M/M (traffic) is 0 to {POINTS:g} % "
            "lower; the order: only the former",
        )


def _traffic_and_containers(table: pd.DataFrame, here: pd.DataFrame) -> Iterator[Claim]:
    traffic, containers = here["traffic"][list(SCHEMES)], here["containers"][list(SCHEMES)]
    runner_up = traffic.mean().drop(MM_TRAFFIC).idxmin()
    gap = reduction(traffic[MM_TRAFFIC], traffic[runner_up])
    yield Claim(
        "M/M (traffic) has the least traffic between containers",
        "-",
        f"{traffic[MM_TRAFFIC].mean():.1f} B/s, {percent(gap)} below {runner_up}, the next one",
        holds(gap.surely_positive),
        "Rule: below all others beyond chance (two standard errors)",
    )
    used = mean_of(containers[MM_UTIL])
    fewest = bool(containers.mean().min() == used.value)
    yield Claim(
        "M/M (util.) uses the fewest containers: 7",
        f"{FEWEST_CONTAINERS:g}",
        f"{used.text()} over {used.draws} repeats; others: "
        + ", ".join(f"{name} {value:.2f}" for name, value in containers.mean().items() if name != MM_UTIL),
        verdict(abs(used.value - FEWEST_CONTAINERS) <= 1.0, fewest),
        "Rule: within one container, since the sizes of requests and containers are not published (E1.15); "
        "the order: no scheme uses fewer",
    )
    for scheme in (FB, RB):
        less = reduction(traffic[MM_UTIL], traffic[scheme])
        yield Claim(
            f"M/M (util.) has 6 % less traffic than {scheme}",
            f"{LESS_TRAFFIC:g} %",
            f"{percent(less)} over {less.draws} repeats",
            verdict(close_points(less.value, LESS_TRAFFIC), less.surely_positive),
            f"Rule: within {POINTS:g} percentage points and a factor of two; the order: less beyond chance. "
            + _elsewhere(table, "traffic", MM_UTIL, scheme),
        )
    price = mean_of(containers[MM_TRAFFIC] - containers[MM_UTIL])
    yield Claim(
        "M/M (traffic) pays with more containers than M/M (util.)",
        "-",
        f"{price.text()} containers more",
        holds(price.surely_positive),
        "Rule: more beyond chance",
    )
    saved = mean_of(containers[TB] - containers[MM_TRAFFIC])
    saved_used = mean_of(here["containers", TB_USED] - containers[MM_TRAFFIC])
    yield Claim(
        "M/M (traffic) uses fewer containers than T-Heron",
        "-",
        f"{saved.text()} fewer; {saved_used.text()} if T-Heron's ties go to used containers",
        holds(saved.surely_positive),
        "Rule: fewer beyond chance. How T-Heron breaks ties is not published and was chosen by this claim",
    )
    extra = mean_of(containers[MM_BOTH] - containers[MM_UTIL])
    above = reduction(traffic[MM_TRAFFIC], traffic[MM_BOTH])
    balanced = extra.value <= 0.5 and above.value <= POINTS
    yield Claim(
        "M/M (both) is a balance: some more traffic and little more containers than the best",
        "-",
        f"{extra.text()} containers more than M/M (util.); M/M (traffic) has {percent(above)} less traffic",
        verdict(balanced and above.value >= 0, balanced),
        f"Rule: at most half a container more, and at most {POINTS:g} % more traffic but not less",
    )


def _between_servers(part: pd.DataFrame, topology: str, failed: str) -> Claim:
    cost = part["server_cost"]
    best = min(MIPS, key=lambda scheme: float(cost[scheme].mean()))
    worst = max(BASELINES, key=lambda scheme: float(cost[scheme].mean()))
    closest = min(BASELINES, key=lambda scheme: float(cost[scheme].mean()))
    most, least = reduction(cost[best], cost[worst]), reduction(cost[best], cost[closest])
    return Claim(
        f"The second stage of M/M costs up to 60 % less under {topology}",
        f"up to {LESS_BETWEEN_SERVERS:g} %",
        f"{percent(most)} below {worst}, {percent(least)} below {closest}, with {best}; {most.draws} repeats",
        verdict(abs(most.value - LESS_BETWEEN_SERVERS) <= 5.0, least.surely_positive),
        "Rule: the highest reduction is within 5 percentage points; the order: below all others beyond "
        f"chance; {failed}",
    )


def _second_stage(here: pd.DataFrame) -> Claim:
    cost = here["server_cost"]
    first, second = reduction(cost[MB], cost[TB]), reduction(cost[MM_TRAFFIC], cost[MB])
    return Claim(
        "Both stages of MIPS contribute to that",
        "-",
        f"best fit after MIPS costs {percent(first)} less than after T-Heron; MIPS in the second stage "
        f"{percent(second)} less than best fit, after the same first stage",
        verdict(
            first.surely_positive and second.surely_positive, first.surely_positive or second.surely_positive
        ),
        "Rule: both reductions are above 0 beyond chance; the order: one of them",
    )


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """The panels of figure 3: both topologies for the paper's schemes, and further ones on the Fat-Tree."""
    figure.set_size_inches(10, 7.5)
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
    figure.axes[0].legend(fontsize=8)
    repeats = " and ".join(f"{len(part)} ({name})" for name, part in parts.items())
    return (
        f"Means and standard errors over {repeats} repeats, each a random request on synthetic servers; "
        f"{failures(table, AS_USUAL)}. Right of the dotted line: parts and readings that the paper doesn't "
        f"show, on the Fat-Tree. {', '.join(MIPS)} are MIPS with its errata repaired and without local "
        "steps; 'polished' has these, too. F, T, R: the packing of FFD, T-Heron and R-Heron; B: best fit in "
        "the second stage."
    )


def _bars(axes: Axes, values: pd.DataFrame, label: str, place: int) -> None:
    schemes = [scheme for scheme in (*SCHEMES, *FURTHER) if scheme in values]
    alone = np.array([scheme in FURTHER for scheme in schemes])
    where = np.arange(len(schemes)) + np.where(alone, 0.0, 0.4 * place - 0.2)
    errors = values[schemes].std() / np.sqrt(max(len(values), 1))
    axes.bar(where, values[schemes].mean(), 0.4, yerr=errors, label=label, color=SHADES[label], capsize=2)


COMPARISON = Experiment(
    name="X1.1",
    paper="001 (MIPS), section V-B, figure 3",
    title="Two-stage schemes: traffic, containers and cost",
    about="Instances of operators are packed into containers, and containers are placed on the servers of a "
    "data centre; both cost traffic. A tree search for both steps is compared with the packing of three "
    "systems in use, on two kinds of networks.",
    schema=columns(
        "variant str, topology str, repeat int, scheme str, failed bool, traffic float, containers "
        "float, server_cost float, total_traffic float, instances int"
    ),
    runs=runs,
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(
        *COMMON,
        Calibration(
            "T-Heron's choice of equally good containers",
            "an empty one (the other way is shown, too)",
            "T/B uses more containers than M/M (traffic)",
        ),
        Calibration(
            "the scale of figure 3 (a) (E1.16)",
            "(T + U) / 2 for all schemes, T in B/s: equation (8) at alpha = 0.5",
            "nothing; reductions by shares of the most are told beside it",
        ),
    ),
)
