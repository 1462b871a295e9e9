"""The policies of two stages: each has a first stage, any second one, and something that it minimises."""

from __future__ import annotations

from typing import ClassVar

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.both_stages import two_stages
from berth.policies.two_stage.heuristics import FfdParameters, THeronParameters
from berth.policies.two_stage.mips import MipsParameters
from berth.policies.two_stage.stage_inputs import most_of
from berth.policies.two_stage.stages import TwoStageParameters

HOLDS = "containers, capacities, processors, candidates, hosts and all rules but 'together'"
SUM = (
    "alpha x container_traffic + (1 - alpha) x containers_used, as shares of their most; "
    "then communication_cost"
)


class _Heuristic:
    """A first stage of the policy's own name; it minimises one metric."""

    about: ClassVar[About]
    parameters: ClassVar[type] = TwoStageParameters
    metric: ClassVar[str] = "container_traffic"

    def solve(self, task: Task) -> Answer:
        """Pack by the first stage, place by the second."""
        return two_stages(task, self.about.name, self.about.name, Goal({self.metric: 1.0}))


class Ffd(_Heuristic):
    """Few containers, whatever flows between them."""

    about = About("ffd", "001, section V-A: FFD of Heron, with Nomad's best fit", "containers_used", HOLDS)
    parameters = FfdParameters
    metric = "containers_used"


class RHeron(_Heuristic):
    """Neighbours in the graph into containers that they fill well."""

    about = About(
        name="r-heron",
        paper="001, section V-A: R-Storm's distance in Heron, with Nomad's best fit",
        optimises="container_traffic, and how well instances fill containers",
        holds=HOLDS,
    )


class THeron(_Heuristic):
    """Who exchanges much shares a container."""

    about = About(
        name="t-heron",
        paper="001, section V-A: T-Storm's best fit in Heron, with Nomad's best fit",
        optimises="container_traffic",
        holds=HOLDS,
    )
    parameters = THeronParameters


class Mips:
    """Little traffic between containers and servers, in few containers."""

    about = About("mips", "001 (MIPS), algorithms 1 and 2, with their errata repaired", SUM, HOLDS)
    parameters = MipsParameters

    def solve(self, task: Task) -> Answer:
        """Search twice for every application."""
        goal = task.parameters.goal(most_of(task.setting))
        return two_stages(task, self.about.name, "mips", goal)
