"""The two stages of paper 001 as models of their own: items into containers, containers onto servers.

Linear relaxations of the second stage see little of what distances cost. So for each of a few distances and
every two containers a literal says that their servers are farther apart (`Nearness`): what the two cost is at
least the sum over the levels, around a container there is room for so many others at most, and where a level
cuts the servers into clusters, being in the same one is transitive. `least_map` solves either stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.evaluation.limits import TOLERANCE
from berth.exact.cpsat.containers import PackingVariables
from berth.exact.cpsat.limits import Entry, LimitedModel, WholeSum
from berth.exact.cpsat.solver import run
from berth.exact.general import FINE_ENOUGH, attempts
from berth.exact.packing import Packing
from berth.exact.task import Found

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Groups = Sequence[Sequence[int]]

MOST_LEVELS = 6
MOST_IN_TRIANGLES = 16
"""Items beyond which no three of them are looked at."""
LARGEST_NEARNESS = 200_000
"""Pairs of containers x servers beyond which no bounds by distance are added: they would outgrow the rest."""


@dataclass(eq=False)
class Nearness:
    """Literals for pairs of items that are farther apart than each of some distances."""

    cp: cp_model.CpModel
    choices: list[dict[int, Any]]
    """For each item its variable by place."""
    distance: FloatArray
    """[places, places], at least 0; infinite: no way."""
    slots: IndexArray
    """[places] how many items there is room for."""

    def __post_init__(self) -> None:
        self._near = np.minimum(self.distance, self.distance.T)
        distinct = np.unique(np.append(self._near[np.isfinite(self._near)], 0.0))
        last = len(distinct) - 1
        picked = np.linspace(0, last, min(last, MOST_LEVELS), endpoint=False).astype(np.intp)
        # Whoever is beyond a level is at least as far as the next distance there is.
        self._steps: list[float] = np.diff(distinct[picked + 1], prepend=0.0).tolist()
        symmetric = bool((self.distance == self.distance.T).all())
        self.exact = symmetric and len(picked) == last
        """Whether the levels are all that there is to say about distances."""
        self._far = [self._at_level(level) for level in distinct[picked].tolist()]

    def cost_terms(self, one: int, other: int, rate: float) -> list[tuple[Any, float]]:
        """What a pair costs at least, level by level."""
        return [(far[one, other], rate * step) for far, step in zip(self._far, self._steps, strict=True)]

    def _at_level(self, level: float) -> dict[tuple[int, int], Any]:
        ball = self._near <= level
        count = len(self.choices)
        far = {pair: self.cp.new_bool_var("") for pair in combinations(range(count), 2)}
        for one, other in permutations(range(count), 2):
            apart = far[min(one, other), max(one, other)]
            for balls, places in _by_ball(ball, self.choices[one]):
                reached = [v for place, v in self.choices[other].items() if balls[place]]
                here = [self.choices[one][place] for place in places]
                self.cp.add(cp_model.LinearExpr.sum([*reached, apart]) >= cp_model.LinearExpr.sum(here))
        self._add_room(ball, far)
        transitive = bool(((ball.astype(np.intp) @ ball > 0) == ball).all())
        if transitive and count <= MOST_IN_TRIANGLES:
            for one, two, three in combinations(range(count), 3):
                sides = far[one, two], far[one, three], far[two, three]
                for longest in range(3):
                    others = [side for k, side in enumerate(sides) if k != longest]
                    self.cp.add(sides[longest] <= cp_model.LinearExpr.sum(others))
        return far

    def _add_room(self, ball: BoolArray, far: dict[tuple[int, int], Any]) -> None:
        """Around every item there are no more others than there is room for."""
        count = len(self.choices)
        others = np.minimum(ball @ self.slots - 1, count - 1)
        for item, choice in enumerate(self.choices):
            apart = [literal for pair, literal in far.items() if item in pair]
            room = [int(max(others[place], 0)) for place in choice]
            if min(room) < count - 1:
                within = cp_model.LinearExpr.weighted_sum([*choice.values()], room)
                self.cp.add(cp_model.LinearExpr.sum(apart) + within >= count - 1)


def _by_ball(ball: BoolArray, choice: dict[int, Any]) -> list[tuple[BoolArray, list[int]]]:
    """An item's places by what is near them: those with the same surroundings are one."""
    found: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for place in choice:
        found.setdefault(ball[place].tobytes(), (ball[place], []))[1].append(place)
    return list(found.values())


