"""X0.2 and X0.3: springs and MOPA on moving coordinates beside the optimum (paper 000, figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, named_generator
from berth.experiments.judging import mean_of, order_verdict, verdict
from berth.experiments.odp import rounds, setups, timeline
from berth.experiments.odp.claims import (
    at_optimum,
    averages,
    count_claim,
    last_move,
    moves,
    ratio_claim,
    ratios,
    share_claim,
    typical,
)
from berth.experiments.odp.rounds import SECOND_STEP_S, LiveCoordinates, Place, Step, in_turns, two_steps
from berth.experiments.odp.timeline import BLUE, GREEN, OPTIMUM, ORANGE, Panel, draw_panels
from berth.policies import solve

LEAST_ENERGY, LEAST_USAGE = "S-ODP_EE", "S-ODP_N"
SBON, STAYING = "SBON", "SBON, staying where nothing is gained"
PRINTED, PROBING = "MOPA as printed", "MOPA with probes"
PLACES: dict[str, Place] = {
    SBON: lambda problem, current: solve(problem, "sbon"),
    # as berth does it: what is in force stays unless the energy, by coordinates, falls
    STAYING: lambda problem, current: solve(problem, "sbon", previous=current),
    PRINTED: lambda problem, current: solve(problem, "mopa", previous=current, refine=False),
    PROBING: lambda problem, current: solve(problem, "mopa", previous=current),
}
ENERGY_S, BEGIN_S, END_S, PAPER_MOVES, MOPAS_MOVES = 2400.0, 800.0, 2000.0, 16, 5
"""X0.2: how long it runs, what is looked at, and the paper's reassignments, of figure 6, too."""
USAGE_S, STABLE_S = 2000.0, 300.0
"""X0.3: how long it runs, and from when on it is stable in the paper."""
ABOUT = {
    PRINTED: "As printed it knows delays from coordinates only, which these drawn delays don't fit well",
    PROBING: "Here it measures delays to a few near nodes, too (berth's default); the paper doesn't say so",
}
CALIBRATIONS = (*setups.CALIBRATIONS, *rounds.CALIBRATIONS, *timeline.CALIBRATIONS)


def rows(
    run: Run, setting: Setting, optimal: str, metric: str, key: str, methods: Sequence[str], duration_s: float
) -> Iterator[Row]:
    """Methods that work in the latency space turn by turn, beside S-ODP's two steps, on one draw.

    All of them have the same coordinates at the same time.

    Args:
        run: which draw.
        setting: of the experiment.
        optimal: what S-ODP is called.
        metric: what it minimises.
        key: what is followed over time.
        methods: the others.
        duration_s: how long it runs.
    """
    number = int(run.parameters["instance"])
    problem, seed = setups.always_up(setting, number), setups.seed_of(setting, number)
    first = rounds.first_step(problem, seed)
    steps: dict[str, Sequence[Step]] = {optimal: two_steps(problem, first, metric)}
    for method in methods:
        chance = named_generator(setting.seed, f"coordinates {number}")
        coordinates = LiveCoordinates(problem.network, chance)
        steps[method] = in_turns(problem, first, coordinates, PLACES[method], duration_s)
    return timeline.rows_of(number, problem, steps, key, duration_s, seed)


def draw_typical(
    table: pd.DataFrame,
    figure: Figure,
    counts: pd.Series[int],
    goal: Panel,
    colours: Mapping[str, str],
    marked: Mapping[str, str],
) -> str:
    """The goal, traffic and latency of the draw with the median number of reassignments; gives its number."""
    chosen = typical(counts)
    panels = (
        goal,
        Panel("traffic_bytes_per_s", "traffic between\nnodes (bytes/s)"),
        Panel("latency_ms", "latency (ms)", by_factors=True),
    )
    draw_panels(figure, table[table["instance"] == chosen], panels, colours, marked, SECOND_STEP_S)
    return (
        f"({counts[chosen]}; draw {chosen} of {len(counts)}), eight nodes with drawn delays, simulated tuple "
        "by tuple. Vertical lines: full: S-ODP's second step"
    )


