"""First fit decreasing, Heron's own packing (paper 001's baseline F/B), and a second stage."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.ffd import FfdParameters
from berth.policies.two_stage.run import two_stages


class Ffd:
    """Few containers, whatever flows between them."""

    about = About(
        name="ffd",
        paper="001, section V-A: FFD of Heron, with Nomad's best fit",
        optimises="containers_used",
        holds="containers, capacities, candidates, hosts and 'where' rules",
    )
    parameters = FfdParameters

    def solve(self, task: Task) -> Answer:
        """Pack by size."""
        return two_stages(task, self.about.name, "ffd", Goal({"containers_used": 1.0}))
