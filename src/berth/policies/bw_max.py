"""BW-MAX of paper 004: the least share of any link in use, exactly."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.exact_sharing import HOLDS, PAPER, SharingParameters, solve_for_metric
from berth.policies.policy import About, Answer, Task


class BwMax:
    """The fullest link is as empty as can be."""

    about = About(name="bw-max", paper=PAPER, optimises="bandwidth_max, exactly", holds=HOLDS)
    parameters = SharingParameters

    def solve(self, task: Task) -> Answer:
        """Minimise the highest share of a link's bandwidth in use."""
        return solve_for_metric(task, Goal({"bandwidth_max": 1.0}), self.about.name)
