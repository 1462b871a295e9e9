"""The paper's cluster and application, drawn: eight nodes, Tag-and-Count with twelve executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from berth.experiments.experiment import Calibration, Run, Setting, named_generator
from berth.generators import generate
from berth.model import Problem

KIND = "tag-and-count"
TUPLE_BYTES = 100.0
FASTER = 1.1
"""Speed of the nodes that are up 99 % of the time, in the searched draws."""
MOST_TRIES = 10_000

CALIBRATIONS = (
    Calibration("delays", "one mean for each pair of nodes, U[12, 32] ms, both ways equal", "nothing (E0.7)"),
    Calibration("size of a tuple", f"{TUPLE_BYTES:.0f} bytes"),
    Calibration("work of an executor on a tuple", "1 ms, as S-ODP's unit"),
)


def instance_runs(setting: Setting, quick: int, full: int) -> Iterator[Run]:
    """A run for each of so many draws."""
    for number in range(quick if setting.quick else full):
        yield Run(f"draw-{number:03d}", {"instance": number})


def seed_of(setting: Setting, instance: int) -> int:
    """For all other chance of a draw: ties, tuples, observed rates."""
    return int(named_generator(setting.seed, f"seed of {instance}").integers(2**32))


def always_up(setting: Setting, instance: int) -> Problem:
    """A draw of section 7.2: every node is up all the time."""
    seed = int(named_generator(setting.seed, f"always up {instance}").integers(2**32))
    return generate(KIND, seed=seed, unreliable=0.0, tuple_bytes=TUPLE_BYTES)


def short_cut(setting: Setting, instance: int) -> tuple[Problem, int]:
    """A draw of section 7.1 in which a node of 99 % is a short-cut, and how many were drawn for it (E0.7).

    Those nodes are a tenth faster, too: otherwise plans with two to eight executors there are all the same.
    """
    random = named_generator(setting.seed, f"short-cut {instance}")
    for tries in range(1, MOST_TRIES + 1):
        problem = generate(KIND, seed=int(random.integers(2**32)), tuple_bytes=TUPLE_BYTES)
        if _leads_through_unreliable(problem):
            return with_speed(problem, FASTER), tries
    raise RuntimeError(f"short-cut {instance}: none in {MOST_TRIES:,} draws")


def with_speed(problem: Problem, speed: float) -> Problem:
    """The problem with another speed of all nodes that are down at times."""
    nodes = tuple(
        replace(node, speed=speed if node.availability < 1 else 1.0) for node in problem.network.nodes
    )
    return replace(problem, network=replace(problem.network, nodes=nodes))


def _leads_through_unreliable(problem: Problem) -> bool:
    """Whether the way from source to consumer over one node of 99 % is shorter than all others."""
    network = problem.network
    delay, up = np.asarray(network.table.delay_ms), network.availability == 1.0
    first, *_, last = problem.applications[0].operators
    assert first.candidates is not None
    assert last.candidates is not None
    source, consumer = network.index[first.candidates[0]], network.index[last.candidates[0]]
    over = delay[source] + delay[:, consumer]
    # over the source or the consumer itself is the direct link
    return bool(over[~up].min() < over[up].min())
