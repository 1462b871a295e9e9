"""Placement under a latency bound (paper 002): from MOPA's mapping, as few detours as the bound asks for."""

from __future__ import annotations

from berth.policies.bounded.bounds import bounds_of
from berth.policies.bounded.deployment import deploy
from berth.policies.bounded.parameters import LatencyBoundParameters
from berth.policies.bounded.report import GOAL, answer
from berth.policies.latency_space import NoEndError, NoHostError
from berth.policies.policy import About, Answer, Task


class LatencyBound:
    """The least network usage first, then moves off the longest path until the bound holds."""

    about = About(
        name="latency-bound",
        paper="002: Rizou et al., Fulfilling End-to-End Latency Constraints (2011)",
        optimises="network usage under a bound on loaded_response_time",
        holds="candidates, hosts, 'where' and 'together' rules, capacities, processors; a bound or says so",
    )
    parameters = LatencyBoundParameters

    def solve(self, task: Task) -> Answer:
        """Start from a mapping, place application after application, move what is too slow."""
        bounds = bounds_of(task.problem, task.parameters.bound_ms)
        try:
            satisfaction, began = deploy(task, bounds, at_once=False)
        except NoHostError:
            # One after the other some find no room any more: all together might.
            try:
                satisfaction, began = deploy(task, bounds, at_once=True)
            except (NoHostError, NoEndError) as error:
                return Answer("unknown", goal=GOAL, reason=str(error))
        except NoEndError as error:
            return Answer("unknown", goal=GOAL, reason=str(error))
        return answer(task, satisfaction, began, bounds)
