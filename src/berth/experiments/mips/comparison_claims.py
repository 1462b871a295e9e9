"""What paper 001 says of its figure 3."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from berth.experiments.experiment import Claim
from berth.experiments.judging import mean_of, verdict
from berth.experiments.mips.judging import POINTS, close_points, percent, reduction
from berth.experiments.mips.requests import FAT_TREE, TOPOLOGIES
from berth.experiments.mips.schemes import (
    AS_USUAL,
    BASELINES,
    FB,
    MB,
    MIPS,
    MM_BOTH,
    MM_TRAFFIC,
    MM_UTIL,
    RB,
    SCHEMES,
    TB,
    TB_USED,
    common_repeats,
    failures,
)

LOWER_COST = {FB: 13.0, TB: 4.0, RB: 12.0}
FEWEST_CONTAINERS = 7.0
LESS_TRAFFIC = 6.0
LESS_BETWEEN_SERVERS = 60.0
SAME = 1e-9


def comparison_claims(table: pd.DataFrame) -> list[Claim]:
    """In the order of the paper."""
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
    same = highest <= SAME
    return Claim(
        "The cost of the first stage is the same under Fat-Tree and Jellyfish, for every scheme",
        "the same",
        f"highest difference {highest:.2g} of {len(shared)} repeats and {len(SCHEMES)} schemes",
        verdict(same, same),
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
    told = []
    for variant in table["variant"].unique():
        if variant != AS_USUAL:
            part = common_repeats(table, variant, FAT_TREE)
            if len(part) > 1:
                ours = reduction(part[column, lower], part[column, higher])
                told.append(f"{variant}: {percent(ours)} of {len(part)} repeats")
    unknown = "Containers and traffic are not published (E1.15)"
    return f"{unknown}; {'; '.join(told)}" if told else f"{unknown}; the full run tries others, too"


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
        verdict(gap.surely_positive, gap.surely_positive),
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
        verdict(price.surely_positive, price.surely_positive),
        "Rule: more beyond chance",
    )
    saved = mean_of(containers[TB] - containers[MM_TRAFFIC])
    saved_used = mean_of(here["containers", TB_USED] - containers[MM_TRAFFIC])
    yield Claim(
        "M/M (traffic) uses fewer containers than T-Heron",
        "-",
        f"{saved.text()} fewer; {saved_used.text()} if T-Heron's ties go to used containers",
        verdict(saved.surely_positive, saved.surely_positive),
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
