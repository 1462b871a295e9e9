"""From a state of the engine to the parts of a plan, and what it lacks in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.evaluation.limits import Processor, amount
from berth.model import Download, Problem
from berth.policies.sharing.case import Case


class Parts(NamedTuple):
    """What a plan says about where, from whom and what not."""

    nodes: NDArray[np.intp]
    reuse: Mapping[str, str]
    skipped: tuple[str, ...]
    downloads: tuple[Download, ...]


def plan_parts(problem: Problem, state: core.State) -> Parts:
    """A state as the parts of a plan."""
    operators, nodes = problem.instances.operators, problem.network.nodes
    statuses, provider = state.statuses, state.provider
    return Parts(
        state.node_of.astype(np.intp),
        {
            operators[taker].name: operators[provider[taker]].name
            for taker in np.flatnonzero(statuses == core.Status.REUSED.value).tolist()
        },
        tuple(operators[one].name for one in np.flatnonzero(statuses == core.Status.SKIPPED.value).tolist()),
        tuple(
            Download(problem.objects[item].name, nodes[source].name, nodes[target].name)
            for item, source, target in state.downloads
        ),
    )


def shortage(case: Case, load: int) -> str:
    """What a load above its limit is a want of, for people."""
    loads, limits, network = case.core.loads, case.core.limit, case.problem.network
    rules = "a node that the rules of its application allow"
    mistakes = {
        loads.misplaced: "a node that may host it",
        loads.separated: rules,
        loads.unlinked: "a link to a node that it exchanges results with",
        loads.overworked: "a node with a core that keeps up with it",
        loads.unfetched: "a link to a holder of an object that it reads",
    }
    if load in mistakes:
        return mistakes[load]
    if load >= loads.link:
        sender, receiver = (network.nodes[end].name for end in np.argwhere(case.link == load - loads.link)[0])
        arrow = "<->" if network.duplex == "half" else "->"
        return f"bandwidth on link {sender} {arrow} {receiver} ({amount(limits[load])} there)"
    if load >= loads.card:
        part, place = divmod(load - loads.card, len(network.nodes))
        what, there = ("network card,", "port, sending,", "port, receiving,")[part], limits[load]
    else:
        number = bisect_right(case.core.first_loads, load) - 1
        limit, place = case.place_limits[number], load - case.core.first_loads[number]
        if not limit.of_nodes:
            return rules
        what, there = f"{limit.label}," if isinstance(limit, Processor) else limit.label, limit.room[place]
    return f"{what} on {network.nodes[place].name} ({amount(there)} there)"
