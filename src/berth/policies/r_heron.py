"""R-Heron, R-Storm's scheduler for Heron (paper 001's baseline R/B), and a second stage."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.parameters import TwoStageParameters
from berth.policies.two_stage.run import two_stages


class RHeron:
    """Neighbours in the graph into containers that they fill well."""

    about = About(
        name="r-heron",
        paper="001, section V-A: R-Storm's distance in Heron, with Nomad's best fit",
        optimises="container_traffic, and how well instances fill containers",
        holds="containers, capacities, candidates, hosts and 'where' rules",
    )
    parameters = TwoStageParameters

    def solve(self, task: Task) -> Answer:
        """Pack by distance."""
        return two_stages(task, self.about.name, "r-heron", Goal({"container_traffic": 1.0}))
