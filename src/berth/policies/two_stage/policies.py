"""The policies of two stages: each has a first stage, any second one, and something that it minimises."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.ffd import FfdParameters
from berth.policies.two_stage.mips import MipsParameters
from berth.policies.two_stage.requests import most_of
from berth.policies.two_stage.run import two_stages
from berth.policies.two_stage.stages import TwoStageParameters
from berth.policies.two_stage.t_heron import THeronParameters


class Ffd:
    """Few containers, whatever flows between them."""

    about = About(
        name="ffd",
        paper="001, section V-A: FFD of Heron, with Nomad's best fit",
        optimises="containers_used",
        holds="containers, capacities, processors, candidates, hosts and all rules but 'together'",
    )
    parameters = FfdParameters

    def solve(self, task: Task) -> Answer:
        """Pack by size."""
        return two_stages(task, self.about.name, "ffd", Goal({"containers_used": 1.0}))


class Mips:
    """Little traffic between containers and servers, in few containers."""

    about = About(
        name="mips",
        paper="001 (MIPS), algorithms 1 and 2, with their errata repaired",
        optimises="alpha x container_traffic + (1 - alpha) x containers_used, as shares of their most; "
        "then communication_cost",
        holds="containers, capacities, processors, candidates, hosts and all rules but 'together'",
    )
    parameters = MipsParameters

    def solve(self, task: Task) -> Answer:
        """Search twice for every application."""
        goal = task.parameters.goal(most_of(task.setting))
        return two_stages(task, self.about.name, "mips", goal)


class RHeron:
    """Neighbours in the graph into containers that they fill well."""

    about = About(
        name="r-heron",
        paper="001, section V-A: R-Storm's distance in Heron, with Nomad's best fit",
        optimises="container_traffic, and how well instances fill containers",
        holds="containers, capacities, processors, candidates, hosts and all rules but 'together'",
    )
    parameters = TwoStageParameters

    def solve(self, task: Task) -> Answer:
        """Pack by distance."""
        return two_stages(task, self.about.name, "r-heron", Goal({"container_traffic": 1.0}))


class THeron:
    """Who exchanges much shares a container."""

    about = About(
        name="t-heron",
        paper="001, section V-A: T-Storm's best fit in Heron, with Nomad's best fit",
        optimises="container_traffic",
        holds="containers, capacities, processors, candidates, hosts and all rules but 'together'",
    )
    parameters = THeronParameters

    def solve(self, task: Task) -> Answer:
        """Pack by traffic."""
        return two_stages(task, self.about.name, "t-heron", Goal({"container_traffic": 1.0}))
