"""R-Heron (card 1.13, erratum E1.12): components breadth first, instances into the nearest container.

Near is a container that exchanges little with the others once the instance is in it, and whose free resources
are close to what the instance demands. The paper adds both in their own units; here traffic is a share of all
traffic and resources are shares of the container's capacity. The traversal starts at the sources.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from berth.budget import Budget
from berth.model.arrays import FloatArray
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.stages import Assigned, StageOne, Stuck, TwoStageParameters


def nearest(
    stage: StageOne, _generator: np.random.Generator, _parameters: TwoStageParameters, _budget: Budget
) -> Assigned | Stuck:
    """Component after component, each instance to where it is nearest."""
    filling = Filling(stage)
    demand = _shares(stage.demand[:, : len(stage.resources)], stage.capacity[0])
    # what each container exchanges with the others
    crossing = np.zeros(len(stage.room))
    scale = stage.total_traffic or 1.0
    largest = 1.0 + len(stage.resources)
    for instance in _breadth_first(stage):
        fits = filling.fits(instance)
        if not fits.any():
            return filling.stuck(instance)
        kept = filling.traffic_with(instance)
        added = kept.sum() - kept
        distance = np.linalg.norm(demand[instance] - filling.free_share, axis=1)
        container = filling.least(fits, (crossing + added) / scale + distance, largest)
        filling.put(instance, container)
        crossing += kept
        crossing[container] += added[container] - kept[container]
    return Assigned(filling.bins)


def _shares(demand: FloatArray, capacity: FloatArray) -> FloatArray:
    return np.divide(demand, capacity, out=np.zeros_like(demand), where=capacity > 0)


def _breadth_first(stage: StageOne) -> list[int]:
    """Instances by component: the sources first, then whom they send to, and so on."""
    count = int(stage.component.max(initial=-1)) + 1
    receivers: list[list[int]] = [[] for _ in range(count)]
    for sender, receiver in stage.streams.tolist():
        receivers[sender].append(receiver)
    receiving = set(stage.streams[:, 1].tolist())
    queue = deque(component for component in range(count) if component not in receiving)
    seen, place = set(queue), np.zeros(count, dtype=np.intp)
    for turn in range(count):
        component = queue.popleft()
        place[component] = turn
        following = [each for each in sorted(receivers[component]) if each not in seen]
        seen.update(following)
        queue.extend(following)
    order: list[int] = np.argsort(place[stage.component], kind="stable").tolist()
    return order
