"""BW-SUM of paper 004: the least that crosses links in all, exactly."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.exact_sharing import HOLDS, PAPER, SharingParameters, solve_for_metric
from berth.policies.policy import About, Answer, Task


class BwSum:
    """The least sum of streams and downloads, each flow counted once."""

    about = About(name="bw-sum", paper=PAPER, optimises="bandwidth_sum, exactly", holds=HOLDS)
    parameters = SharingParameters

    def solve(self, task: Task) -> Answer:
        """Minimise the bytes per second between nodes."""
        return solve_for_metric(task, Goal({"bandwidth_sum": 1.0}), self.about.name)
