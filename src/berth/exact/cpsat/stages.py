"""The two stages of paper 001 as models of their own: items into containers, containers onto servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.evaluation.limits import TOLERANCE
from berth.exact.cpsat.limits import LimitedModel
from berth.exact.cpsat.nearness import Nearness
from berth.exact.cpsat.packing import PackingVariables
from berth.exact.cpsat.whole_sum import Entry, WholeSum
from berth.exact.packing import Packing

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Groups = Sequence[Sequence[int]]

LARGEST_NEARNESS = 200_000
"""Pairs of containers x servers beyond which no bounds by distance are added: they would outgrow the rest."""


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
            places = [
                cp_model.LinearExpr.weighted_sum([*self.choices[k].values()], [*self.choices[k]])
                for k in sorted(containers)
            ]
            for earlier, later in pairwise(places):
                self.cp.add(earlier <= later)
        for servers in self.swappable_servers:
            for server, following in pairwise(sorted(servers)):
                self.add_before(self.choices, server, following)

    def minimise(self, ceiling: float) -> WholeSum:
        """Traffic x cost as the objective."""
        return WholeSum(self.cp, self._literals, self._entries, ceiling)
