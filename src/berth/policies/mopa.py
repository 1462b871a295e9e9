"""MOPA (paper 003): least network usage in the latency space, then the nearest nodes with room."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space import MopaParameters, NoEndError, NoHostError, known_space, mopa_mapping
from berth.policies.policy import About, Answer, Task

GOAL = Goal({"network_usage": 1.0})


class Mopa:
    """Operators move to their Weber points, event by event, and then to nodes near them."""

    about = About(
        name="mopa",
        paper="003: Rizou et al., Solving the Multi-operator Placement Problem (ICCCN 2010)",
        optimises="network usage (rate x delay), in coordinates and then by measured delays of near nodes",
        holds="candidates, hosts, 'where' and 'together' rules, capacities, processors; links where it can",
    )
    parameters = MopaParameters

    def solve(self, task: Task) -> Answer:
        """Place in the space, map to nodes, refine."""
        space = known_space(task.problem.network, task.seed)
        try:
            placed = mopa_mapping(task.setting, space, task.parameters, task.seed)
        except (NoHostError, NoEndError) as error:
            return Answer("unknown", goal=GOAL, reason=str(error))
        downloads = choose_downloads(task.setting, placed.nodes)
        return Answer("feasible", placed.nodes, goal=GOAL, trace=placed.counters, downloads=downloads)
