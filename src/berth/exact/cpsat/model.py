"""Placement variables and every constraint of the contract that needs no objects or reuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.evaluation import Setting
from berth.evaluation.limits import (
    TOLERANCE,
    Bandwidth,
    LeastAvailability,
    LongestResponse,
    NetworkCard,
    Port,
    amount,
)
from berth.evaluation.metrics import AVAILABILITY
from berth.evaluation.unlinked import parts_in_words
from berth.exact.costs import Costs, add_metric
from berth.exact.cpsat.containers import HostedContainers
from berth.exact.cpsat.limits import FINE, LimitedModel
from berth.exact.cpsat.variables import ArrivalTimes, PairVariables
from berth.exact.paths import PathTimes
from berth.exact.placement import LOOSE, Edge, Placement
from berth.exact.symmetry import interchangeable
from berth.model import Loss

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass
class CpSatModel(LimitedModel):
    """A CP-SAT model of a placement: `x[block][k]` is true where the block sits on its k-th candidate."""

    placement: Placement

    def __post_init__(self) -> None:
        super().__post_init__()
        self.at = self._places()
        """For each block, its variable by node number."""
        self.x = [list(places.values()) for places in self.at]
        self.pairs = PairVariables(self)
        self._used: dict[int, Any] = {}
        self._add_links()
        self._add_place_limits()
        self._add_bandwidth()
        self._add_cards()
        self._add_ports()
        self._add_latency()
        self._add_availability()
        self.containers = [HostedContainers(self, packing) for packing in self.placement.packings]
        self._add_containers()
        self.choices = [*self.at, *(inside for part in self.containers for inside in part.inside)]
        """What a solution says: the node of each block, and the container of each instance that needs one."""
        self.after: list[FailoverModel] = []
        """What becomes of the plan after losses."""

    def _places(self) -> list[dict[int, Any]]:
        return [self.choice(nodes.tolist()) for nodes in self.placement.candidates]

    def survive(self, losses: Sequence[Loss]) -> None:
        """There is a way to keep every constraint after each of some losses."""
        for loss in losses:
            if not len(loss.kept):
                continue
            placement = failover_placement(self.placement, loss, prune=not self.relaxable)
            if all(len(nodes) for nodes in placement.candidates):
                self.after.append(FailoverModel(placement, plan=self, loss=loss))
            else:
                self.cp.add_bool_or([])

    def used(self, node: int) -> Any:
        """True exactly where a node hosts anything."""
        if node not in self._used:
            here = [places[node] for places in self.at if node in places]
            self._used[node] = literal = self.cp.new_bool_var("")
            for variable in here:
                self.cp.add_implication(variable, literal)
            self.cp.add_bool_or(here).only_enforce_if(literal)
        return self._used[node]

    def cover(self) -> None:
        """The nodes in use have room for everything: no news, but linear relaxations see prices by that."""
        hosting = sorted({node for places in self.at for node in places})
        for item in self.placement.limits:
            total = float(item.needed.sum())
            if not item.single or total <= 0:
                continue
            room = np.minimum(item.room_at(np.array(hosting, dtype=np.intp)), total).tolist()
            terms = self._terms_by_place(item.needed, item.of.place_of)
            for node, there in zip(hosting, room, strict=True):
                self.limit("", "", [*terms.get(node, ()), (self.used(node), -there)], there * LOOSE)
            self.limit(
                "",
                "",
                [(self.used(node), -there) for node, there in zip(hosting, room, strict=True)],
                -total * (1 - 2 * LOOSE),
            )

    def order_equal_nodes(self, groups: list[list[int]]) -> None:
        """Of nodes that differ in nothing, the earlier one is the first to be used.

        Together with the order of blocks no plan is lost: of all plans that are equal by both, the first in
        alphabetical order keeps both.
        """
        for group in groups:
            for node, following in pairwise(group):
                self.add_before(self.at, node, following)

    def order_interchangeable(self, counting: Sequence[Costs]) -> None:
        """Among blocks that differ in nothing, the earlier one takes the earlier node or container."""
        packed = set(self.placement.packed_blocks.tolist())
        groups = interchangeable(self.placement, counting)
        for part in self.containers:
            part.order_blocks([blocks for blocks in groups if blocks[0] in packed])
        for blocks in groups:
            if blocks[0] in packed:
                continue
            self.add_order([self.at[block] for block in blocks])

    def _name(self, node: int) -> str:
        return self.placement.network.nodes[node].name

    def _add_links(self) -> None:
        parts = parts_in_words(self.placement.network) if self.relaxable else None
        for edge in self.placement.edges:
            fits = self.placement.linked(edge)
            if fits.all():
                continue
            text = parts or f"streams between {self._blocks_named(edge)} need linked nodes"
            for row, choice in enumerate(self.x[edge.first]):
                if not fits[row].all():
                    possible = [v for v, fit in zip(self.x[edge.second], fits[row], strict=True) if fit]
                    clause = self.cp.add_bool_or([*possible, choice.negated()])
                    if self.relaxable:
                        clause.only_enforce_if(self.switch("links", text))

    def _blocks_named(self, edge: Edge) -> str:
        graph = self.placement.graph
        names = [graph.names[self.placement.blocks[block][0]] for block in (edge.first, edge.second)]
        return " and ".join(names)

    def _add_place_limits(self) -> None:
        """Capacities, processors, rules: whatever blocks need of the places that they are in."""
        for item in self.placement.limits:
            limit = item.of
            for place, terms in self._terms_by_place(item.needed, limit.place_of).items():
                self.limit(limit.family, limit.asked(place), terms, float(limit.room[place]))

    def _add_containers(self) -> None:
        """A container that is not empty takes its full capacity on its node (001, eq. 2)."""
        placement = self.placement
        packed = np.isin(np.arange(len(placement.blocks)), placement.packed_blocks)
        for resource in dict.fromkeys(name for part in self.containers for name in part.packing.resources):
            demand = placement.block_demand.get(resource)
            everywhere = np.arange(len(placement.network.nodes))
            terms = {} if demand is None else self._terms_by_place(np.where(packed, 0.0, demand), everywhere)
            for part in self.containers:
                for node, variable, size in part.taken(resource):
                    terms.setdefault(node, []).append((variable, size))
            there = placement.setting.capacity(resource)
            for node, taken in terms.items():
                text = f"node {self._name(node)}: at most {resource} {amount(there[node])}"
                self.limit(f"{resource} of the nodes", text, taken, float(there[node]))

    def _terms_by_place(
        self, amounts: FloatArray, place_of: IndexArray
    ) -> dict[int, list[tuple[Any, float]]]:
        terms: dict[int, list[tuple[Any, float]]] = {}
        places = place_of.tolist()
        for block, needed in enumerate(amounts.tolist()):
            if needed > 0:
                for node, variable in self.at[block].items():
                    terms.setdefault(places[node], []).append((variable, needed))
        return terms

    def _add_bandwidth(self) -> None:
        network = self.placement.network
        bandwidth = network.table.physical_bandwidth
        if not network.table.bandwidth_bound:
            return
        limit = Bandwidth(self.placement.setting)
        for link, terms in self.pairs.crossings(bandwidth).items():
            there = float(bandwidth[limit.ends(link)])
            self.limit(limit.family, limit.asked(link, there), terms(), there)

    def _add_cards(self) -> None:
        network, limit = self.placement.network, NetworkCard(self.placement.setting)
        for node in np.flatnonzero(np.isfinite(network.nic_bytes_per_s)).tolist():
            there = float(network.nic_bytes_per_s[node])
            self.limit(limit.family, limit.asked(node, there), self.pairs.leaving(node, there), there)

    def _add_ports(self) -> None:
        if not self.placement.network.one_port:
            return
        ports = {way: Port(self.placement.setting, way == "sending") for way in ("sending", "receiving")}
        for (node, way), terms in self.pairs.port_shares().items():
            self.limit(ports[way].family, ports[way].asked(node, 1.0), terms, 1.0)

    def _add_latency(self) -> None:
        applications = self.placement.setting.problem.applications
        bounded = [k for k, item in enumerate(applications) if item.max_response_time_ms is not None]
        if not bounded:
            return
        times, limit = PathTimes(self.placement), LongestResponse(self.placement.setting)
        for number in bounded:
            most = applications[number].max_response_time_ms
            assert most is not None
            text = limit.asked(number, most)
            numbers = np.flatnonzero(self.placement.graph.application_of == number).tolist()
            # Relaxed, longer paths must stay possible, so the units are then coarser.
            longest = times.horizon if self.relaxable else 2 * most
            arrivals = ArrivalTimes(self, times, FINE / max(longest, most, 1e-9), longest, numbers)
            latest = int(np.floor(most * (1 + TOLERANCE) * arrivals.factor)) + arrivals.rounding // 2
            for end in arrivals.ends():
                self.add(limit.family, text, end <= latest)

    def _add_availability(self) -> None:
        limit = LeastAvailability(self.placement.setting)
        for number, application in enumerate(self.placement.setting.problem.applications):
            if not application.min_availability:
                continue
            most = -float(np.log(application.min_availability))
            # A factor beyond twice the limit breaks it alone; how far beyond does not matter.
            factor = FINE / max(2 * most, 1e-6)
            terms = self._unavailability(factor, number, 2 * most + 1e-6)
            text = limit.asked(number, application.min_availability)
            expression = cp_model.LinearExpr.weighted_sum([v for v, _ in terms], [c for _, c in terms])
            bound = int(np.floor((most + TOLERANCE) * factor)) + len(terms) // 2
            if terms:
                self.add(limit.family, text, expression <= bound)

    def _unavailability(self, factor: float, application: int, ceiling: float) -> list[tuple[Any, int]]:
        """Minus the logarithm of an application's availability, in units of 1 / factor, parts capped."""
        costs = Costs.none(self.placement)
        add_metric(costs, AVAILABILITY, -1.0)
        graph, terms = self.placement.graph, []
        for block, numbers in enumerate(self.placement.blocks):
            if graph.application_of[numbers[0]] == application:
                units = np.round(np.minimum(costs.block[block], ceiling) * factor).astype(np.int64).tolist()
                terms += [(v, w) for v, w in zip(self.x[block], units, strict=True) if w]
        for number, edge in enumerate(self.placement.edges):
            weights = costs.edge[number]
            if (
                weights is not None
                and graph.application_of[self.placement.blocks[edge.first][0]] == application
            ):
                terms += self.pairs.cost_terms(number, np.minimum(weights, ceiling), factor)
        return terms


