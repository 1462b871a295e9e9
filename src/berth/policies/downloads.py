"""From which holder each node fetches the objects that it reads (card 1.15's choice of a source)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting, Situation
from berth.evaluation.situation import assignment_of
from berth.model import Download, Plan


def choose_downloads(setting: Setting, nodes: NDArray[np.intp]) -> tuple[Download, ...]:
    """For every object and node, the linked holder with the most room on its card and link."""
    problem = setting.problem
    if not problem.objects:
        return ()
    network = problem.network
    situation = Situation(setting, Plan(assignment_of(problem, nodes)))
    card = network.nic_bytes_per_s.copy()
    link = network.table.bandwidth_bytes_per_s
    taken: dict[tuple[int, int], float] = {}
    chosen = []
    for (name, target), rate in situation.object_rates.items():
        holders = [k for k in network.holders.get(name, ()) if network.table.connected[k, target]]
        if not holders:
            continue
        room = {k: min(card[k], link[k, target] - taken.get((k, target), 0.0)) for k in holders}
        source = max(holders, key=room.__getitem__)
        card[[source, target]] -= rate
        taken[source, target] = taken.get((source, target), 0.0) + rate
        chosen.append(Download(name, network.nodes[source].name, network.nodes[target].name))
    return tuple(chosen)
