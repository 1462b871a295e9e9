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
    links, carried = situation.link_loads
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.nan_to_num(carried / situation.link_bandwidth, posinf=np.inf)
    for link, share in zip(links.tolist(), shares.tolist(), strict=True):
        if share >= FULL:
            ends = [network.nodes[number].name for number in divmod(link, len(network.nodes))]
            lines.append(f"link {ends[0]} -> {ends[1]}: utilisation {share:.4g} (1 or more): {end}")
    return tuple(lines)
