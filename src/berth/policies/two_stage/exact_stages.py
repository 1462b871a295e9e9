"""Both stages exactly: MIPS finds a first map, CP-SAT a better one or the proof that there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from berth.budget import Budget
from berth.evaluation.goal import OPTIMAL_GAP, gap_between
from berth.evaluation.limits import TOLERANCE
from berth.exact.cpsat.containers import canonical
from berth.exact.cpsat.limits import WholeSum
from berth.exact.cpsat.stages import ContainersModel, MapTask, ServersModel, least_map
from berth.exact.minimise import LARGEST_MODEL
from berth.exact.packing import Packing as Items
from berth.exact.packing import merged_pairs
from berth.exact.task import Found
from berth.model.arrays import IndexArray
from berth.policies.two_stage import mips
from berth.policies.two_stage.packing import Packing, alike
from berth.policies.two_stage.stages import Assigned, StageOne, StageTwo, Stuck, TwoStageParameters

FIRST_SHARE = 0.5
"""The first stage takes at most this share of the time, so that the second has some."""
START_SHARE = 0.3
"""The most of a stage's time that the search for a first map may take."""


def first_stage(
    stage: StageOne, generator: np.random.Generator, parameters: mips.MipsParameters, budget: Budget
) -> Assigned | Stuck:
    """Instances into containers: the least alpha x traffic between them + (1 - alpha) x containers used."""
    budget = budget.part(FIRST_SHARE)
    start = mips.first_stage(stage, generator, parameters, budget.part(START_SHARE))
    packing = mips.instances_packing(stage, parameters)
    instances = Instances(stage, packing)
    known = instances.in_order(start.bins) if isinstance(start, Assigned) else None
    what = f"the instances into {stage.count} container(s)"
    return _answer(packing, known, instances, budget, generator, what)


def second_stage(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, budget: Budget
) -> Assigned | Stuck:
    """Containers onto servers: the least traffic x link cost."""
    start = mips.second_stage(stage, generator, parameters, budget.part(START_SHARE))
    packing = mips.containers_packing(stage)
    known = start.bins if isinstance(start, Assigned) else None
    what = f"the containers onto {len(stage.room)} server(s)"
    return _answer(packing, known, Containers(packing), budget, generator, what)


def swappable(packing: Packing) -> list[list[int]]:
    """Items that differ in nothing, in groups of two or more."""
    needs = [limit.needed[:, None] for limit in packing.shared]
    return groups(alike(packing.traffic, [packing.demand, packing.allowed, packing.hosts, *needs]))


def groups(numbers: IndexArray) -> list[list[int]]:
    """What has the same number, where there are several."""
    found = [np.flatnonzero(numbers == number).tolist() for number in range(numbers.max(initial=-1) + 1)]
    return [members for members in found if len(members) > 1]


def _answer(
    packing: Packing,
    start: IndexArray | None,
    model: Instances | Containers,
    budget: Budget,
    generator: np.random.Generator,
    what: str,
) -> Assigned | Stuck:
    """The best map, and in its trace what is proved about it."""
    seed = int(generator.integers(2**31))
    too_large = model.size > LARGEST_MODEL
    found = Found("unknown", start, 0.0) if too_large else model.least(start, budget, seed)
    if found.nodes is None or found.outcome == "infeasible":
        return Stuck(_why(found, too_large, budget, what))
    cost = packing.cost(found.nodes)
    # Beyond the cost, and this near to it, there is only rounding.
    gap = 0.0 if cost <= found.bound else gap_between(cost, found.bound)
    proved = gap <= OPTIMAL_GAP
    trace: dict[str, Any] = {
        "proved": proved,
        "cost": cost,
        "bound": cost if proved else found.bound,
        "gap": 0.0 if proved else gap,
    }
    if start is not None:
        trace["start_cost"] = packing.cost(start)
    if not proved:
        trace["ended"] = _too_large(what) if too_large else budget.reason
    return Assigned(found.nodes, trace)


def _why(found: Found, too_large: bool, budget: Budget, what: str) -> str:
    if too_large:
        return _too_large(what)
    if found.outcome == "infeasible":
        return f"proved that there is no way to map {what}"
    return f"{budget.reason} before {what} were mapped; a longer --time-limit may help"


