"""What X2.1 to X2.3 share: graphs that are deployed one after the other, by each way to choose candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

import berth
from berth.evaluation import Setting as EvaluationSetting
from berth.experiments.experiment import Calibration, Row, Run, Setting, columns, named_generator
from berth.experiments.networks import papers_network, some_delays
from berth.generators.matrices import Matrices
from berth.model import Plan, Problem
from berth.policies.latency_bound.policy import judged_latencies

LABELS = {"knn": "kNN", "krand": "kRand", "el": "EL", "cknn": "CkNN"}
COLOURS = {"knn": "#d55e00", "krand": "#e69f00", "el": "#0072b2", "cknn": "#009e73"}
PRESENT, LATE = 0.0, 1.0
STALENESS = {PRESENT: "present loads", LATE: "late loads"}
"""What hosts say is true, or an answer is older by a placement for every host asked before it (E2.10)."""
OPERATORS_OF_A_GRAPH = 2

SCHEMA = columns(
    "network str, draw int, stale float, candidates str, operators int, graphs int, latencies int, "
    "latency_ms float, usage_kb float, messages float"
)

CALIBRATIONS = (
    Calibration("work", "2e-5 ms x n^3: 2.5 s for 500 x 500 matrices", "288 messages of EL (X2.3)"),
    Calibration("element of a matrix", "8 bytes"),
    Calibration("network card", "12.5 MB/s"),
    Calibration("operators that a host takes", "3 of the free ones"),
    Calibration("run queue of a host", "the operators that it hosts"),
    Calibration(
        "late loads", "an answer is a placement older for every host asked before", "EL close to kNN"
    ),
    Calibration("latency of a deployment", "mean over all graphs deployed so far"),
)


def growing_runs(
    setting: Setting, counts: Sequence[int] = (120,), quick_counts: Sequence[int] = (120,)
) -> Iterable[Run]:
    """A run is a draw of hosts, a staleness and a way to choose candidates, looked at after some graphs."""
    network = papers_network(setting.data)
    for draw, stale, candidates in product(range(4 if setting.quick else 20), STALENESS, LABELS):
        yield Run.of(
            "{network}/{draw}/{stale:g}/{candidates}",
            network=network,
            draw=draw,
            stale=stale,
            candidates=candidates,
            counts=list(quick_counts if setting.quick else counts),
        )


def growing_rows(run: Run, setting: Setting) -> Iterable[Row]:
    """How it is after each number of graphs; those of one draw are the same for every way.

    Graphs are placed in their order and stay: the first ones of a plan are how it was before others came.
    """
    chosen = dict(run.parameters)
    counts = chosen.pop("counts")
    problem = _problem(setting, chosen["network"], chosen["draw"], max(counts))
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
    for count in counts:
        latencies, usage_kb = _judged(problem, plan, count)
        yield {
            **chosen,
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
    generator = Matrices(graphs=graphs)
    hosts = generator.network(rng, some_delays(setting.data, network, generator.hosts, rng))
    return generator.problem(rng, hosts)


def side_by_side(table: pd.DataFrame, stale: float, values: str) -> pd.DataFrame:
    """Draws and numbers of operators as rows, a column for each way; without rows that lack a value."""
    part = table[table["stale"] == stale]
    return part.pivot_table(index=["draw", "operators"], columns="candidates", values=values).dropna()


def over_time(table: pd.DataFrame, values: str) -> dict[float, pd.DataFrame]:
    """For each staleness, draws as rows and ways as columns: the mean over all numbers of operators."""
    return {stale: side_by_side(table, stale, values).groupby(level="draw").mean() for stale in STALENESS}


def failures(table: pd.DataFrame) -> str:
    """How many deployments have no latency: some graph has no plan or no link."""
    failed = int((table["latencies"] < table["graphs"]).sum())
    return f"{failed} of {len(table)} deployments failed"
