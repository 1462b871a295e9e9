"""T-Heron, T-Storm's scheduler for Heron (paper 001's baseline T/B), and a second stage."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.run import two_stages
from berth.policies.two_stage.t_heron import THeronParameters


class THeron:
    """Who exchanges much shares a container."""

    about = About(
        name="t-heron",
        paper="001, section V-A: T-Storm's best fit in Heron, with Nomad's best fit",
        optimises="container_traffic",
        holds="containers, capacities, candidates, hosts and 'where' rules",
    )
    parameters = THeronParameters

    def solve(self, task: Task) -> Answer:
        """Pack by traffic."""
        return two_stages(task, self.about.name, "t-heron", Goal({"container_traffic": 1.0}))