def failover_placement(before: Placement, loss: Loss, prune: bool = True) -> Placement:
    """What is left after a loss, made ready for a model."""
    after = Placement(Setting(loss.left, occupied=before.setting.occupied), prune=prune)
    fits = [np.ones(len(nodes), dtype=bool) for nodes in after.candidates]
    for block, instances in enumerate(after.blocks):
        earlier = before.candidates[before.block_of[loss.kept[instances[0]]]]
        if not np.isin(earlier, loss.nodes).any():
            # it stays, wherever it is
            fits[block] = np.isin(after.candidates[block], earlier)
    after.keep(fits)
    return after


@dataclass(kw_only=True)
class FailoverModel(CpSatModel):
    """A plan after a loss, in the model of the plan itself: what is on no lost node stays where it is."""

    plan: CpSatModel
    loss: Loss

    def __post_init__(self) -> None:
        self.cp, self.relaxable, self.budget = self.plan.cp, self.plan.relaxable, self.plan.budget
        super().__post_init__()

    def _places(self) -> list[dict[int, Any]]:
        kept = self.loss.kept
        return [
            self._after(self.plan.at[self.plan.placement.block_of[kept[instances[0]]]], nodes.tolist())
            for instances, nodes in zip(self.placement.blocks, self.placement.candidates, strict=True)
        ]

    def _after(self, before: dict[int, Any], nodes: list[int]) -> dict[int, Any]:
        """Variables by node number for a block that is on one of some nodes before."""
        gone = set(self.loss.nodes.tolist())
        staying = before.keys() - gone
        for node in staying - set(nodes):
            # it would have to stay where it can't
            self.cp.add(before[node] == 0)
        if not before.keys() & gone:
            return {node: before[node] for node in nodes}
        places = self.choice(nodes)
        for node in staying & set(nodes):
            self.cp.add_implication(before[node], places[node])
        return places

    def switch(self, family: str, text: str) -> Any:
        """The literal that keeps a named limit on after the loss."""
        return self.plan.switch(f"loss of {self.loss.name}: {family}", f"loss of {self.loss.name}: {text}")
