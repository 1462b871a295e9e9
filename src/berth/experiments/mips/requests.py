"""The requests of paper 001's section V-A, each on a cluster of its own, and what a scheme makes of them."""

from __future__ import annotations

from typing import Any

import berth
from berth.experiments.experiment import Calibration
from berth.generators.clusters import FatTree, FatTreeParameters, Jellyfish, JellyfishParameters, request
from berth.model import Network, Problem
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
    Calibration("memory of a server (E1.15)", "16, 24 or 32 GB: containers fit all of them", "nothing"),
    Calibration("requests at a time (E1.15)", "1 on an empty cluster", "nothing"),
    Calibration("traffic of a stream (E1.15)", "log-normal: exp(N(3, 1)) B/s", "nothing"),
    Calibration(
        "switches (E1.14)", "Fat-Tree(4): 20 for its 16 servers; Jellyfish: 24 with 4 ports", "nothing"
    ),
    Calibration("exploration of MIPS where it is not varied", "sqrt(2)", "nothing"),
)


def requested(topology: str, seed: int, number: int, applications: int = 1, **given: Any) -> Problem:
    """A request, or some, on a cluster; those of a number are the same on all topologies."""
    rng = generator_for(seed * SEEDS_APART + number)
    parameters = FatTreeParameters(**given) if topology == FAT_TREE else JellyfishParameters(**given)
    asked = tuple(request(f"a{place}", parameters, rng) for place in range(applications))
    network: Network
    if isinstance(parameters, FatTreeParameters):
        network = FatTree().network(parameters, rng, None)
    else:
        network = Jellyfish().network(parameters, rng, None)
    return Problem("requests", network, asked)


def placed(
    problem: Problem, policy: str, parameters: dict[str, Any], seed: int
) -> dict[str, float | bool | None]:
    """What the judge says of a scheme's plan; nothing where it found none or its plan breaks a limit."""
    plan = berth.solve(problem, policy, seed=seed, **parameters)
    failed = plan.status != "feasible" or bool(plan.violations)
    figures = {name: None if failed else plan.metrics[metric] for name, metric in FIGURES.items()}
    return {"failed": failed, **figures}
