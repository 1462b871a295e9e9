"""PROC-NB of paper 004: the fewest nodes, exactly."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.exact_sharing import HOLDS, PAPER, SharingParameters, solve_for_metric
from berth.policies.policy import About, Answer, Task


class ProcNb:
    """The fewest nodes that host anything."""

    about = About(name="proc-nb", paper=PAPER, optimises="nodes_used, exactly", holds=HOLDS)
    parameters = SharingParameters

    def solve(self, task: Task) -> Answer:
        """Minimise the number of nodes in use."""
        return solve_for_metric(task, Goal({"nodes_used": 1.0}), self.about.name)
