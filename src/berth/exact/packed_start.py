"""A first plan where instances go into containers: block by block, into what is open where it goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal
from berth.evaluation.limits import TOLERANCE
from berth.exact.packing import ApplicationPacking
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement
from berth.exact.start import Greedy

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

SLACK = 1.0 + TOLERANCE / 2.0
"""Half of the judge's tolerance: sums in another order are not quite the same, and must not be above it."""


def first_packed_plan(placement: Placement, goal: Goal, times: PathTimes | None = None) -> IndexArray | None:
    """The node of each block and the container of each instance, by one greedy pass; None if it is stuck."""
    greedy = _PackedGreedy(placement, goal, times)
    nodes = greedy.run()
    return None if nodes is None else np.concatenate([nodes, *(part.bins() for part in greedy.open.values())])


@dataclass(eq=False)
class _Open:
    """The containers of an application that are in use: where, and what is left of them."""

    packing: ApplicationPacking

    def __post_init__(self) -> None:
        self.node: list[int] = []
        self.left: list[FloatArray] = []
        self.container: dict[int, int] = {}

    def bins(self) -> IndexArray:
        """The container of every item, numbered by their first items."""
        found = [self.container[item] for item in range(len(self.packing.demand))]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(found))}
        return np.array([numbers[name] for name in found], dtype=np.intp)


class _PackedGreedy(Greedy):
    """Opens a container on a node only where none of those there has room."""

    def __init__(self, placement: Placement, goal: Goal, times: PathTimes | None) -> None:
        super().__init__(placement, goal, times)
        self.open = {packing.application: _Open(packing) for packing in placement.packings}
        self._free = {
            name: placement.setting.capacity(name) * SLACK
            for packing in placement.packings
            for name in packing.resources
        }
        self._of_block: dict[int, tuple[_Open, list[int]]] = {}
        for part in self.open.values():
            for item, block in enumerate(placement.block_of[part.packing.instances].tolist()):
                self._of_block.setdefault(block, (part, []))[1].append(item)

    def _fits(self, block: int, nodes: IndexArray) -> NDArray[np.bool_]:
        fits = super()._fits(block, nodes)
        if block not in self._of_block:
            for name, demand in self._placement.block_demand.items():
                if name in self._free:
                    fits &= demand[block] <= self._free[name][nodes]
            return fits
        for position in np.flatnonzero(fits).tolist():
            fits[position] = self._packed(block, int(nodes[position])) is not None
        return fits

    def _packed(self, block: int, node: int) -> list[tuple[int, int]] | None:
        """Containers for the block's items on a node, as (item, container); None where there is no room.

        Containers beyond those in use are new ones.
        """
        part, items = self._of_block[block]
        packing = part.packing
        here = [number for number, there in enumerate(part.node) if there == node]
        left = {number: part.left[number].copy() for number in here}
        free = {name: self._free[name][node] for name in packing.resources}
        chosen = []
        for item in items:
            demand = packing.demand[item]
            number = next((number for number in left if (demand <= left[number]).all()), None)
            if number is None:
                number = len(part.node) + len(left) - len(here)
                for name, size in zip(packing.resources, packing.size.tolist(), strict=True):
                    free[name] -= size
                full = min(free.values(), default=0.0) < 0 or bool((demand > packing.size * SLACK).any())
                if full or number >= packing.count:
                    return None
                left[number] = packing.size * SLACK
            left[number] = left[number] - demand
            chosen.append((item, number))
        return chosen

    def _put(self, block: int, node: int) -> None:
        super()._put(block, node)
        if block not in self._of_block:
            for name, demand in self._placement.block_demand.items():
                if name in self._free:
                    self._free[name][node] -= demand[block]
            return
        part = self._of_block[block][0]
        packing = part.packing
        for item, number in self._packed(block, node) or ():
            if number == len(part.node):
                part.node.append(node)
                part.left.append(packing.size * SLACK)
                for name, size in zip(packing.resources, packing.size.tolist(), strict=True):
                    self._free[name][node] -= size
            part.left[number] = part.left[number] - packing.demand[item]
            part.container[item] = number
