"""What can't keep up: queues that grow without end."""

from __future__ import annotations

import numpy as np

from berth.evaluation import Situation
from berth.simulate.flow import TupleFlow
from berth.simulate.options import Processors

FULL = 1.0 - 1e-9


def unstable(situation: Situation, flow: TupleFlow, processors: Processors) -> tuple[str, ...]:
    """A line for every server and link that has more to do than it can, by the problem's own rates."""
    graph, network = situation.graph, situation.network
    running = situation.running
    speed = network.speed[situation.node_of[running]]
    load = flow.arriving[running] * flow.unit[running] * graph.work_ms[running] / 1000.0 / speed
    end = "its queue grows as long as it runs"
    if processors == "own":
        lines = [
            f"instance {graph.names[running[at]]}: utilisation {load[at]:.4g} (1 or more): {end}"
            for at in np.flatnonzero(load >= FULL).tolist()
        ]
    else:
        loads = np.bincount(situation.node_of[running], load, len(network.nodes))
        lines = [
            f"node {network.nodes[at].name}: utilisation {loads[at]:.4g} (1 or more): {end}"
            for at in np.flatnonzero(loads >= FULL).tolist()
        ]
    for here, there, share in _link_shares(situation):
        if share >= FULL:
            ends = f"{network.nodes[here].name} -> {network.nodes[there].name}"
            lines.append(f"link {ends}: utilisation {share:.4g} (1 or more): {end}")
    return tuple(lines)


def _link_shares(situation: Situation) -> list[tuple[int, int, float]]:
    """The ends of every physical link in use, and the share of its bandwidth that all streams take."""
    pairs, table = situation.pairs, situation.network.table
    ends = situation.node_of[pairs.sender], situation.node_of[pairs.receiver]
    flows, crossed = table.physical_hops(*ends)
    links, group = np.unique(crossed, return_inverse=True)
    carried = np.bincount(group, pairs.rate[flows], len(links))
    here, there = np.divmod(links, len(situation.network.nodes))
    bandwidth = np.asarray(table.physical_bandwidth[here, there])
    shares = np.divide(carried, bandwidth, out=np.where(carried > 0, np.inf, 0.0), where=bandwidth > 0)
    return list(zip(here.tolist(), there.tolist(), shares.tolist(), strict=True))