def spring_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Of the mean between 800 and 2000 s, and of reassignments."""
    found = moves(table, SBON, 0.0, ENERGY_S)
    late = moves(table, SBON, END_S, ENERGY_S)
    compared = partial(ratios, table, SBON, LEAST_ENERGY, begin=BEGIN_S, end=END_S)
    energy = compared("goal")
    moved = table[(table["method"] == SBON) & (table["reassignments"] > 0)]
    while_moving = moved.groupby("instance")["latency_ms"].mean()
    calm = averages(table, SBON, "latency_ms", SECOND_STEP_S, ENERGY_S, calm=True)
    peaks = (while_moving / calm).dropna()
    return [
        ratio_claim(
            "Springs carry more traffic between nodes than the optimum, 800 to 2000 s",
            1.84,
            compared("traffic_bytes_per_s"),
            "The least elastic energy may itself cross several short links, where springs that end on "
            "fewer nodes cross less; the paper's delays and load-dependent costs are not known (E0.10)",
        ),
        ratio_claim(
            "Springs are slower than the optimum, 800 to 2000 s",
            1.15,
            compared("latency_ms", calm=True),
            "Measured latency in windows without a reassignment; with these, whose pauses are our "
            f"choice, {mean_of(compared('latency_ms')).text()} x",
        ),
        Claim(
            "Springs find a sub-optimal solution: more elastic energy, by the true delays",
            "above 1 x",
            f"{mean_of(energy).text()} x the optimum, {len(energy)} draws",
            order_verdict(energy - 1.0),
            "rule: above 1 by more than two standard errors",
        ),
        count_claim(
            "Springs need many reassignments",
            PAPER_MOVES,
            found,
            (found - MOPAS_MOVES).mean() > 0,
            f"The order: more than the 5 of figure 6. Over {ENERGY_S:.0f} s; rounds and coordinates "
            "are calibrated (E0.10). If an operator moves only where the energy by coordinates falls: "
            f"{mean_of(moves(table, STAYING, 0.0, ENERGY_S)).text(1)}",
        ),
        share_claim(
            "Fluctuating coordinates cause reassignments though nothing changes, even after 2000 s",
            "seen after 2000 s",
            late > 0,
            f"Mean number between {END_S:.0f} and {ENERGY_S:.0f} s: {late.mean():.1f}",
        ),
        Claim(
            "Reassignments cause peaks of latency",
            "-",
            f"{mean_of(peaks).text(1)} x the latency of windows without, {len(peaks)} draws",
            order_verdict(peaks - 1.0),
            "rule: above 1 by more than two standard errors. The pause is our choice, the queues behind it "
            "are simulated",
        ),
    ]


def draw_springs(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Elastic energy, traffic and latency of a typical draw."""
    counts = moves(table, SBON, 0.0, ENERGY_S)
    goal = Panel("elastic_energy", "elastic energy\n(bytes · s)")
    colours = {LEAST_ENERGY: OPTIMUM, STAYING: GREEN, SBON: ORANGE}
    return (
        "The draw with the median number of reassignments "
        f"{draw_typical(table, figure, counts, goal, colours, {SBON: '-.'})}; dash-dotted: SBON's "
        "reassignments, which stop what moves for 5 s (peaks of latency; its axis is logarithmic). Elastic "
        "energy is by the true delays and the rates of each window."
    )


