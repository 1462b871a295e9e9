"""X0.3: MOPA against the least network usage (paper 000, figure 6).

MOPA, a heuristic that keeps little data in flight, improves its placement step by step while the application
runs. It is compared over time with the placement that is proved best for the same goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.judging import mean_of, order_verdict, verdict
from berth.experiments.odp import setups, timeline
from berth.experiments.odp.claims import (
    at_optimum,
    count_claim,
    last_move,
    moves,
    ratios,
    share_claim,
    typical,
)
from berth.experiments.odp.rounds import SECOND_STEP_S
from berth.experiments.odp.springs import springs
from berth.experiments.odp.timeline import BLUE, OPTIMUM, ORANGE, Panel, draw_panels
from berth.model import Plan, Problem
from berth.policies import solve

OPTIMAL, PRINTED, PROBING, SPRINGS = "S-ODP_N", "MOPA as printed", "MOPA with probes", "SBON"
DURATION_S, STABLE_S, PAPER_MOVES = 2000.0, 300.0, 5
ABOUT = {
    PRINTED: "As printed it knows delays from coordinates only, which these drawn delays don't fit well",
    PROBING: "Here it measures delays to a few near nodes, too (berth's default); the paper doesn't say so",
}


class Converging:
    """MOPA every 40 s, with the coordinates of the moment, beside S-ODP's two steps and springs."""

    name = "X0.3"
    paper = "000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 6"
    title = "Rizou's MOPA beside the least network usage, over time"
    schema = timeline.SCHEMA
    calibrations = (
        *timeline.BESIDE_OPTIMUM,
        Calibration(
            "when MOPA moves",
            "only where usage falls, from the plan in force; by coordinates, or probes",
            "nothing",
        ),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """Draws of delays and of the two pinned nodes."""
        return setups.instance_runs(setting, 8, 50)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """All methods on one draw."""
        methods = {PRINTED: printed, PROBING: probing, SPRINGS: springs}
        return timeline.rows_beside_optimum(
            run, setting, (OPTIMAL, "network_usage"), "network_usage_bytes", methods, DURATION_S
        )

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Each one for MOPA as printed and with probes."""
        return [claim for method in (PRINTED, PROBING) for claim in _claims(table, method)]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Network usage, traffic and latency of a typical draw."""
        counts = moves(table, PRINTED, 0.0, DURATION_S)
        chosen = typical(counts)
        panels = (
            Panel("network_usage_bytes", "network usage\n(bytes)"),
            Panel("traffic_bytes_per_s", "traffic between\nnodes (bytes/s)"),
            Panel("latency_ms", "latency (ms)", by_factors=True),
        )
        colours = {OPTIMAL: OPTIMUM, PROBING: BLUE, PRINTED: ORANGE}
        marked = {PRINTED: "-.", PROBING: ":"}
        draw_panels(figure, table[table["instance"] == chosen], panels, colours, marked, SECOND_STEP_S)
        return (
            f"The draw with the median number of reassignments of MOPA as printed ({counts[chosen]}; draw "
            f"{chosen} of {len(counts)}), eight nodes with drawn delays, simulated tuple by tuple. Vertical "
            "lines: full: S-ODP's second step; dash-dotted and dotted: MOPA's reassignments, which stop what "
            "moves for 5 s."
        )


def printed(problem: Problem, current: Plan) -> Plan:
    """MOPA by coordinates alone."""
    return solve(problem, "mopa", previous=current, refine=False)


def probing(problem: Problem, current: Plan) -> Plan:
    """MOPA with measured delays to near nodes."""
    return solve(problem, "mopa", previous=current)


def _claims(table: pd.DataFrame, method: str) -> Iterable[Claim]:
    about = ABOUT[method]
    found = moves(table, method, 0.0, DURATION_S)
    others = moves(table, SPRINGS, 0.0, DURATION_S)
    fewer = mean_of(others - found)
    usage = mean_of(ratios(table, method, OPTIMAL, "goal", STABLE_S, DURATION_S))
    yield count_claim(
        f"{method} reaches a stable assignment after few reassignments",
        PAPER_MOVES,
        found,
        fewer.surely_positive,
        f"The order: fewer than SBON's {mean_of(others).text(1)} by more than two standard errors. {about}",
    )
    last, slower = last_move(table, method), last_move(table, SPRINGS)
    yield Claim(
        f"{method} finds it in less than 300 s",
        "< 300 s",
        f"last reassignment: median {last.median():.0f} s, before 300 s in {int((last < STABLE_S).sum())} "
        f"of {len(last)} draws; SBON's: median {slower.median():.0f} s",
        verdict(bool(last.median() < STABLE_S), mean_of(slower - last).surely_positive),
        "rule: the median is below 300 s; the order: earlier than SBON's last one by more than two standard "
        f"errors (the paper: it converges better than springs). {about}",
    )
    yield share_claim(
        f"{method} reaches the least network usage",
        "the optimum",
        at_optimum(table, method, OPTIMAL, DURATION_S),
        f"At {DURATION_S:.0f} s; on average from {STABLE_S:.0f} s on {usage.text()} x the least. {about}",
    )
    later = moves(table, SPRINGS, STABLE_S, DURATION_S) - moves(table, method, STABLE_S, DURATION_S)
    yield Claim(
        f"{method} is less susceptible to fluctuating coordinates than springs",
        "-",
        f"{mean_of(later).text(1)} reassignments fewer than SBON after {STABLE_S:.0f} s, {len(later)} draws",
        order_verdict(later.tolist()),
        "rule: fewer by more than two standard errors, by the same coordinates. Part of it is that MOPA "
        "stays where it is unless usage falls",
    )


EXPERIMENT = Converging()
