"""Policies that are asked again and again while the application runs: what is in force from when on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise

import numpy as np

from berth.evaluation import evaluate
from berth.experiments.experiment import Calibration
from berth.experiments.odp.coordinates import LiveCoordinates
from berth.model import Network, Plan, Problem
from berth.policies import solve

SECOND_STEP_S = 100.0
"""When rates are known: S-ODP's second step, and when the others begin (section 7.2)."""
TURN_S = 40.0

CALIBRATIONS = (
    Calibration(
        "rounds of the decentralised schedulers",
        f"from {SECOND_STEP_S:.0f} s on one operator every {TURN_S:.0f} s, in turn, moves with both "
        "executors if it should be elsewhere (E0.10)",
        "a stable assignment in less than 300 s, after 5 reassignments",
    ),
    Calibration("first placement of all of them", "S-ODP's first step: all ties, drawn (E0.8)", "nothing"),
)

Place = Callable[[Problem, Plan], Plan]
"""Asked for a placement, given the one in force."""


@dataclass(frozen=True)
class Step:
    """From a time on, a plan is in force."""

    time_s: float
    plan: Plan


def first_step(problem: Problem, seed: int) -> Plan:
    """S-ODP's early assignment: the most available, ties by chance."""
    return solve(problem, "s-odp", seed=seed, first_run=True)


def two_steps(problem: Problem, first: Plan, metric: str) -> list[Step]:
    """S-ODP: an early assignment, then that which minimises a metric."""
    second = solve(replace(problem, objective={metric: 1.0}), "s-odp", previous=first)
    return [Step(0.0, first), Step(SECOND_STEP_S, second)]


def in_turns(
    problem: Problem, first: Plan, coordinates: LiveCoordinates, place: Place, until_s: float
) -> list[Step]:
    """A decentralised scheduler: each operator looks after itself, one after the other.

    What it is told are the coordinates of the moment. It stays where there is no room at the node it wants,
    or no plan at all.
    """
    steps = [Step(0.0, first)]
    times = np.arange(SECOND_STEP_S, until_s, TURN_S).tolist()
    for time, instances in zip(times, cycle(_free_operators(problem)), strict=False):
        current = steps[-1].plan
        wanted = place(_with_network(problem, coordinates.at(time)), current)
        if not wanted.found:
            continue
        moved = {name: wanted.assignment[name] for name in instances}
        plan = Plan({**current.assignment, **moved}, trace=wanted.trace)
        if plan.assignment != current.assignment and not evaluate(problem, plan).violations:
            steps.append(Step(time, plan))
    return steps


def _free_operators(problem: Problem) -> Sequence[tuple[str, ...]]:
    """The instances of every operator that has a choice, in the order of the file."""
    graph = problem.instances
    free = (number for number, nodes in enumerate(graph.allowed_nodes) if len(nodes) > 1)
    return [tuple(graph.names[k] for k in graph.operators[number].instances) for number in free]


def _with_network(problem: Problem, network: Network) -> Problem:
    return replace(problem, network=network)


def changes(steps: Iterable[Step]) -> list[Step]:
    """The steps that moved something, after the first one."""
    return [
        here for before, here in pairwise(steps) if dict(here.plan.assignment) != dict(before.plan.assignment)
    ]