def converging_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Each one for MOPA as printed and with probes."""
    return [claim for method, about in ABOUT.items() for claim in _on_mopa(table, method, about)]


def _on_mopa(table: pd.DataFrame, method: str, about: str) -> Iterable[Claim]:
    found = moves(table, method, 0.0, USAGE_S)
    others = moves(table, SBON, 0.0, USAGE_S)
    yield count_claim(
        f"{method} reaches a stable assignment after few reassignments",
        MOPAS_MOVES,
        found,
        mean_of(others - found).surely_positive,
        f"The order: fewer than SBON's {mean_of(others).text(1)} by more than two standard errors. {about}",
    )
    last, slower = last_move(table, method), last_move(table, SBON)
    yield Claim(
        f"{method} finds it in less than 300 s",
        "< 300 s",
        f"last reassignment: median {last.median():.0f} s, before 300 s in {int((last < STABLE_S).sum())} "
        f"of {len(last)} draws; SBON's: median {slower.median():.0f} s",
        verdict(bool(last.median() < STABLE_S), mean_of(slower - last).surely_positive),
        "rule: the median is below 300 s; the order: earlier than SBON's last one by more than two standard "
        f"errors (the paper: it converges better than springs). {about}",
    )
    usage = mean_of(ratios(table, method, LEAST_USAGE, "goal", STABLE_S, USAGE_S))
    yield share_claim(
        f"{method} reaches the least network usage",
        "the optimum",
        at_optimum(table, method, LEAST_USAGE, USAGE_S),
        f"At {USAGE_S:.0f} s; on average from {STABLE_S:.0f} s on {usage.text()} x the least. {about}",
    )
    later = moves(table, SBON, STABLE_S, USAGE_S) - moves(table, method, STABLE_S, USAGE_S)
    yield Claim(
        f"{method} is less susceptible to fluctuating coordinates than springs",
        "-",
        f"{mean_of(later).text(1)} reassignments fewer than SBON after {STABLE_S:.0f} s, {len(later)} draws",
        order_verdict(later),
        "rule: fewer by more than two standard errors, by the same coordinates. Part of it is that MOPA "
        "stays where it is unless usage falls",
    )


def draw_converging(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Network usage, traffic and latency of a typical draw."""
    counts = moves(table, PRINTED, 0.0, USAGE_S)
    goal = Panel("network_usage_bytes", "network usage\n(bytes)")
    colours = {LEAST_USAGE: OPTIMUM, PROBING: BLUE, PRINTED: ORANGE}
    return (
        "The draw with the median number of reassignments of MOPA as printed "
        f"{draw_typical(table, figure, counts, goal, colours, {PRINTED: '-.', PROBING: ':'})}; dash-dotted "
        "and dotted: MOPA's reassignments, which stop what moves for 5 s."
    )


SPRINGS = Experiment(
    name="X0.2",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 5",
    title="Pietzuch's springs beside the least elastic energy, over time",
    about="A heuristic from another paper treats streams as springs and lets operators move to where the "
    "forces are in balance; it works with estimated delays that never come to rest. It is compared over time "
    "with the placement that is proved best for its own goal, and every move that it makes is counted.",
    schema=timeline.SCHEMA,
    runs=partial(setups.instance_runs, quick=8, full=50),
    rows=partial(
        rows,
        optimal=LEAST_ENERGY,
        metric="elastic_energy",
        key="elastic_energy",
        methods=(SBON, STAYING),
        duration_s=ENERGY_S,
    ),
    claims=spring_claims,
    draw=draw_springs,
    calibrations=CALIBRATIONS,
)
CONVERGING = Experiment(
    name="X0.3",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 6",
    title="Rizou's MOPA beside the least network usage, over time",
    about="MOPA, a heuristic that keeps little data in flight, improves its placement step by step while the "
    "application runs. It is compared over time with the placement that is proved best for the same goal.",
    schema=timeline.SCHEMA,
    runs=partial(setups.instance_runs, quick=8, full=50),
    rows=partial(
        rows,
        optimal=LEAST_USAGE,
        metric="network_usage",
        key="network_usage_bytes",
        methods=(PRINTED, PROBING, SBON),
        duration_s=USAGE_S,
    ),
    claims=converging_claims,
    draw=draw_converging,
    calibrations=(
        *CALIBRATIONS,
        Calibration(
            "when MOPA moves", "only where usage falls, from the plan in force; by coordinates, or probes"
        ),
    ),
)
