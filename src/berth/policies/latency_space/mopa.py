"""MOPA (paper 003): least network usage in the latency space, then the nearest nodes with room."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import IndexArray
from berth.policies.latency_space.placing import Placed, SpaceParameters, answer_by, place
from berth.policies.latency_space.virtual import Virtual, settle, start_from_springs
from berth.policies.policy import About, Answer, Task
from berth.space.network_space import Space

GOAL = Goal({"network_usage": 1.0})


@dataclass(frozen=True)
class MopaParameters(SpaceParameters):
    """What users may set for mopa."""

    refine: bool = field(
        default=True, metadata={"help": "try near nodes by measured delays after the mapping"}
    )
    mode: Literal["fixed", "paper"] = field(
        default="fixed",
        metadata={"help": "paper: the printed search for a place, which may not end; fixed: one that does"},
    )
    tolerance_ms: float = field(default=0.5, metadata={"help": "shorter ways in the space are not gone"})
    max_events: int | None = field(
        default=None,
        metadata={"help": "give up after so many events; none: 2000, or 50 for each operator if more"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tolerance_ms > 0:
            raise ValueError(f"tolerance_ms: {self.tolerance_ms} is not above 0")
        if self.max_events is not None and self.max_events < 1:
            raise ValueError(f"max_events: {self.max_events} is below 1")


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


def mopa_mapping(setting: Setting, space: Space, parameters: MopaParameters, seed: int = 0) -> Placed:
    """Place everything by MOPA.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the events or, in the printed form, the search for a place did not end.
        BadInput: a stream's rate is not known.
    """

    def events(virtual: Virtual, changed: IndexArray) -> None:
        settle(
            virtual,
            changed,
            parameters.tolerance_ms,
            parameters.max_events,
            parameters.mode == "paper",
            parameters.migration == "eager",
            setting.graph.names,
        )

    return place(setting, space, parameters, events, start_from_springs, parameters.refine)
