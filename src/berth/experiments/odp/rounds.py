"""Policies that are asked again and again while the application runs and coordinates move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise

import numpy as np
from numpy.typing import NDArray

from berth.core import space as core
from berth.evaluation import evaluate
from berth.experiments.experiment import Calibration
from berth.model import Network, Plan, Problem
from berth.policies import solve
from berth.space.vivaldi import VivaldiOptions

FloatArray = NDArray[np.float64]

DIMENSIONS = 2
SAMPLE_EVERY_S = 10.0
LEAST_JITTER_MS, MOST_JITTER_MS = 1.0, 3.0
SCATTER_MS = 1.0
"""How far nodes lie from the origin at the start: at one point they had no directions."""
SECOND_STEP_S = 100.0
"""When rates are known: S-ODP's second step, and when the others begin (section 7.2)."""
TURN_S = 40.0
CALIBRATIONS = (
    Calibration(
        "dimensions of the latency space", f"{DIMENSIONS} (with 3: 11 reassignments)", "16 reassignments"
    ),
    Calibration(
        "samples of Vivaldi",
        f"every {SAMPLE_EVERY_S:.0f} s each node measures one other, drawn; c_c and c_e 0.25",
    ),
    Calibration(
        "rounds of the decentralised schedulers",
        f"from {SECOND_STEP_S:.0f} s on one operator every {TURN_S:.0f} s, in turn, moves with both "
        "executors if it should be elsewhere (E0.10)",
        "a stable assignment in less than 300 s, after 5 reassignments",
    ),
    Calibration("first placement of all of them", "S-ODP's first step: all ties, drawn (E0.8)"),
)
Place = Callable[[Problem, Plan], Plan]
"""Gives another placement for a problem, given the one in force."""


class LiveCoordinates:
    """The latency space of a running network: it follows samples that scatter around the true delays."""

    def __init__(self, network: Network, random: np.random.Generator) -> None:
        """At time 0 nothing is known.

        Args:
            network: the delays between all nodes are the means of what is sampled.
            random: for the pairs' standard deviations, U[1, 3] ms, for who measures whom, and for samples.
        """
        count = len(network.nodes)
        self._random, self._network = random, network
        self._mean = np.asarray(network.table.delay_ms)
        drawn = np.triu(random.uniform(LEAST_JITTER_MS, MOST_JITTER_MS, (count, count)), 1)
        self._deviation = drawn + drawn.T
        self._positions = random.normal(0.0, SCATTER_MS, (count, DIMENSIONS))
        self._errors, self._heights = np.full(count, core.LARGEST_ERROR), np.zeros(count)
        self._time = 0.0

    def at(self, time_s: float) -> Network:
        """The network with the coordinates of a time, which must not be before the one given last."""
        while self._time + SAMPLE_EVERY_S <= time_s:
            self._time += SAMPLE_EVERY_S
            self._sample()
        places = self._positions.tolist()
        nodes = tuple(
            replace(node, coordinates=tuple(place))
            for node, place in zip(self._network.nodes, places, strict=True)
        )
        return replace(self._network, nodes=nodes)

    def _sample(self) -> None:
        """Every node measures one other and moves."""
        count, options = len(self._mean), VivaldiOptions()
        rows = np.arange(count)
        others = (rows + self._random.integers(1, count, count)) % count
        noise = self._deviation[rows, others] * self._random.standard_normal(count)
        delays = np.maximum(self._mean[rows, others] + noise, 0.0)
        core.Neighbourhoods(rows, np.arange(count + 1), others, delays).spring(
            self._random.permutation(count),
            self._positions,
            self._heights,
            self._errors,
            with_height=options.height,
            c_c=options.c_c,
            c_e=options.c_e,
            generator=self._random,
        )


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
        wanted = place(replace(problem, network=coordinates.at(time)), current)
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


def changes(steps: Iterable[Step]) -> list[Step]:
    """The steps that moved something, after the first one."""
    return [
        here for before, here in pairwise(steps) if dict(here.plan.assignment) != dict(before.plan.assignment)
    ]
