"""Small problems that the tests of exact solving share."""

from typing import Any

import numpy as np

import berth
from berth.model import Problem


def document(
    nodes: list[dict[str, Any]],
    delays: list[list[float | None]],
    operators: list[dict[str, Any]],
    streams: list[dict[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """A problem document with one application, 'a'."""
    application = {"name": "a", "operators": operators, "streams": streams, **more.pop("application", {})}
    network = {"nodes": nodes, "delay_ms": delays, **more.pop("network", {})}
    return {
        "format": "berth/v1",
        "name": "small",
        "network": network,
        "applications": [application],
        **more,
    }


def paper_instance(kind: str, operators: int, nodes: int, seed: int = 0, capacity: int = 4) -> Problem:
    """An instance of paper 000, section 7.3: sequential or fat, unit demands, delays max(N(22, 5), 1)."""
    return berth.generate(kind, seed=seed, operators=operators, nodes=nodes, capacity=capacity)


def best_fat_response_time(problem: Problem, capacity: int) -> float:
    """The optimum of a fat instance: for each pair of ends, fill the nodes in the order of the detour."""
    delay = problem.network.table.delay_ms
    middle = len(problem.instances) - 2
    best = np.inf
    for source in range(len(delay)):
        for sink in range(len(delay)):
            room = np.full(len(delay), capacity)
            room[source] -= 1
            room[sink] -= 1
            if room.min() >= 0:
                detours = np.sort(np.repeat(delay[source] + delay[:, sink], room))
                best = min(best, detours[middle - 1])
    return float(best + 3)
