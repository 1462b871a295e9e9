"""SBON's relaxation (Pietzuch et al., as papers 000 and 003 describe it): springs in the latency space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import IndexArray
from berth.policies.latency_space.placing import Placed, SpaceParameters, answer_by, place
from berth.policies.latency_space.virtual import Virtual, relaxed, stay_in_the_middle
from berth.policies.policy import About, Answer, Task
from berth.space.network_space import Space

GOAL = Goal({"elastic_energy": 1.0})


@dataclass(frozen=True)
class SbonParameters(SpaceParameters):
    """What users may set for sbon."""

    refine: bool = field(
        default=False, metadata={"help": "try near nodes by measured delays after the mapping"}
    )
    pace: float = field(
        default=0.1, metadata={"help": "step of an operator: this x its force / the highest sum of rates"}
    )
    force_threshold_ms: float = field(
        default=0.5, metadata={"help": "at rest when no force / the highest sum of rates is above this"}
    )
    max_rounds: int = field(default=5000, metadata={"help": "give up after so many rounds"})
    mapping: Literal["nearest", "least-loaded"] = field(
        default="nearest",
        metadata={"help": "the nearest node with room, or of the nearest ones that which hosts least"},
    )
    mapping_nodes: int = field(default=3, metadata={"help": "how many nearest ones, for least-loaded"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.pace < 1:
            raise ValueError(f"pace: {self.pace} is not above 0 and below 1, where springs come to rest")
        if not self.force_threshold_ms > 0:
            raise ValueError(f"force_threshold_ms: {self.force_threshold_ms} is not above 0")
        for name in ("max_rounds", "mapping_nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is below 1")


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


def sbon_mapping(setting: Setting, space: Space, parameters: SbonParameters, seed: int = 0) -> Placed:
    """Place everything by springs.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the springs did not come to rest.
        BadInput: a stream's rate is not known.
    """

    def springs(virtual: Virtual, changed: IndexArray) -> None:
        if len(changed):
            relaxed(
                virtual,
                parameters.pace,
                parameters.force_threshold_ms,
                parameters.max_rounds,
                parameters.migration == "eager",
            )

    nodes = parameters.mapping_nodes if parameters.mapping == "least-loaded" else 1
    return place(setting, space, parameters, springs, stay_in_the_middle, parameters.refine, True, nodes)
