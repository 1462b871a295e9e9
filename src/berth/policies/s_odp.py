"""S-ODP (paper 000, section 6): ODP as Storm's scheduler, over executors and worker slots.

The scheduler knows executors only as black boxes: each needs one place and takes one unit of time
(C_i = R_i = 1), and a node has as many places as its worker slots have executors. While rates are not
known, a first run places for availability; once they are measured, the second run places for the
problem's objective, and the trace tells which executors move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model import Application, Network, Problem
from berth.model.parameters import at_least, parameter
from berth.policies.odp import OdpParameters, infeasible, solve_for
from berth.policies.policy import About, Answer, Task, problem_goal

PLACES = "executors"


@dataclass(frozen=True)
class SchedulerParameters(OdpParameters):
    """What users may set, beside odp's own."""

    worker_slots: int = parameter(2, "worker slots of each node, WS(u)", at_least(1))
    executors_per_slot: int = parameter(4, "executors that a slot holds, EPS_max", at_least(1))
    first_run: bool = parameter(False, "rates are not known yet: place for availability, ties at random")


class SchedulerOdp:
    """ODP over executors and slots, in two steps."""

    about = About(
        name="s-odp",
        paper="000, section 6: the ODP scheduler for Storm",
        optimises="availability in the first run, then the problem's objective; demands and work count as 1",
        holds="slots, candidates, hosts, rules, links, bandwidth, cards and requirements; not capacities",
    )
    parameters = SchedulerParameters

    def solve(self, task: Task) -> Answer:
        """Place executors; say in which slots they go and which of them move."""
        parameters: SchedulerParameters = task.parameters
        problem = as_executors(task.problem, parameters)
        setting = Setting(problem, task.setting.previous)
        ties: Literal["better", "any", "first", "random"] = (
            "random" if parameters.first_run else parameters.ties
        )
        inner = replace(task, setting=setting, parameters=replace(parameters, ties=ties))
        goal = Goal({"availability": 1.0}) if parameters.first_run else problem_goal(inner)
        answer = infeasible(inner) if goal is None else solve_for(inner, goal)
        if answer.nodes is None:
            # Proved for black boxes and slots only: the problem itself may well have a plan.
            return replace(answer, status="unknown")
        trace = {
            **answer.trace,
            "step": "first" if parameters.first_run else "second",
            "slots": slots_of(problem, answer.nodes, parameters.executors_per_slot),
        }
        if setting.previous is not None:
            moved = np.flatnonzero(setting.moved(np.arange(len(answer.nodes)), answer.nodes)).tolist()
            trace |= {"moves": [problem.instances.names[k] for k in moved], "reassignments": int(bool(moved))}
        # The judge sees the true demands and times: what was optimal for black boxes need not be for them.
        return replace(answer, status="feasible", bound=None, trace=trace)


def as_executors(problem: Problem, parameters: SchedulerParameters) -> Problem:
    """The problem as the scheduler sees it: executors of size and time 1, nodes with slots for them."""
    places = float(parameters.worker_slots * parameters.executors_per_slot)
    nodes = tuple(replace(node, capacity={PLACES: places}) for node in problem.network.nodes)
    network: Network = replace(problem.network, nodes=nodes, headroom=0.0)
    applications = tuple(_black_boxes(application) for application in problem.applications)
    return replace(problem, network=network, applications=applications)


def _black_boxes(application: Application) -> Application:
    operators = tuple(
        replace(operator, demand={PLACES: 1.0}, work_ms=1.0) for operator in application.operators
    )
    # Executors go into slots: there are no containers for them.
    return replace(application, operators=operators, containers=None)


def slots_of(problem: Problem, nodes: NDArray[np.intp], executors_per_slot: int) -> dict[str, str]:
    """Executors into the slots of their node, filled one after another."""
    filled: dict[int, int] = {}
    slots = {}
    for name, node in zip(problem.instances.names, nodes.tolist(), strict=True):
        count = filled.get(node, 0)
        filled[node] = count + 1
        slots[name] = f"{problem.network.nodes[node].name}/{count // executors_per_slot}"
    return slots
