"""SBON's relaxation (Pietzuch et al., as papers 000 and 003 describe it): springs in the latency space."""

from __future__ import annotations

from berth.evaluation.goal import Goal
from berth.policies.latency_space import SbonParameters, sbon_mapping
from berth.policies.latency_space.answer import answer_by
from berth.policies.policy import About, Answer, Task

GOAL = Goal({"elastic_energy": 1.0})


class Sbon:
    """Streams are springs; operators go where the forces cancel out, and then to the nearest nodes."""

    about = About(
        name="sbon",
        paper="Pietzuch et al., Network-Aware Operator Placement (ICDE 2006), as in 000 and 003",
        optimises="elastic energy (rate x delay^2), in coordinates",
        holds="capacities, processors, candidates, hosts, 'where' and 'together' rules; links where it can",
    )
    parameters = SbonParameters

    def solve(self, task: Task) -> Answer:
        """Relax the springs, map to nodes."""
        return answer_by(sbon_mapping, GOAL, task)