@dataclass
class ContainersModel(LimitedModel):
    """The first stage: `choices[i][c]` is true where item i is in container c."""

    packing: Packing
    hosts: BoolArray
    """[n, h]: the items in a container need one host in common; no columns: nothing to check."""
    swappable: Groups
    """Items that differ in nothing."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._variables = PackingVariables(self, self.packing)
        self._variables.order(self.swappable)
        self.choices = self._variables.inside
        if self.hosts.shape[1]:
            self._add_hosts()

    def _add_hosts(self) -> None:
        kinds = np.unique(self.hosts, axis=1)
        if kinds.all(axis=0).any():
            return
        for number, used in enumerate(self._variables.used):
            on = [self.cp.new_bool_var("") for _ in range(kinds.shape[1])]
            self.cp.add_bool_or([*on, used.negated()])
            for item, inside in enumerate(self.choices):
                for host in np.flatnonzero(~kinds[item]).tolist() if number in inside else ():
                    self.cp.add_implication(inside[number], on[host].negated())

    def minimise(self, per_traffic: float, per_container: float, ceiling: float) -> WholeSum:
        """Traffic between containers and containers in use, each at its price, as the objective."""
        literals: list[tuple[Any, float]] = []
        if per_traffic:
            rates = (self.packing.rate * per_traffic).tolist()
            literals += zip(self._variables.split, rates, strict=True)
        if per_container:
            literals += [(used, per_container) for used in self._variables.used]
        return WholeSum(self.cp, literals, [], ceiling)

    def keep(self, traffic: float | None, containers: int | None) -> None:
        """Only maps with so much traffic and so many containers at most; None: any."""
        if traffic is not None:
            terms = list(zip(self._variables.split, self.packing.rate.tolist(), strict=True))
            self.limit("traffic", "", terms, traffic)
        if containers is not None:
            self.cp.add(cp_model.LinearExpr.sum(self._variables.used) <= containers)


@dataclass
class ServersModel(LimitedModel):
    """The second stage: `choices[c][s]` is true where container c is on server s."""

    size: FloatArray
    """[m, R] what every container takes."""
    room: FloatArray
    """[s, R] what is free, with the tolerance in it."""
    traffic: FloatArray
    """[m, m] from row to column."""
    cost: FloatArray
    """[s, s] of one unit of traffic; infinite: no link."""
    allowed: BoolArray
    """[m, s] servers that have room for a container at all; at least one for each."""
    swappable: Groups
    """Containers that differ in nothing."""
    swappable_servers: Groups
    """Servers that differ in nothing."""
    shared: Sequence[tuple[FloatArray, NDArray[np.intp], FloatArray]] = ()
    """Limits of places: what each container needs, each server's place, and each place's room."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choices = [self.choice(np.flatnonzero(row).tolist()) for row in self.allowed]
        self._add_room()
        small = len(self.choices) ** 2 * len(self.room) <= LARGEST_NEARNESS
        self._nearness = Nearness(self.cp, self.choices, self.cost, self._slots) if small else None
        self._literals: list[tuple[Any, float]] = []
        self._entries: list[Entry] = []
        for one, other in np.argwhere(np.triu(self.traffic + self.traffic.T, 1) > 0).tolist():
            self._add_pair(one, other)
        self._add_order()

    @property
    def _slots(self) -> NDArray[np.intp]:
        """How many containers a server has room for at most."""
        smallest = self.size.min(axis=0)
        taken = smallest > 0
        many = np.full((len(self.room), 1), float(len(self.size)))
        each = np.floor(self.room[:, taken] / smallest[taken] * (1.0 + TOLERANCE))
        return np.asarray(np.concatenate([many, each], axis=1).min(axis=1), dtype=np.intp)

    def _add_room(self) -> None:
        for server, column in np.ndindex(self.room.shape):
            terms = [
                (choice[server], float(self.size[container, column]))
                for container, choice in enumerate(self.choices)
                if server in choice and self.size[container, column] > 0
            ]
            # the room has the tolerance in it already
            self.limit("servers", "", terms, float(self.room[server, column]) / (1.0 + TOLERANCE))
        for needed, place_of, room in self.shared:
            for place in range(len(room)):
                inside = [
                    (literal, float(needed[container]))
                    for container, choice in enumerate(self.choices)
                    for server, literal in choice.items()
                    if place_of[server] == place and needed[container] > 0
                ]
                self.limit("places", "", inside, float(room[place]) / (1.0 + TOLERANCE))

    def _add_pair(self, one: int, other: int) -> None:
        first, second = self.choices[one], self.choices[other]
        here, there = np.array([*first]), np.array([*second])
        costs = np.zeros((len(here), len(there)))
        for rate, way in (
            (self.traffic[one, other], self.cost[np.ix_(here, there)]),
            (self.traffic[other, one], self.cost[np.ix_(there, here)].T),
        ):
            if rate > 0:
                costs = costs + rate * way
        linked = np.isfinite(costs)
        for literal, row in zip(first.values(), linked, strict=True):
            if not row.all():
                reached = [second[server] for server in there[row].tolist()]
                self.cp.add_bool_or([*reached, literal.negated()])
        levels: list[tuple[Any, float]] = []
        if self._nearness is not None:
            both_ways = float(self.traffic[one, other] + self.traffic[other, one])
            levels = self._nearness.cost_terms(one, other, both_ways)
        if self._nearness is not None and self._nearness.exact:
            self._literals += levels
        else:
            matrix = np.where(linked, costs, 0.0)
            self._entries.append(([*first.values()], [*second.values()], matrix, levels))

    def _add_order(self) -> None:
        """Of equal maps the first in alphabetical order: what can be swapped is in order."""
        for containers in self.swappable:
            self.add_order([self.choices[k] for k in sorted(containers)])
        for servers in self.swappable_servers:
            for server, following in pairwise(sorted(servers)):
                self.add_before(self.choices, server, following)

    def minimise(self, ceiling: float) -> WholeSum:
        """Traffic x cost as the objective."""
        return WholeSum(self.cp, self._literals, self._entries, ceiling)


