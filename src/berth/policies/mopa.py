"""MOPA (paper 003): least network usage in the latency space, then the nearest nodes with room."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.latency_space import MopaParameters, mopa_mapping
from berth.policies.latency_space.answer import answer_by
from berth.policies.policy import About, Answer, Task

GOAL = Goal({"network_usage": 1.0})


class Mopa:
    """Operators move to their Weber points, event by event, and then to nodes near them."""

    about = About(
        name="mopa",
        paper="003: Rizou et al., Solving the Multi-operator Placement Problem (ICCCN 2010)",
        optimises="network usage (rate x delay), in coordinates and then by measured delays of near nodes",
        holds="capacities, processors, candidates, hosts, 'where' and 'together' rules; links where it can",
    )
    parameters = MopaParameters

    def solve(self, task: Task) -> Answer:
        """Place in the space, map to nodes, refine."""
        return answer_by(mopa_mapping, GOAL, task)
