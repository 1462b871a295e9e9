"""What moves as one, and where its streams go after every move."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.model import Containers

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Unit:
    """Computed instances that can only move together; most units are one instance."""

    members: IndexArray
    node: int
    """Where they are; -1: not placed, or not all on one node."""
    containers: tuple[Containers, ...] = ()
    """The containers that move with them."""
    packed: frozenset[int] = frozenset()
    """The members that are in those."""

    @property
    def first(self) -> int:
        """The member with the smallest number, which stands for all."""
        return int(self.members[0])


def units_of(situation: Situation) -> list[Unit]:
    """All computed instances as units, in the order of their first members."""
    computed = np.flatnonzero(situation.computed).tolist()
    leader = {number: number for number in computed}
    bound = ([k for k in rule.instances if situation.computed[k]] for rule in situation.problem.together)
    for group in [*bound, *_in_containers(situation).values()]:
        for number in group[1:]:
            _join(leader, group[0], number)
    members: dict[int, list[int]] = {}
    for number in computed:
        members.setdefault(_leader(leader, number), []).append(number)
    return [_unit(situation, numbers) for numbers in members.values()]


def _in_containers(situation: Situation) -> dict[str, list[int]]:
    graph, applications = situation.graph, situation.problem.applications
    groups: dict[str, list[int]] = {}
    for instance, container in situation.plan.containers.items():
        number = graph.index[instance]
        packs = applications[graph.application_of[number]].containers is not None
        if packs and situation.computed[number]:
            groups.setdefault(container, []).append(number)
    return groups


def _leader(leader: dict[int, int], number: int) -> int:
    while leader[number] != number:
        leader[number] = leader[leader[number]]
        number = leader[number]
    return number


def _join(leader: dict[int, int], one: int, other: int) -> None:
    ends = sorted((_leader(leader, one), _leader(leader, other)))
    leader[ends[1]] = ends[0]


def _unit(situation: Situation, numbers: list[int]) -> Unit:
    nodes = {int(situation.node_of[number]) for number in numbers}
    node = nodes.pop() if len(nodes) == 1 else -1
    members = np.array(numbers, dtype=np.intp)
    if not situation.plan.containers:
        return Unit(members, node)
    graph, found = situation.graph, {}
    packed = set()
    for number in numbers:
        size = situation.problem.applications[graph.application_of[number]].containers
        container = situation.plan.containers.get(graph.names[number])
        if size is not None and container is not None:
            found[container] = size
            packed.add(number)
    return Unit(members, node, tuple(found.values()), frozenset(packed))


BoolArray = NDArray[np.bool_]


class Moves:
    """Move k puts a unit onto node k; everything else stays."""

    def __init__(self, situation: Situation, unit: Unit) -> None:
        self.situation = situation
        self.unit = unit
        self.nodes = np.arange(len(situation.network.nodes))
        self.inside = np.zeros(len(situation.graph), dtype=bool)
        """Which instances move."""
        self.inside[unit.members] = True

    @cached_property
    def others(self) -> IndexArray:
        """The running instances that stay."""
        running = self.situation.running
        return running[~self.inside[running]]

    @property
    def clear(self) -> bool:
        """Whether a move leaves no instance without a node."""
        situation = self.situation
        homeless = situation.computed & ~self.inside & (situation.node_of < 0)
        return not situation.reuse_mistakes and not homeless.any()

    @cached_property
    def touched(self) -> IndexArray:
        """The communicating pairs with an end in the unit."""
        pairs = self.situation.pairs
        return np.flatnonzero(self.inside[pairs.sender] | self.inside[pairs.receiver])

    @cached_property
    def touched_ends(self) -> tuple[IndexArray, IndexArray]:
        """The nodes of both ends of these pairs (rows) after every move (columns)."""
        pairs = self.situation.pairs
        return self._places(pairs.sender[self.touched]), self._places(pairs.receiver[self.touched])

    def _places(self, instances: IndexArray) -> IndexArray:
        stays = self.situation.node_of[instances][:, None]
        return np.where(self.inside[instances][:, None], self.nodes[None, :], stays)

    @cached_property
    def unlinked(self) -> BoolArray:
        """The moves after which a stream of the unit has no link."""
        sender, receiver = self.touched_ends
        placed = (sender >= 0) & (receiver >= 0)
        linked = np.ones(sender.shape, dtype=bool)
        linked[placed] = self.situation.network.table.connected[sender[placed], receiver[placed]]
        return np.asarray(~linked.all(axis=0))