@dataclass(frozen=True, eq=False)
class MapTask:
    """What is minimised, over which maps."""

    build: Callable[[float], tuple[LimitedModel, WholeSum]]
    """A model with its objective, for a ceiling: a map of this cost is known."""
    cost: Callable[[IndexArray], float]
    """What a map costs."""
    start: IndexArray | None = None
    """A map that keeps everything, if one is known."""


def least_map(task: MapTask, budget: Budget, seed: int) -> Found:
    """A map of least cost and a bound on all costs; none of which is below 0."""
    known = np.inf if task.start is None else task.cost(task.start)
    if known == 0.0:
        return Found("optimal", task.start, 0.0, 0)
    found = _solved(task, known, task.start, budget, seed)
    if found.outcome == "optimal" and found.nodes is not None and not budget.over:
        reached = min(known, task.cost(found.nodes))
        if reached - found.bound > FINE_ENOUGH * reached:
            # The known map makes the units finer: what costs more need not be told apart.
            again = _solved(task, reached, found.nodes, budget, seed)
            found = Found(again.outcome, again.nodes, max(found.bound, again.bound), 2)
    return _kept(task, found)


def _solved(task: MapTask, ceiling: float, start: IndexArray | None, budget: Budget, seed: int) -> Found:
    model, objective = task.build(ceiling)
    best = Found("unknown", start, 0.0)
    for options in attempts(seed):
        attempt = run(model, budget, options, best.nodes)
        nodes = best.nodes if attempt.nodes is None else attempt.nodes
        best = Found(attempt.outcome, nodes, max(best.bound, objective.real(attempt.bound)))
        if attempt.outcome in ("optimal", "infeasible") or budget.over:
            break
    return best


def _kept(task: MapTask, found: Found) -> Found:
    """The start where nothing better came, and what contradicts it doesn't count."""
    start, cost = task.start, task.cost
    if start is None:
        return found
    if found.outcome == "infeasible" or found.bound > cost(start) * (1 + 1e-9):
        return Found("feasible", start, 0.0, found.solves)
    if found.nodes is None or cost(start) < cost(found.nodes):
        return Found(found.outcome, start, found.bound, found.solves)
    return found
