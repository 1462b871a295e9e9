"""Why nothing can be packed, where a look is enough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from berth.evaluation.limits import amount, exceeds
from berth.exact.packing import ApplicationPacking
from berth.exact.placement import Placement


def unpackable(placement: Placement) -> Iterator[str]:
    """Instances that fit no container, too few containers, containers that fit no node."""
    for packing in placement.packings:
        for column, resource in enumerate(packing.resources):
            yield from _too_small(placement, packing, resource, column)
            yield from _no_room(placement, packing, resource, float(packing.size[column]))


def _too_small(
    placement: Placement, packing: ApplicationPacking, resource: str, column: int
) -> Iterator[str]:
    size, demand = float(packing.size[column]), packing.demand[:, column]
    largest = int(demand.argmax())
    total = packing.count * size
    if exceeds(float(demand[largest]), size):
        name = placement.graph.names[packing.instances[largest]]
        yield (
            f"instance {name} needs {resource} {amount(demand[largest])}; "
            f"a container of '{packing.application}' has {amount(size)}"
        )
    elif exceeds(float(demand.sum()), total):
        yield (
            f"application '{packing.application}': {resource} {amount(demand.sum())} needed, "
            f"{amount(total)} in its {packing.count} container(s)"
        )


def _no_room(placement: Placement, packing: ApplicationPacking, resource: str, size: float) -> Iterator[str]:
    blocks = dict.fromkeys(placement.block_of[packing.instances].tolist())
    there = placement.setting.capacity(resource)
    for block in blocks:
        nodes = placement.candidates[block]
        if len(nodes) and exceeds(size, float(there[nodes].max())):
            most = nodes[int(np.argmax(there[nodes]))]
            name = placement.graph.names[placement.blocks[block][0]]
            yield (
                f"a container of '{packing.application}' takes {resource} {amount(size)}; of the nodes where "
                f"{name} may run, {placement.network.nodes[most].name} has the most: {amount(there[most])}"
            )
