"""MIPS (paper 001): instances into containers and containers onto servers by Monte Carlo tree search."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.policy import About, Answer, Task
from berth.policies.two_stage.mips import MipsParameters
from berth.policies.two_stage.run import two_stages


class Mips:
    """Little traffic between containers and servers, in few containers."""

    about = About(
        name="mips",
        paper="001 (MIPS), algorithms 1 and 2, with their errata repaired",
        optimises="alpha x container_traffic + (1 - alpha) x containers_used, then communication_cost",
        holds="containers, capacities, candidates, hosts and 'where' rules",
    )
    parameters = MipsParameters

    def solve(self, task: Task) -> Answer:
        """Search twice for every application."""
        alpha = task.parameters.alpha
        weights = {"container_traffic": alpha, "containers_used": 1.0 - alpha}
        goal = Goal({name: weight for name, weight in weights.items() if weight > 0}, scale="raw")
        return two_stages(task, self.about.name, "mips", goal)
