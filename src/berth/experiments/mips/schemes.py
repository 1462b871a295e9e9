"""What X1.1 to X1.3 share: requests on clusters, what schemes make of them, how that is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import berth
from berth.experiments.experiment import Calibration
from berth.experiments.judging import Mean, mean_of, same_effect
from berth.generators.clusters import Cluster, FatTree, Jellyfish, request
from berth.model import Problem
from berth.model.randomness import generator_for

FAT_TREE, JELLYFISH = "Fat-Tree", "Jellyfish"
TOPOLOGIES = (FAT_TREE, JELLYFISH)
SEEDS_APART = 10_000
"""Experiments with different seeds have no request in common."""
FIGURES = {
    "traffic": "container_traffic_bytes_per_s",
    "containers": "containers_used",
    "server_cost": "communication_cost",
}
"""T, U and W of the paper, and the judge's metrics."""
CORRECTED, PRINTED = "corrected", "as printed"
FORMS: dict[str, dict[str, Any]] = {CORRECTED: {"polish": False}, PRINTED: {"mode": "paper"}}
"""MIPS with its errata repaired and costs normalised, without berth's local steps; and as printed, with raw
costs (E1.4 to E1.9)."""
COMMON = (
    Calibration(
        "containers (E1.15)", "16 cores, 16 GB, as many as instances", "7 containers with M/M (util.)"
    ),
    Calibration("memory of a server (E1.15)", "16, 24 or 32 GB: containers fit all of them"),
    Calibration("requests at a time (E1.15)", "1 on an empty cluster"),
    Calibration("traffic of a stream (E1.15)", "log-normal: exp(N(3, 1)) B/s"),
    Calibration("switches (E1.14)", "Fat-Tree(4): 20 for its 16 servers; Jellyfish: 24 with 4 ports"),
    Calibration("exploration of MIPS where it is not varied", "sqrt(2)"),
)
POINTS = 3.0
"""How many percentage points a reduction may differ from the paper's: its traffic is not published, and
halving the spread of ours moves reductions by as much."""


def requested(topology: str, seed: int, number: int, applications: int = 1, **given: Any) -> Problem:
    """A request, or some, on a cluster; those of a number are the same on all topologies."""
    rng = generator_for(seed * SEEDS_APART + number)
    cluster: Cluster = FatTree(**given) if topology == FAT_TREE else Jellyfish(**given)
    wanted = tuple(request(f"a{place}", cluster, rng) for place in range(applications))
    return Problem("requests", cluster.network(rng, None), wanted)


def placed(
    problem: Problem, policy: str, parameters: dict[str, Any], seed: int
) -> dict[str, float | bool | None]:
    """What the judge says of a scheme's plan; nothing where it found none or its plan breaks a limit."""
    plan = berth.solve(problem, policy, seed=seed, **parameters)
    failed = plan.status != "feasible" or bool(plan.violations)
    figures = {name: None if failed else plan.metrics[metric] for name, metric in FIGURES.items()}
    return {"failed": failed, **figures}


def reduction(lower: ArrayLike, higher: ArrayLike) -> Mean:
    """By how many percent the mean of one is below that of the other, over the same repeats."""
    below, above = (np.asarray(values, dtype=np.float64) for values in (lower, higher))
    ratio = below.mean() / above.mean()
    error = mean_of((below - ratio * above) / above.mean()).error
    return Mean(100.0 * (1.0 - ratio), 100.0 * error, len(below))


def close_points(ours: float, paper: float) -> bool:
    """Whether a reduction is within the percentage points of the paper's, and of its size."""
    return abs(ours - paper) <= POINTS and same_effect(ours, paper)


def percent(value: Mean) -> str:
    """For people."""
    return f"{value.value:.1f} ± {value.error:.1f} %"
