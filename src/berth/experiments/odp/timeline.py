"""A row for every window of time: what the simulator measured while plans came into force."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructField, StructType

from berth.evaluation import evaluate
from berth.experiments.experiment import Calibration, Row
from berth.experiments.odp.rounds import Step, changes
from berth.experiments.odp.setups import TUPLE_BYTES
from berth.model import Problem
from berth.simulate import Events, Migration, Options, simulate

WINDOW_S = 20.0
JITTER_MS = 2.0
PAUSE_S = 5.0

MEASURED = {
    "latency_ms": "latency_mean_ms",
    "traffic_bytes_per_s": "traffic_bytes_per_s",
    "network_usage_bytes": "network_usage_bytes",
    "elastic_energy": "expected_elastic_energy",
}
"""Columns of the table, and the simulator's series."""

SCHEMA = StructType(
    [
        StructField("instance", IntegerType()),
        StructField("method", StringType()),
        StructField("time_s", DoubleType()),
        *(StructField(name, DoubleType()) for name in MEASURED),
        StructField("lost_share", DoubleType()),
        StructField("reassignments", IntegerType()),
        StructField("reassigned_at_s", DoubleType()),
        StructField("goal", DoubleType()),
    ]
)
"""`time_s`: the window's end. `reassigned_at_s`: the last reassignment in it. `goal`: of the plan in force at
its end, by the judge, with the problem's own rates."""

CALIBRATIONS = (
    Calibration(
        "standard deviation of a tuple's delay on a link", f"{JITTER_MS:g} ms (paper: 1 to 3)", "nothing"
    ),
    Calibration(
        "a reassignment", f"stops what moves for {PAUSE_S:g} s; tuples wait, none is lost", "nothing"
    ),
)


def windows(
    problem: Problem,
    steps: Sequence[Step],
    metric: str,
    duration_s: float,
    seed: int,
    mean_repair_s: float | None = None,
) -> Iterator[dict[str, float | int | None]]:
    """Let plans run one after the other.

    Args:
        problem: what runs.
        steps: the plans, the first one from time 0 on.
        metric: the key of the metric that is the `goal`.
        duration_s: how long.
        seed: for the simulator.
        mean_repair_s: with it, nodes fail as their availability says.
    """
    options = Options(
        duration_s=duration_s,
        window_s=WINDOW_S,
        seed=seed,
        arrivals="regular",
        service="fixed",
        tuple_bytes=TUPLE_BYTES,
        jitter_ms=JITTER_MS,
        pause_s=PAUSE_S,
        mean_repair_s=mean_repair_s,
    )
    moving = changes(steps)
    events = Events(migrations=tuple(Migration(step.time_s, step.plan) for step in moving))
    series = simulate(problem, steps[0].plan, options, events).series
    in_force = [steps[0], *moving]
    starts = np.array([step.time_s for step in in_force])
    goals = [evaluate(problem, step.plan).metrics[metric] for step in in_force]
    for number, end in enumerate(series["time_s"].tolist()):
        current = int(np.searchsorted(starts, end, side="left")) - 1
        moved = starts[1:][(starts[1:] >= end - WINDOW_S) & (starts[1:] < end)].tolist()
        emitted = series["emitted_per_s"][number]
        yield {
            "time_s": end,
            **{name: _known(series[key][number]) for name, key in MEASURED.items()},
            "lost_share": _known(series["lost_per_s"][number] / emitted) if emitted > 0 else None,
            "reassignments": len(moved),
            "reassigned_at_s": moved[-1] if moved else None,
            "goal": goals[current],
        }


def rows_of(
    instance: int,
    problem: Problem,
    methods: Mapping[str, Sequence[Step]],
    metric: str,
    duration_s: float,
    seed: int,
) -> Iterator[Row]:
    """The windows of several methods on one problem, by the same chance."""
    for method, steps in methods.items():
        for row in windows(problem, steps, metric, duration_s, seed):
            yield {"instance": instance, "method": method, **row}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
