"""What X2.1 to X2.3 share: graphs that are deployed one after the other, by each way to choose candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import berth
from berth.evaluation import Setting as EvaluationSetting
from berth.experiments.experiment import Calibration, Row, Run, Setting, columns, named_generator
from berth.experiments.networks import papers_network, some_delays
from berth.generators.matrices import Matrices, MatricesParameters
from berth.model import Plan, Problem
from berth.policies.latency_bound.policy import judged_latencies

LABELS = {"knn": "kNN", "krand": "kRand", "el": "EL", "cknn": "CkNN"}
COLOURS = {"knn": "#d55e00", "krand": "#e69f00", "el": "#0072b2", "cknn": "#009e73"}
PRESENT, LATE = 0.0, 1.0
STALENESS = {PRESENT: "present loads", LATE: "late loads"}
"""What hosts say is true, or an answer is older by a placement for every host asked before it (E2.10)."""
OPERATORS_OF_A_GRAPH = 2

SCHEMA = columns(
    network=str,
    draw=int,
    stale=float,
    candidates=str,
    operators=int,
    graphs=int,
    latencies=int,
    latency_ms=float,
    usage_kb=float,
    messages=float,
)

CALIBRATIONS = (
    Calibration("work", "2e-5 ms x n^3: 2.5 s for 500 x 500 matrices", "288 messages of EL (X2.3)"),
    Calibration("element of a matrix", "8 bytes", "nothing"),
    Calibration("network card", "12.5 MB/s", "nothing"),
    Calibration("operators that a host takes", "3 of the free ones", "nothing"),
    Calibration("run queue of a host", "the operators that it hosts", "nothing"),
    Calibration(
        "late loads", "an answer is a placement older for every host asked before", "EL close to kNN"
    ),
    Calibration("latency of a deployment", "mean over all graphs deployed so far", "nothing"),
)


def growing_runs(setting: Setting, counts: Sequence[int], draws: int) -> Iterable[Run]:
    """A run is a draw of hosts, a staleness and a way to choose candidates, looked at after some graphs."""
    network = papers_network(setting.data)
    for draw in range(draws):
        for stale in STALENESS:
            for candidates in LABELS:
                yield Run(
                    f"{network}/{draw}/{stale:g}/{candidates}",
                    {
                        "network": network,
                        "draw": draw,
                        "stale": stale,
                        "candidates": candidates,
                        "counts": list(counts),
                    },
                )


def growing_rows(run: Run, setting: Setting) -> Iterable[Row]:
    """How it is after each number of graphs; those of one draw are the same for every way.

    Graphs are placed in their order and stay: the first ones of a plan are how it was before others came.
    """
    chosen = run.parameters
    problem = _problem(setting, chosen["network"], chosen["draw"], max(chosen["counts"]))
    plan = berth.solve(
        problem,
        "latency-bound",
        seed=chosen["draw"],
        bound_ms=0,
        k=5,
        candidates=chosen["candidates"],
        stale=chosen["stale"],
        refine=False,
        neighbours=False,
    )
    for count in chosen["counts"]:
        latencies, usage_kb = _judged(problem, plan, count)
        yield {
            "network": chosen["network"],
            "draw": chosen["draw"],
            "stale": chosen["stale"],
            "candidates": chosen["candidates"],
            "operators": OPERATORS_OF_A_GRAPH * count,
            "graphs": count,
            "latencies": len(latencies),
            "latency_ms": float(np.mean(latencies)) if latencies else None,
            "usage_kb": usage_kb,
            "messages": plan.trace.get("messages_per_candidate_set"),
        }


def _judged(problem: Problem, plan: Plan, count: int) -> tuple[list[float], float | None]:
    """The latencies of the first graphs and what each has in flight, without the others; by the judge."""
    part = replace(problem, applications=problem.applications[:count])
    instances = part.instances.names
    if any(name not in plan.assignment for name in instances):
        return [], None
    nodes = np.array([problem.network.index[plan.assignment[name]] for name in instances])
    placed = Plan({name: plan.assignment[name] for name in instances})
    usage = berth.evaluate(part, placed).metrics.get("network_usage_bytes")
    latencies = judged_latencies(EvaluationSetting(part), nodes) or []
    return latencies, None if usage is None else usage / 1000.0 / count


def _problem(setting: Setting, network: str, draw: int, graphs: int) -> Problem:
    rng = named_generator(setting.seed, f"{network}/{draw}")
    parameters = MatricesParameters(graphs=graphs)
    hosts = Matrices().network(parameters, rng, some_delays(setting.data, network, parameters.hosts, rng))
    return Matrices().problem(parameters, rng, hosts)


def side_by_side(table: pd.DataFrame, stale: float, values: str) -> pd.DataFrame:
    """Draws and numbers of operators as rows, a column for each way; without rows that lack a value."""
    part = table[table["stale"] == stale]
    return part.pivot_table(index=["draw", "operators"], columns="candidates", values=values).dropna()


def failures(table: pd.DataFrame) -> str:
    """How many deployments have no latency: some graph has no plan or no link."""
    failed = int((table["latencies"] < table["graphs"]).sum())
    return f"{failed} of {len(table)} deployments failed"


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
