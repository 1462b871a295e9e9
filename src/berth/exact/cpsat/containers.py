"""Items in containers, and containers on nodes: variables, what a container holds, which items share one.

Containers are alike, so they are numbered by their first items: container 0 holds item 0, and an item may
open container c only behind one that opened c - 1. Of items that can be swapped the earlier one is in the
earlier container. Both keep the first of all equal maps in alphabetical order, so they go together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from berth.evaluation.limits import amount
from berth.exact.cpsat.limits import LimitedModel, whole_row
from berth.exact.packing import ApplicationPacking, Packing

if TYPE_CHECKING:
    from berth.exact.cpsat.model import CpSatModel


class PackingVariables:
    """`inside[i][c]` is true where item i is in container c, `used[c]` where anything is."""

    def __init__(self, model: LimitedModel, packing: Packing) -> None:
        self._model = model
        self.packing = packing
        # Relaxed, the number of containers is one limit among others.
        count = len(packing.demand) if model.relaxable else packing.useful
        self.inside = [model.choice(range(min(k + 1, count))) for k in range(len(packing.demand))]
        self.used: list[Any] = self._in_order(count)
        self._split: list[Any] | None = None
        if model.relaxable and count > packing.count:
            text = f"application {packing.application}: at most {packing.count} container(s)"
            model.add("containers", text, cp_model.LinearExpr.sum(self.used) <= packing.count)
        self._add_room()

    def _in_order(self, count: int) -> list[Any]:
        """Containers are opened one after another; what is returned is true where one was opened."""
        cp = self._model.cp
        reached: list[Any] = [self.inside[0][0]] if self.inside else []
        for inside in self.inside[1:]:
            for number, variable in inside.items():
                if number:
                    cp.add_implication(variable, reached[number - 1])
            now = []
            for number, variable in inside.items():
                if number == len(reached):
                    now.append(variable)
                elif number == 0:
                    now.append(reached[0])
                else:
                    literal = cp.new_bool_var("")
                    cp.add_implication(variable, literal)
                    cp.add_implication(reached[number], literal)
                    cp.add_bool_or([variable, reached[number], literal.negated()])
                    now.append(literal)
            reached = now
        return reached[:count]

    def _add_room(self) -> None:
        packing = self.packing
        for column, resource in enumerate(packing.resources):
            size = float(packing.size[column])
            text = f"application {packing.application}: a container holds at most {resource} {amount(size)}"
            for number, used in enumerate(self.used):
                terms = [
                    (inside[number], needed)
                    for inside, needed in zip(self.inside, packing.demand[:, column].tolist(), strict=True)
                    if needed > 0 and number in inside
                ]
                self._model.limit("containers", text, terms, size, used)

    @property
    def split(self) -> list[Any]:
        """For every pair that exchanges something: true exactly where it is in different containers."""
        if self._split is None:
            packing = self.packing
            ends = zip(packing.first.tolist(), packing.second.tolist(), strict=True)
            self._split = [self._apart(one, other) for one, other in ends]
            if not self._model.relaxable:
                self._add_room_around()
        return self._split

    def _apart(self, one: int, other: int) -> Any:
        cp, apart = self._model.cp, self._model.cp.new_bool_var("")
        here, there = self.inside[one], self.inside[other]
        for number, variable in there.items():
            if number not in here:
                cp.add_implication(variable, apart)
                continue
            cp.add_bool_or([apart, variable.negated(), here[number]])
            cp.add_bool_or([apart, variable, here[number].negated()])
            cp.add_bool_or([apart.negated(), variable.negated(), here[number].negated()])
        return apart

    def _add_room_around(self) -> None:
        """An item and those that share its container fit into one: what bounds the traffic from below.

        Implied by the rest, but not by its linear relaxation, which puts a part of everything everywhere.
        """
        packing, split = self.packing, self.split
        shared: list[list[tuple[int, Any]]] = [[] for _ in self.inside]
        for pair, (one, other) in enumerate(
            zip(packing.first.tolist(), packing.second.tolist(), strict=True)
        ):
            shared[one].append((other, split[pair]))
            shared[other].append((one, split[pair]))
        for column, size in enumerate(packing.size.tolist()):
            whole, bound = whole_row(packing.demand[:, column], size)
            for item, entries in enumerate(shared):
                least = whole[item] + sum(whole[other] for other, _ in entries) - bound
                if least > 0:
                    weights = [whole[other] for other, _ in entries]
                    literals = [literal for _, literal in entries]
                    self._model.cp.add(cp_model.LinearExpr.weighted_sum(literals, weights) >= least)

    def order(self, groups: Sequence[Sequence[int]]) -> None:
        """Items of a group differ in nothing: the earlier one is in the earlier container."""
        for items in groups:
            self._model.add_order([self.inside[k] for k in sorted(items)])


def canonical(containers: Sequence[int], groups: Sequence[Sequence[int]]) -> list[int]:
    """The same map up to names, in the order that the model asks for."""
    bins = list(containers)
    while True:
        before = list(bins)
        for items in groups:
            for item, container in zip(sorted(items), sorted(bins[k] for k in items), strict=True):
                bins[item] = container
        numbers = {name: number for number, name in enumerate(dict.fromkeys(bins))}
        bins = [numbers[name] for name in bins]
        if bins == before:
            return bins


def interchangeable_items(packing: Packing, labels: Sequence[object]) -> list[list[int]]:
    """Items with the same label, demand and neighbours: swapping them changes nothing."""
    groups: dict[object, list[int]] = {}
    for item, (label, neighbours) in enumerate(zip(labels, packing.neighbours, strict=True)):
        groups.setdefault((label, packing.demand[item].tobytes(), neighbours), []).append(item)
    return [items for items in groups.values() if len(items) > 1]


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
