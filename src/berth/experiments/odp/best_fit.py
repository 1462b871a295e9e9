"""X0.4: T-Storm's best fit on noisy rates against the least traffic between nodes (paper 000, figure 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting
from berth.experiments.judging import mean_of
from berth.experiments.odp import rounds, setups, timeline
from berth.experiments.odp.claims import SAME, share_claim
from berth.experiments.odp.rounds import SECOND_STEP_S, Step, two_steps
from berth.experiments.odp.timeline import OPTIMUM, ORANGE, Panel, draw_panels
from berth.model import Plan, Problem
from berth.policies import solve

OPTIMAL, T_STORM = "S-ODP_T", "Xu (T-Storm)"
DURATION_S = 2000.0
ROUNDS_S = (100.0, 750.0, 1400.0)
NOISE, ALPHA = 0.2, 0.5


def rows(run: Run, setting: Setting) -> Iterable[Row]:
    """Both methods on one draw."""
    number = int(run.parameters["instance"])
    problem = setups.always_up(setting, number)
    seed = setups.seed_of(setting, number)
    steps = {
        OPTIMAL: two_steps(problem, rounds.first_step(problem, seed), "traffic"),
        T_STORM: t_storm_rounds(problem, seed),
    }
    key = "traffic_bytes_per_s"
    for row in timeline.rows_of(number, problem, steps, key, DURATION_S, seed):
        end = float(row["time_s"])
        plan = [step.plan for step in steps[str(row["method"])] if step.time_s < end][-1]
        yield {**row, "there_and_back": there_and_back(problem, plan)}


def claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Of the plans after each round."""
    after = {time: _after(table, time) for time in ROUNDS_S}
    first, second = after[100.0], after[750.0]
    poor = first.index[first["excess"] > SAME]
    excess = mean_of(first["excess"])
    return [
        share_claim(
            "The first reassignment, at 100 s, is sub-optimal",
            "sub-optimal",
            first["excess"] > SAME,
            f"Traffic after it: {excess.text()} x the least. With exact rates it finds the optimum at "
            "once (E0.9): chance decides, as it may have in the paper's single run",
        ),
        share_claim(
            "A sequence of three executors then runs on two nodes and uses two links instead of one",
            "seen",
            first.loc[poor, "there_and_back"].astype(bool),
            "Of the sub-optimal ones: some executor's input and output both cross, to one other node",
        ),
        share_claim(
            "Where the first was not, the second reassignment, at 750 s, is optimal",
            "optimal",
            second.loc[poor, "excess"] <= SAME,
            f"Of all draws {int((second['excess'] <= SAME).sum())} of {len(second)} are optimal then, "
            f"and {int((after[1400.0]['excess'] <= SAME).sum())} after a third round. The second round "
            "sees new noise: it may repair or spoil (E0.9)",
        ),
    ]


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Traffic of the first draw in which things go as in the paper."""
    first, second = _after(table, 100.0), _after(table, 750.0)
    as_there = first.index[(first["excess"] > SAME) & (second["excess"] <= SAME)]
    chosen = int(as_there.min()) if len(as_there) else int(first.index.min())
    panels = (Panel("traffic_bytes_per_s", "traffic between nodes (bytes/s)"),)
    shown = table[table["instance"] == chosen]
    draw_panels(figure, shown, panels, {OPTIMAL: OPTIMUM, T_STORM: ORANGE}, {T_STORM: "-."}, SECOND_STEP_S)
    figure.set_size_inches(9, 4)
    why = (
        f"the first of {len(as_there)} draws, of {len(first)}, in which it goes as in the paper"
        if len(as_there)
        else f"the first of {len(first)} draws; in none it goes as in the paper"
    )
    return (
        f"Draw {chosen}: {why}. Eight nodes, simulated tuple by tuple. Vertical lines: full: S-ODP's "
        "second step, and T-Storm's first round; dash-dotted: T-Storm's reassignments."
    )


def t_storm_rounds(problem: Problem, seed: int) -> list[Step]:
    """Round robin, then what every round finds with the rates observed up to it."""
    steps = [Step(0.0, solve(problem, "round-robin"))]
    for number, time in enumerate(ROUNDS_S, start=1):
        plan = solve(problem, "t-storm", rounds=number, noise=NOISE, alpha=ALPHA, seed=seed)
        steps.append(Step(time, replace(plan, trace={})))
    return steps


def there_and_back(problem: Problem, plan: Plan) -> bool:
    """Whether some stream goes to another node and the next one from there back."""
    graph = problem.instances
    node = np.array([problem.network.index[plan.assignment[name]] for name in graph.names])
    sender, receiver = node[graph.pair_sender], node[graph.pair_receiver]
    for middle in np.flatnonzero(np.bincount(graph.pair_receiver, minlength=len(graph))).tolist():
        into = set(sender[graph.pair_receiver == middle].tolist())
        out = set(receiver[graph.pair_sender == middle].tolist())
        if (into & out) - {int(node[middle])}:
            return True
    return False


def _after(table: pd.DataFrame, time_s: float) -> pd.DataFrame:
    """T-Storm's plans a while after a round, with their traffic in terms of the least."""
    later = table[table["time_s"] == time_s + 100.0 - time_s % timeline.WINDOW_S]
    found = later[later["method"] == T_STORM].set_index("instance")
    best = later[later["method"] == OPTIMAL].set_index("instance")
    return found.assign(excess=found["goal"] / best["goal"])


BEST_FIT = Experiment(
    name="X0.4",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 7",
    title="Xu's best fit beside the least traffic between nodes, over time",
    about="A heuristic sorts operators by their traffic and puts each where it adds the least traffic "
    "between machines, by rates that it measures. It is compared over time with the placement that is proved "
    "best.",
    schema=StructType([*timeline.SCHEMA.fields, StructField("there_and_back", BooleanType())]),
    runs=partial(setups.instance_runs, quick=12, full=50),
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(
        *setups.CALIBRATIONS,
        *timeline.CALIBRATIONS,
        Calibration("rounds of T-Storm", "at 100, 750 and 1400 s", "reassignments at 100 s and 750 s"),
        Calibration(
            "observed rates",
            f"true ones with a standard deviation of {NOISE:.0%} (25 tuples in 10 s), moving average "
            f"{ALPHA} (E0.9); from 2 % to 30 % give the same plans but for one: noise only breaks ties",
        ),
        Calibration("first placement", "T-Storm: round robin; S-ODP: all ties, drawn (E0.8)"),
    ),
)
