"""The containers of an application on the nodes of a placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from berth.exact.cpsat.packing import PackingVariables, interchangeable_items
from berth.exact.cpsat.whole import whole_row
from berth.exact.packing import ApplicationPacking

if TYPE_CHECKING:
    from berth.exact.cpsat.model import CpSatModel


class HostedContainers(PackingVariables):
    """`on[c][node]` is true where container c is not empty and sits on the node."""

    packing: ApplicationPacking

    def __init__(self, model: CpSatModel, packing: ApplicationPacking) -> None:
        super().__init__(model, packing)
        self._blocks: list[int] = model.placement.block_of[packing.instances].tolist()
        self._at = [model.at[block] for block in self._blocks]
        nodes = sorted({node for places in self._at for node in places})
        self.on: list[dict[int, Any]] = [self._somewhere(used, nodes) for used in self.used]
        self._add_sharing()
        if not model.relaxable:
            self._add_room_on_nodes(nodes)

    def _somewhere(self, used: Any, nodes: list[int]) -> dict[int, Any]:
        cp = self._model.cp
        on = {node: cp.new_bool_var("") for node in nodes}
        cp.add(cp_model.LinearExpr.sum(list(on.values())) == used)
        return on

    def _add_sharing(self) -> None:
        """Where an instance is, there its container is, and so all else that is in it."""
        cp = self._model.cp
        for inside, places in zip(self.inside, self._at, strict=True):
            for number, variable in inside.items():
                on = self.on[number]
                for node, placed in places.items():
                    cp.add_bool_or([on[node], variable.negated(), placed.negated()])
                if len(places) < len(on):
                    cp.add_bool_or([variable.negated(), *(on[node] for node in places)])

    def _add_room_on_nodes(self, nodes: list[int]) -> None:
        """What an application has on a node fits into its containers there: implied, and a better bound."""
        for column, size in enumerate(self.packing.size.tolist()):
            demand = self.packing.demand[:, column]
            whole, bound = whole_row(demand, size)
            for node in nodes:
                here = [
                    (places[node], units)
                    for places, units in zip(self._at, whole, strict=True)
                    if node in places
                ]
                demanded = cp_model.LinearExpr.weighted_sum([v for v, _ in here], [c for _, c in here])
                containers = cp_model.LinearExpr.sum([on[node] for on in self.on])
                self._model.cp.add(demanded <= bound * containers)

    def taken(self, resource: str) -> Iterator[tuple[int, Any, float]]:
        """Nodes, variables and amounts of a resource that containers take."""
        if resource in self.packing.resources:
            size = float(self.packing.size[self.packing.resources.index(resource)])
            for on in self.on if size > 0 else ():
                for node, variable in on.items():
                    yield node, variable, size

    def order_blocks(self, groups: Sequence[Sequence[int]]) -> None:
        """Instances whose blocks can be swapped, and that are alike to the containers, too."""
        label = {block: number for number, blocks in enumerate(groups) for block in blocks}
        labels = [label.get(block, -1 - item) for item, block in enumerate(self._blocks)]
        self.order(interchangeable_items(self.packing, labels))
