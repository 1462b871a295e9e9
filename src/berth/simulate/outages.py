"""When nodes are down: as told, or as their availability says."""

from __future__ import annotations

import numpy as np

from berth.model import Problem
from berth.simulate.events import Events
from berth.simulate.options import Options
from berth.simulate.simulation import Outage


def outages(
    problem: Problem, options: Options, events: Events, random: np.random.Generator
) -> tuple[Outage, ...]:
    """All outages that begin before the end, by time."""
    found = [Outage(item.node, item.at_s, item.until_s) for item in events.failures]
    if options.mean_repair_s is not None:
        for node in problem.network.nodes:
            if node.hosts and node.availability < 1:
                found += _drawn(node.name, node.availability, options, options.mean_repair_s, random)
    begun = [outage for outage in found if outage.begin_s < options.duration_s]
    return tuple(sorted(begun, key=lambda outage: outage.begin_s))


def _drawn(
    node: str, availability: float, options: Options, repair: float, random: np.random.Generator
) -> list[Outage]:
    """Times up and down in turn, both exponential; a node without any availability never comes up."""
    if availability == 0:
        return [Outage(node, 0.0, None)]
    found: list[Outage] = []
    time = 0.0
    while True:
        time += random.exponential(repair * availability / (1.0 - availability))
        if time >= options.duration_s:
            return found
        back = time + random.exponential(repair)
        found.append(Outage(node, time, back))
        time = back
