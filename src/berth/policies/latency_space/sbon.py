"""SBON's relaxation (Pietzuch et al., as papers 000 and 003 describe it): springs in the latency space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from berth.core import space as core
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import IndexArray
from berth.model.parameters import POSITIVE, Values, at_least, parameter
from berth.policies.latency_space.placing import Placed, SpaceParameters, answer_by, place
from berth.policies.latency_space.virtual import NoEndError, Virtual
from berth.policies.policy import About, Answer, Task
from berth.space.network_space import Space

GOAL = Goal({"elastic_energy": 1.0})

LOGGED_ROUNDS = 1000
"""Steps of so many rounds are kept, where every change of host is a migration."""


@dataclass(frozen=True)
class SbonParameters(SpaceParameters):
    """What users may set for sbon."""

    refine: bool = parameter(False, "try near nodes by measured delays after the mapping")
    pace: float = parameter(
        0.1,
        "step of an operator: this x its force / the highest sum of rates",
        Values(lambda pace: 0 < pace < 1, "is not above 0 and below 1, where springs come to rest"),
    )
    force_threshold_ms: float = parameter(
        0.5, "at rest when no force / the highest sum of rates is above this", POSITIVE
    )
    max_rounds: int = parameter(5000, "give up after so many rounds", at_least(1))
    mapping: Literal["nearest", "least-loaded"] = parameter(
        "nearest", "the nearest node with room, or of the nearest ones that which hosts least"
    )
    mapping_nodes: int = parameter(3, "how many nearest ones, for least-loaded", at_least(1))


class Sbon:
    """Streams are springs; operators go where the forces cancel out, and then to the nearest nodes."""

    about = About(
        name="sbon",
        paper="Pietzuch et al., Network-Aware Operator Placement (ICDE 2006), as in 000 and 003",
        optimises="elastic energy (rate x delay^2), in coordinates",
        holds="capacities, processors, candidates, hosts and all rules; links where it can",
    )
    parameters = SbonParameters

    def solve(self, task: Task) -> Answer:
        """Relax the springs, map to nodes."""
        return answer_by(sbon_mapping, GOAL, task)


def sbon_mapping(setting: Setting, space: Space, parameters: SbonParameters) -> Placed:
    """Place everything by springs.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the springs did not come to rest.
        BadInput: a stream's rate is not known.
    """
    nodes = parameters.mapping_nodes if parameters.mapping == "least-loaded" else 1
    return place(setting, space, parameters, relax, squared=True, least_loaded_of=nodes)


def relax(virtual: Virtual, changed: IndexArray, parameters: SbonParameters) -> None:
    """Let springs pull the free units until they are at rest, unless nothing has changed.

    Raises:
        NoEndError: too many rounds.
    """
    if len(changed) == 0:
        return
    messages, longest = 0, 0
    logs = [np.zeros((0, virtual.positions.shape[1] + 1))]
    logged = min(parameters.max_rounds, LOGGED_ROUNDS) if parameters.migration == "eager" else 0
    # Group by group: what one does depends on no rate of another.
    for group in np.unique(virtual.group[virtual.free]).tolist():
        moving = np.flatnonzero(virtual.group == group)
        rounds, sent, log = core.relax(
            virtual.graph.streams,
            virtual.weights,
            moving,
            virtual.positions,
            virtual.free,
            pace=parameters.pace,
            threshold=parameters.force_threshold_ms,
            most_rounds=parameters.max_rounds,
            log_rows=len(moving) * logged,
        )
        if rounds < 0:
            after = f"after {parameters.max_rounds} rounds; max_rounds allows more"
            raise NoEndError(f"the springs are not at rest {after}")
        messages, longest = messages + sent, max(longest, rounds)
        logs.append(log)
    virtual.log = np.concatenate(logs)
    virtual.counters = {"rounds": longest, "messages": messages}
