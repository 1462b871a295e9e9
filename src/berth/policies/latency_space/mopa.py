"""MOPA (paper 003): least network usage in the latency space, then the nearest nodes with room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from berth.core import space as core
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import IndexArray
from berth.model.parameters import POSITIVE, at_least, parameter
from berth.policies.latency_space.placing import Placed, SpaceParameters, answer_by, place
from berth.policies.latency_space.virtual import NoEndError, Virtual
from berth.policies.policy import About, Answer, Task
from berth.space.network_space import Space

GOAL = Goal({"network_usage": 1.0})

START_TOLERANCE = 0.01
"""The springs' start is this exact, in ms: it is only a start."""
START_ROUNDS = 500
EVENTS, EVENTS_PER_UNIT = 2000, 50
"""Where nothing is said, so many events are allowed, or so many for each unit if that is more."""
LOGGED_MOVES = 1_000_000
"""As many moves are kept at most."""


@dataclass(frozen=True)
class MopaParameters(SpaceParameters):
    """What users may set for mopa."""

    refine: bool = parameter(True, "try near nodes by measured delays after the mapping")
    mode: Literal["fixed", "paper"] = parameter(
        "fixed", "paper: the printed search for a place, which may not end; fixed: one that does"
    )
    tolerance_ms: float = parameter(0.5, "shorter ways in the space are not gone", POSITIVE)
    max_events: int | None = parameter(
        None, "give up after so many events; none: 2000, or 50 for each operator if more", at_least(1)
    )


class Mopa:
    """Operators move to their Weber points, event by event, and then to nodes near them."""

    about = About(
        name="mopa",
        paper="003: Rizou et al., Solving the Multi-operator Placement Problem (ICCCN 2010)",
        optimises="network usage (rate x delay), in coordinates and then by measured delays of near nodes",
        holds="capacities, processors, candidates, hosts and all rules; links where it can",
    )
    parameters = MopaParameters

    def solve(self, task: Task) -> Answer:
        """Place in the space, map to nodes, refine."""
        return answer_by(mopa_mapping, GOAL, task)


def mopa_mapping(setting: Setting, space: Space, parameters: MopaParameters) -> Placed:
    """Place everything by MOPA.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the events or, in the printed form, the search for a place did not end.
        BadInput: a stream's rate is not known.
    """
    return place(setting, space, parameters, settle, start_from_springs)


def start_from_springs(virtual: Virtual, moving: IndexArray) -> None:
    """Bring units to where their springs are at rest: never all to one point (erratum E3.4)."""
    streams = virtual.graph.streams
    core.at_rest(streams, virtual.weights, moving, virtual.positions, START_TOLERANCE, START_ROUNDS)


def settle(virtual: Virtual, first: IndexArray, parameters: MopaParameters) -> None:
    """Run MOPA's events until nothing wants to move; the `first` units' surroundings have changed.

    Raises:
        NoEndError: too many events, or in the printed form a search without end.
    """
    graph, most_events = virtual.graph, parameters.max_events
    if most_events is None:
        most_events = max(EVENTS, EVENTS_PER_UNIT * int(virtual.free.sum()))
    counters, stuck, cluster, log = core.run_events(
        graph.streams,
        virtual.weights,
        virtual.free,
        virtual.positions,
        first,
        tolerance=parameters.tolerance_ms,
        most_events=most_events,
        printed=parameters.mode == "paper",
        log_rows=min(most_events * 4, LOGGED_MOVES) if parameters.migration == "eager" else 0,
    )
    clusters = np.bincount(cluster[virtual.free])
    virtual.log = log
    virtual.counters = {**counters, "clusters": int((clusters > 1).sum())}
    if stuck == core.TOO_MANY_EVENTS:
        raise NoEndError(f"no fixed point after {most_events} events; max_events allows more")
    if stuck >= 0:
        name = graph.names[stuck]
        raise NoEndError(f"{name}: the printed search for its place does not end; mode=fixed does")
