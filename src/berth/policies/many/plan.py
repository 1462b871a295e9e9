"""From a state of the engine to a plan's parts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.feasibility import amount
from berth.model import Download, Plan, Problem
from berth.policies.many.case import Case
from berth.policies.many.cells import MISPLACED, RULES, UNFETCHED, UNLINKED
from berth.policies.many.engine import can_reuse, move, reuse
from berth.policies.many.state import REUSED, SKIPPED, State, new_state


class Parts(NamedTuple):
    """What a plan says about where, from whom and what not."""

    nodes: NDArray[np.intp]
    reuse: Mapping[str, str]
    skipped: tuple[str, ...]
    downloads: tuple[Download, ...]


def parts_of(problem: Problem, case: Case, state: State) -> Parts:
    """A state as the parts of a plan."""
    operators, nodes = problem.instances.operators, problem.network.nodes
    taken = {
        operators[taker].name: operators[state.provider[taker]].name
        for taker in np.flatnonzero(state.status == REUSED).tolist()
    }
    skipped = tuple(operators[number].name for number in np.flatnonzero(state.status == SKIPPED).tolist())
    fetched = np.flatnonzero((state.fetched >= 0.0) & (state.source >= 0)).tolist()
    downloads = tuple(
        Download(
            problem.objects[at // case.cells.nodes].name,
            nodes[state.source[at]].name,
            nodes[at % case.cells.nodes].name,
        )
        for at in fetched
    )
    return Parts(state.node.astype(np.intp), taken, skipped, downloads)


def state_of(problem: Problem, case: Case, plan: Plan) -> State:
    """A plan as a state: its assignment and reuse; downloads have sources of the engine's choice.

    Raises:
        ValueError: the plan reuses what is not equal or not computed.
    """
    graph, state = problem.instances, new_state(case)
    for name, node in plan.assignment.items():
        move(case, state, graph.index[name], problem.network.index[node])
    for taker, provider in plan.reuse.items():
        ends = graph.operator_index[taker], graph.operator_index[provider]
        if not can_reuse(case, state, *ends):
            raise ValueError(f"reuse {taker}: {provider} can't stand for it")
        reuse(case, state, *ends)
    return state


def shortage(problem: Problem, case: Case, load: int) -> str:
    """What a load above its limit is a want of, for people."""
    cells, network = case.cells, problem.network
    marks = {
        MISPLACED: "a node that may host it",
        RULES: "a node that the rules of its application allow",
        UNLINKED: "a link to a node that it exchanges results with",
        UNFETCHED: "a link to a holder of an object that it reads",
    }
    if cells.marks <= load < cells.capacity:
        return marks[load - cells.marks]
    there = f"({amount(case.limit[load])} there)"
    if load >= cells.link:
        sender, receiver = np.argwhere(case.nodes.link == load - cells.link)[0].tolist()
        arrow = "<->" if network.duplex == "half" else "->"
        ends = f"{network.nodes[sender].name} {arrow} {network.nodes[receiver].name}"
        return f"bandwidth on link {ends} {there}"
    if load >= cells.capacity:
        resource, node = divmod(load - cells.capacity, cells.nodes)
        return f"{problem.instances.resources[resource]} on {network.nodes[node].name} {there}"
    part, node = divmod(load, cells.nodes)
    what = ("processor", "network card", "port, sending", "port, receiving")[part]
    return f"{what}, on {network.nodes[node].name} {there}"
