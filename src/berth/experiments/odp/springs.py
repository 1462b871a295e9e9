"""X0.2: springs on fluctuating coordinates against the least elastic energy (paper 000, figure 5).

A heuristic from another paper treats streams as springs and lets operators move to where the forces are in
balance; it works with estimated delays that never come to rest. It is compared over time with the placement
that is proved best for its own goal, and every move that it makes is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Claim, Row, Run, Setting, Verdict
from berth.experiments.judging import mean_of
from berth.experiments.odp import setups, timeline
from berth.experiments.odp.claims import (
    averages,
    count_claim,
    moves,
    ratio_claim,
    ratios,
    share_claim,
    typical,
)
from berth.experiments.odp.rounds import SECOND_STEP_S
from berth.experiments.odp.timeline import GREEN, OPTIMUM, ORANGE, Panel, draw_panels
from berth.model import Plan, Problem
from berth.policies import solve

OPTIMAL, SPRINGS, STAYING = "S-ODP_EE", "SBON", "SBON, staying where nothing is gained"
DURATION_S, BEGIN_S, END_S = 2400.0, 800.0, 2000.0
MOPAS_MOVES = 5


class Springs:
    """SBON every 40 s, with the coordinates of the moment, beside S-ODP's two steps."""

    name = "X0.2"
    paper = "000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 5"
    title = "Pietzuch's springs beside the least elastic energy, over time"
    schema = timeline.SCHEMA
    calibrations = timeline.BESIDE_OPTIMUM

    def runs(self, setting: Setting) -> Iterable[Run]:
        """Draws of delays and of the two pinned nodes."""
        return setups.instance_runs(setting, 8, 50)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """All methods on one draw."""
        methods = {SPRINGS: springs, STAYING: staying_springs}
        return timeline.rows_beside_optimum(
            run, setting, (OPTIMAL, "elastic_energy"), "elastic_energy", methods, DURATION_S
        )

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Of the mean between 800 and 2000 s, and of reassignments."""
        found = moves(table, SPRINGS, 0.0, DURATION_S)
        late = moves(table, SPRINGS, END_S, DURATION_S)
        energy = ratios(table, SPRINGS, OPTIMAL, "goal", BEGIN_S, END_S)
        staying = mean_of(moves(table, STAYING, 0.0, DURATION_S))
        with_pauses = mean_of(ratios(table, SPRINGS, OPTIMAL, "latency_ms", BEGIN_S, END_S))
        return [
            ratio_claim(
                "Springs carry more traffic between nodes than the optimum, 800 to 2000 s",
                1.84,
                ratios(table, SPRINGS, OPTIMAL, "traffic_bytes_per_s", BEGIN_S, END_S),
                "x",
                "The least elastic energy may itself cross several short links, where springs that end on "
                "fewer nodes cross less; the paper's delays and load-dependent costs are not known (E0.10)",
            ),
            ratio_claim(
                "Springs are slower than the optimum, 800 to 2000 s",
                1.15,
                ratios(table, SPRINGS, OPTIMAL, "latency_ms", BEGIN_S, END_S, calm=True),
                "x",
                "Measured latency in windows without a reassignment; with these, whose pauses are our "
                f"choice, {with_pauses.text()} x",
            ),
            Claim(
                "Springs find a sub-optimal solution: more elastic energy, by the true delays",
                "above 1 x",
                f"{mean_of(energy).text()} x the optimum, {len(energy)} draws",
                _above_one(energy),
                "rule: above 1 by more than two standard errors",
            ),
            count_claim(
                "Springs need many reassignments",
                16,
                found,
                (found - MOPAS_MOVES).mean() > 0,
                f"The order: more than the 5 of figure 6. Over {DURATION_S:.0f} s; rounds and coordinates "
                "are calibrated (E0.10). If an operator moves only where the energy by coordinates falls: "
                f"{staying.text(1)}",
            ),
            share_claim(
                "Fluctuating coordinates cause reassignments though nothing changes, even after 2000 s",
                "seen after 2000 s",
                late > 0,
                f"Mean number between {END_S:.0f} and {DURATION_S:.0f} s: {late.mean():.1f}",
            ),
            _peaks(table),
        ]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Elastic energy, traffic and latency of a typical draw."""
        counts = moves(table, SPRINGS, 0.0, DURATION_S)
        chosen = typical(counts)
        panels = (
            Panel("elastic_energy", "elastic energy\n(bytes · s)"),
            Panel("traffic_bytes_per_s", "traffic between\nnodes (bytes/s)"),
            Panel("latency_ms", "latency (ms)", by_factors=True),
        )
        colours = {OPTIMAL: OPTIMUM, STAYING: GREEN, SPRINGS: ORANGE}
        draw_panels(
            figure, table[table["instance"] == chosen], panels, colours, {SPRINGS: "-."}, SECOND_STEP_S
        )
        return (
            f"The draw with the median number of reassignments ({counts[chosen]}; draw {chosen} of "
            f"{len(counts)}), eight nodes with drawn delays, simulated tuple by tuple. Vertical lines: full: "
            "S-ODP's second step; dash-dotted: SBON's reassignments, which stop what moves for 5 s (peaks of "
            "latency; its axis is logarithmic). Elastic energy is by the true delays and the rates of each "
            "window."
        )


def springs(problem: Problem, current: Plan) -> Plan:
    """Where springs pull everything, whatever is in force."""
    return solve(problem, "sbon")


def staying_springs(problem: Problem, current: Plan) -> Plan:
    """As berth does it: what is in force stays unless the energy, by coordinates, falls."""
    return solve(problem, "sbon", previous=current)


def _above_one(values: pd.Series[float]) -> Verdict:
    return Verdict.REPRODUCED if mean_of(values - 1.0).surely_positive else Verdict.NOT_REPRODUCED


def _peaks(table: pd.DataFrame) -> Claim:
    moved = table[(table["method"] == SPRINGS) & (table["reassignments"] > 0)]
    while_moving = moved.groupby("instance")["latency_ms"].mean()
    calm = averages(table, SPRINGS, "latency_ms", SECOND_STEP_S, DURATION_S, calm=True)
    factor = (while_moving / calm).dropna()
    return Claim(
        "Reassignments cause peaks of latency",
        "-",
        f"{mean_of(factor).text(1)} x the latency of windows without, {len(factor)} draws",
        _above_one(factor),
        "rule: above 1 by more than two standard errors. The pause is our choice, the queues behind it are "
        "simulated",
    )


EXPERIMENT = Springs()
