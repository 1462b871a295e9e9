"""What moves as one, and the arrays that metrics and limits of such moves are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.model import Containers, Together
from berth.model.instances import PathSchedule

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
    for group in [*_together(situation), *_in_containers(situation).values()]:
        for number in group[1:]:
            _join(leader, group[0], number)
    members: dict[int, list[int]] = {}
    for number in computed:
        members.setdefault(_leader(leader, number), []).append(number)
    return [_unit(situation, numbers) for numbers in members.values()]


def _together(situation: Situation) -> list[list[int]]:
    graph = situation.graph
    groups = []
    for application in situation.problem.applications:
        for rule in application.rules:
            if isinstance(rule, Together):
                operators = [graph.operator_index[f"{application.name}/{name}"] for name in rule.operators]
                numbers = [number for item in operators for number in graph.operators[item].instances]
                groups.append([number for number in numbers if situation.computed[number]])
    return [group for group in groups if group]


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


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MovedFlows:
    """What crosses the network, for every move: aligned arrays."""

    move: IndexArray
    sender: IndexArray
    receiver: IndexArray
    rate: FloatArray


class Common:
    """What all moves in one plan have in common."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation

    @cached_property
    def keys(self) -> IndexArray | None:
        """What every pair transfers, where equal results count once; None where nothing does."""
        keys, pairs = self.situation.problem.sharing_keys, self.situation.pairs
        return keys.result_keys(pairs.sender, pairs.receiver, pairs.stream) if keys.possible else None

    @cached_property
    def time(self) -> FloatArray:
        """The time that every instance takes for a data unit; 0 where it doesn't run."""
        situation, running = self.situation, self.situation.running
        time = np.zeros(len(situation.graph))
        time[running] = situation.graph.work_ms[running] / situation.network.speed[situation.node_of[running]]
        return time

    @cached_property
    def delay(self) -> FloatArray:
        """The delay of every pair; 0 where an end has no node."""
        situation, pairs = self.situation, self.situation.pairs
        sender, receiver = situation.node_of[pairs.sender], situation.node_of[pairs.receiver]
        placed = (sender >= 0) & (receiver >= 0)
        delay = np.zeros(len(sender))
        delay[placed] = situation.network.table.delay_ms[sender[placed], receiver[placed]]
        return delay

    @cached_property
    def finish(self) -> FloatArray:
        """When every instance is done with a data unit."""
        return self.situation.schedule.finish(self.time, self.delay)

    @cached_property
    def tail(self) -> FloatArray:
        """The longest way from the arrival at every instance to an end."""
        pairs = self.situation.pairs
        backwards = PathSchedule(len(self.situation.graph), pairs.receiver, pairs.sender)
        return backwards.finish(self.time, self.delay)


class Moves:
    """Move k puts the unit onto `nodes[k]`; everything else stays."""

    def __init__(self, common: Common, unit: Unit, nodes: IndexArray) -> None:
        self.common = common
        self.situation = common.situation
        self.unit = unit
        self.nodes = nodes
        self._keys = common.keys
        self.inside = np.zeros(len(self.situation.graph), dtype=bool)
        self.inside[unit.members] = True

    def part(self, nodes: IndexArray) -> Moves:
        """The same unit on some of the nodes."""
        return self if nodes is self.nodes else Moves(self.common, self.unit, nodes)

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
    def touched(self) -> BoolArray:
        """The communicating pairs with an end in the unit."""
        pairs = self.situation.pairs
        return np.asarray(self.inside[pairs.sender] | self.inside[pairs.receiver])

    def ends(self, pairs: IndexArray) -> tuple[IndexArray, IndexArray]:
        """The nodes of both ends of some pairs (rows) after every move (columns)."""
        every = self.situation.pairs
        return self._places(every.sender[pairs]), self._places(every.receiver[pairs])

    def _places(self, instances: IndexArray) -> IndexArray:
        stays = self.situation.node_of[instances][:, None]
        return np.where(self.inside[instances][:, None], self.nodes[None, :], stays)

    @cached_property
    def touched_ends(self) -> tuple[IndexArray, IndexArray]:
        """The ends of the unit's pairs."""
        return self.ends(np.flatnonzero(self.touched))

    @cached_property
    def unlinked(self) -> BoolArray:
        """The moves after which a stream of the unit has no link."""
        sender, receiver = self.touched_ends
        placed = (sender >= 0) & (receiver >= 0)
        linked = np.ones(sender.shape, dtype=bool)
        linked[placed] = self.situation.network.table.connected[sender[placed], receiver[placed]]
        return np.asarray(~linked.all(axis=0))

    @cached_property
    def related(self) -> BoolArray:
        """The pairs whose flows may change: the unit's, and those that transfer the same."""
        if self._keys is None:
            return self.touched
        return np.isin(self._keys, self._keys[self.touched])

    @cached_property
    def changing(self) -> MovedFlows:
        """What the related pairs send over the network, after every move."""
        return self._flows(np.flatnonzero(self.related), *self.ends(np.flatnonzero(self.related)))

    @cached_property
    def staying(self) -> MovedFlows:
        """What all other pairs send over the network, whatever the move."""
        situation = self.situation
        pairs = np.flatnonzero(~self.related)
        sender = situation.node_of[situation.pairs.sender[pairs]]
        receiver = situation.node_of[situation.pairs.receiver[pairs]]
        return self._flows(pairs, sender[:, None], receiver[:, None])

    def _flows(self, pairs: IndexArray, sender: IndexArray, receiver: IndexArray) -> MovedFlows:
        row, move = np.nonzero((sender != receiver) & (sender >= 0) & (receiver >= 0))
        here, there = sender[row, move], receiver[row, move]
        rate = self.situation.pairs.rate[pairs[row]]
        if self._keys is None:
            return MovedFlows(move, here, there, rate)
        key = self._keys[pairs[row]]
        first, highest = grouped_highest(rate, move, key, here, there)
        return MovedFlows(move[first], here[first], there[first], highest)

    def per_move(self, flows: MovedFlows, values: FloatArray) -> FloatArray:
        """Values of some flows added up for every move."""
        return np.asarray(np.bincount(flows.move, values, minlength=len(self.nodes)), dtype=np.float64)


def grouped_highest(values: FloatArray, *columns: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Equal rows of the columns as groups: where each begins, and the highest value in it."""
    if not len(values):
        return np.zeros(0, dtype=np.intp), values
    order = np.lexsort(columns[::-1])
    changes = np.zeros(len(values), dtype=bool)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[order][1:] != column[order][:-1]
    starts = np.flatnonzero(changes)
    return order[starts], np.maximum.reduceat(values[order], starts)
