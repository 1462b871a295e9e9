"""From a state of the engine to the parts of a plan, and what it lacks in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.evaluation.limits import amount
from berth.model import Download, Problem


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


def shortage(problem: Problem, case: core.Case, load: int) -> str:
    """What a load above its limit is a want of, for people."""
    loads, network = case.loads, problem.network
    mistakes = {
        loads.misplaced: "a node that may host it",
        loads.separated: "a node that the rules of its application allow",
        loads.unlinked: "a link to a node that it exchanges results with",
        loads.unfetched: "a link to a holder of an object that it reads",
    }
    if load in mistakes:
        return mistakes[load]
    there = f"({amount(case.limit[load])} there)"
    if load >= loads.link:
        sender, receiver = (network.nodes[end].name for end in case.network.link_ends(load - loads.link))
        arrow = "<->" if network.duplex == "half" else "->"
        return f"bandwidth on link {sender} {arrow} {receiver} {there}"
    if load >= loads.card:
        part, node = divmod(load - loads.card, len(network.nodes))
        what = ("network card", "port, sending", "port, receiving")[part]
        return f"{what}, on {network.nodes[node].name} {there}"
    number = max(k for k, limit in enumerate(case.place_limits) if limit.first_load <= load)
    if number > len(problem.instances.resources):
        return "a node that the rules of its application allow"
    node = load - case.place_limits[number].first_load
    what = "processor," if number == 0 else problem.instances.resources[number - 1]
    return f"{what} on {network.nodes[node].name} {there}"
