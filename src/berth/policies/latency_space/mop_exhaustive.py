"""MOPopt (paper 003, section VIII): the least network usage over measured delays, with a proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from berth.evaluation.goal import Goal
from berth.exact.placement import unmodelled
from berth.model.parameters import Parameters, at_least, parameter
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space.hosts import limits_of_units
from berth.policies.latency_space.least_usage import LeastUsage, TooLargeError, least_usage
from berth.policies.latency_space.units import unit_graph
from berth.policies.odp import infeasible
from berth.policies.policy import About, Answer, Task

GOAL = Goal({"network_usage": 1.0})


@dataclass(frozen=True)
class ExhaustiveParameters(Parameters):
    """What users may set."""

    max_steps: int = parameter(20_000_000, "give the search up after so many partial plans", at_least(1))


class MopExhaustive:
    """What the heuristics in the latency space are compared with."""

    about = About(
        name="mop-exhaustive",
        paper="003: MOPopt, the optimum that MOPA is compared with",
        optimises="network usage (rate x delay) over measured delays, exactly",
        holds="capacities, processors, candidates, hosts, all rules and links",
    )
    parameters = ExhaustiveParameters

    def solve(self, task: Task) -> Answer:
        """Sum up least costs over trees; search where capacities or circles don't allow that."""
        parameters: ExhaustiveParameters = task.parameters
        problem = task.problem
        graph = unit_graph(problem)
        doubt = unmodelled(problem)
        for unit, nodes in enumerate(graph.allowed):
            if nodes is not None and len(nodes) == 0:
                reason = f"no node may host {graph.names[unit]}"
                return Answer("infeasible" if doubt is None else "unknown", goal=GOAL, reason=reason)
        try:
            usage = LeastUsage(problem.network, graph)
            limits = limits_of_units(task.setting, graph)
            least = least_usage(usage, limits, parameters.max_steps, task.budget)
        except TooLargeError as error:
            return Answer("unknown", goal=GOAL, reason=str(error))
        trace: dict[str, Any] = {"method": "search" if least.steps else "trees", "steps": least.steps}
        if doubt is not None:
            trace["no_proof"] = doubt
        given_up = f"given up after {parameters.max_steps} steps; max_steps allows more"
        if task.budget.over:
            given_up = task.budget.reason
        if least.nodes is None:
            if least.proved and doubt is None:
                found = infeasible(task, GOAL)
                return replace(found, trace=trace | dict(found.trace))
            reason = "no plan holds the capacities and links" if least.proved else given_up
            return Answer("unknown", goal=GOAL, reason=reason, trace=trace)
        placed = least.nodes[graph.unit_of]
        ended = None if least.proved else given_up
        return Answer(
            status="optimal" if least.proved and doubt is None else "feasible",
            nodes=placed,
            goal=GOAL,
            bound=least.bound if doubt is None else None,
            reason=ended if doubt is None else f"not proved: {doubt}",
            trace=trace,
            downloads=choose_downloads(task.setting, placed),
        )
