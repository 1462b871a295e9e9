"""The least traffic between containers, exactly: over all contents of a container, by dynamic programming.

Works where there are as many containers as instances, and all instances may run on the same servers.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from berth.evaluation import Setting
from berth.model import Problem
from berth.policies.two_stage.stage_inputs import Cluster, requests
from berth.policies.two_stage.stages import FloatArray, IndexArray, StageOne


def least_traffic(problem: Problem) -> float:
    """Of a problem's first application."""
    setting = Setting(problem)
    stage = requests(setting)[0].first(Cluster(setting))
    members = np.bincount(stage.component)
    contents, kept = _contents(stage, members)
    # state: how many instances of each operator are packed, as a number in mixed bases
    base = np.concatenate([np.cumprod((members + 1)[::-1])[::-1][1:], [1]])
    states = np.array(list(product(*(range(count + 1) for count in members))))
    most = np.full(len(states), -np.inf)
    most[0] = 0.0
    # the first operator that is not all packed has an instance in the next container
    lead = np.argmax(contents > 0, axis=1)
    for number, state in enumerate(states[:-1]):
        if most[number] == -np.inf:
            continue
        open_ = int(np.argmax(state < members))
        fits = (lead == open_) & (contents <= members - state).all(axis=1)
        target = number + contents[fits] @ base
        np.maximum.at(most, target, most[number] + kept[fits])
    return stage.total_traffic - float(most[-1])


def _contents(stage: StageOne, members: IndexArray) -> tuple[IndexArray, FloatArray]:
    """What a container can hold, as instances of each operator, and the traffic that stays in it."""
    first = np.array([int(np.argmax(stage.component == operator)) for operator in range(len(members))])
    need, room = stage.demand[first], stage.room[0]
    found: list[list[int]] = [[]]
    for operator, count in enumerate(members.tolist()):
        found = [
            [*held, more]
            for held in found
            for more in range(count + 1)
            if ((np.array([*held, more]) @ need[: operator + 1]) <= room).all()
        ]
    contents = np.array([held for held in found if any(held)])
    kept = np.zeros(len(contents))
    size = len(stage.names)
    traffic = np.zeros((size, size))
    ends = np.repeat(np.arange(size), np.diff(stage.start))
    np.add.at(traffic, (ends, stage.neighbour), stage.rate)
    for one in range(len(members)):
        for other in range(one):
            kept += contents[:, one] * contents[:, other] * traffic[first[one], first[other]]
    return contents, kept
