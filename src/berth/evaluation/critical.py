"""The critical path: what makes the response time as long as it is."""

from __future__ import annotations

import numpy as np

from berth.evaluation.situation import Situation


def critical_path(situation: Situation, application: int | None = None) -> list[int]:
    """The instances of the slowest source-to-sink path, from its start to its end.

    It is the path of the latest result over all applications, or of one application; of equally slow
    ones the first in the file's order. Empty where `response_time_ms` can't be computed.
    """
    finish = situation.finish_ms
    inside = situation.computed if application is None else situation.belongs_to(application)
    numbers = np.flatnonzero(inside)
    if finish is None or not len(numbers):
        return []
    pairs, node_of = situation.pairs, situation.node_of
    delay = situation.network.table.delay_ms[node_of[pairs.sender], node_of[pairs.receiver]]
    arrival = finish[pairs.sender] + delay
    path = [int(numbers[finish[numbers].argmax()])]
    while len(incoming := np.flatnonzero(pairs.receiver == path[0])):
        path.insert(0, int(pairs.sender[incoming[arrival[incoming].argmax()]]))
    return path