def _too_large(what: str) -> str:
    return f"too large for an exact model: {what}"


class Instances:
    """Instances that go into containers."""

    def __init__(self, stage: StageOne, packing: Packing) -> None:
        self._packing = packing
        self._hosts = stage.group_servers[stage.group]
        self._swappable = swappable(packing)
        one, other = np.nonzero(packing.traffic)
        first, second, rate = merged_pairs(one, other, packing.traffic[one, other])
        self._items = Items(
            application=stage.application,
            resources=(*stage.resources, *_unnamed(stage)),
            demand=stage.demand,
            # the room has the tolerance in it already
            size=stage.room[0] / (1.0 + TOLERANCE),
            count=len(stage.room),
            first=first,
            second=second,
            rate=rate,
        )
        self.size = len(stage.room) * (len(stage.names) + len(first))
        """The number of combinations in a model."""

    def in_order(self, bins: IndexArray) -> IndexArray:
        """The same map, as the model numbers containers and what can be swapped."""
        return np.array(canonical(bins.tolist(), self._swappable), dtype=np.intp)

    def least(self, start: IndexArray | None, budget: Budget, seed: int) -> Found:
        """The map of least cost; where only traffic or only containers count, with least of the other."""
        packing = self._packing
        prices = packing.per_traffic, packing.per_bin
        found = least_map(MapTask(self._builder(prices), packing.cost, start), budget, seed)
        if found.outcome != "optimal" or found.nodes is None or min(prices) > 0:
            return found
        best = found.nodes
        rest = (0.0, 1.0) if packing.per_traffic > 0 else (1.0, 0.0)
        build = self._builder(rest, best)
        other = least_map(MapTask(build, lambda bins: self._other(rest, bins), best), budget, seed)
        if other.nodes is not None and packing.better(other.nodes, best):
            best = other.nodes
        return Found("optimal", best, found.bound, found.solves + other.solves)

    def _builder(
        self, prices: tuple[float, float], kept: IndexArray | None = None
    ) -> Callable[[float], tuple[ContainersModel, WholeSum]]:
        """Models for prices of traffic and containers; `kept`: what is free may not get more than there."""

        def build(ceiling: float) -> tuple[ContainersModel, WholeSum]:
            model = ContainersModel(self._items, self._hosts, self._swappable)
            if kept is not None:
                traffic = None if prices[0] else self._other((1.0, 0.0), kept)
                model.keep(traffic, None if prices[1] else len(np.unique(kept)))
            return model, model.minimise(*prices, ceiling)

        return build

    def _other(self, prices: tuple[float, float], bins: IndexArray) -> float:
        crossing = bins[self._items.first] != bins[self._items.second]
        return prices[0] * float(self._items.rate[crossing].sum()) + prices[1] * len(np.unique(bins))


def _unnamed(stage: StageOne) -> list[str]:
    """Names for the columns behind the resources."""
    return [f"limit {column}" for column in range(len(stage.resources), stage.demand.shape[1])]


class Containers:
    """Containers that go onto servers."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._swappable = swappable(packing)
        fits = (packing.demand[:, None, :] <= packing.room[None, :, :]).all(axis=2)
        self._allowed = packing.allowed & fits
        choices = self._allowed.sum(axis=1)
        exchanging = np.triu(packing.traffic + packing.traffic.T, 1) > 0
        self.size = int(choices.sum() + (np.outer(choices, choices) * exchanging).sum())
        """The number of combinations in a model."""

    def least(self, start: IndexArray | None, budget: Budget, seed: int) -> Found:
        """The map of least cost."""
        if not self._allowed.any(axis=1).all():
            return Found("infeasible", None, 0.0)
        return least_map(MapTask(self._build, self._packing.cost, start), budget, seed)

    def _build(self, ceiling: float) -> tuple[ServersModel, WholeSum]:
        packing = self._packing
        places = [limit.place_of[:, None] for limit in packing.shared]
        servers = alike(packing.distance, [packing.room, self._allowed.T, *places])
        model = ServersModel(
            packing.demand,
            packing.room,
            packing.traffic,
            packing.distance,
            self._allowed,
            self._swappable,
            groups(servers),
            packing.shared,
        )
        return model, model.minimise(ceiling)
