"""MIPS (paper 001): instances into containers and containers onto servers by Monte Carlo tree search."""

from __future__ import annotations

from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.build import most_of
from berth.policies.two_stage.mips import MipsParameters
from berth.policies.two_stage.run import two_stages


class Mips:
    """Little traffic between containers and servers, in few containers."""

    about = About(
        name="mips",
        paper="001 (MIPS), algorithms 1 and 2, with their errata repaired",
        optimises="alpha x container_traffic + (1 - alpha) x containers_used, as shares of their most; "
        "then communication_cost",
        holds="containers, capacities, candidates, hosts and 'where' rules",
    )
    parameters = MipsParameters

    def solve(self, task: Task) -> Answer:
        """Search twice for every application."""
        goal = task.parameters.goal(most_of(task.setting))
        return two_stages(task, self.about.name, "mips", goal)
