"""An objective in whole numbers: block, edge and node costs, worst paths, the fullest link."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.exact.costs import Costs
from berth.exact.cpsat.limits import FINE, decimal_factor, rounding
from berth.exact.cpsat.model import CpSatModel
from berth.exact.cpsat.variables import ArrivalTimes
from berth.exact.packing import PACKING_METRICS
from berth.exact.paths import PathTimes
from berth.exact.placement import most_utilised

FloatArray = NDArray[np.float64]

PATH_METRICS = ("response_time", "response_time_sum", "loaded_response_time", "failover_response_time")


@dataclass(frozen=True, eq=False)
class _Paths:
    """The paths over some instances of a model."""

    model: CpSatModel
    times: PathTimes
    numbers: list[int]

    @classmethod
    def of_all(cls, model: CpSatModel, times: PathTimes) -> _Paths:
        """Those of all instances."""
        return cls(model, times, list(range(len(times.placement.graph))))


class Objective:
    """Minimises costs in a model; turns the solver's whole-number bound back into a real one."""

    def __init__(self, model: CpSatModel, costs: Costs, ceiling: float = np.inf) -> None:
        """A plan of costs up to the ceiling is known: beyond it, costs need not be told apart."""
        self._model = model
        self._ceiling = ceiling * (1 + 1e-6) if costs.nonnegative else np.inf
        self._costs = costs = costs.capped(self._ceiling)
        self._paths = {name: self._path_groups(name) for name in PATH_METRICS if name in costs.factors}
        self._packed = self._packed_terms()
        self.factor = self._factor()
        self._terms: list[tuple[Any, int]] = []
        self._slack = 0.0
        """The most that rounding can have added to any plan's whole-number objective."""
        self._add_sums()
        for name, groups in self._paths.items():
            for group in groups:
                self._add_path(costs.factors[name], group)
        if "bandwidth_max" in costs.factors:
            self._add_fullest_link(costs.factors["bandwidth_max"])
        if "utilisation_max" in costs.factors:
            self._add_busiest(costs.factors["utilisation_max"])

    def minimise(self) -> None:
        """Make it what the model minimises."""
        self._model.cp.minimize(self._expression)

    def keep_within(self, costs: float) -> None:
        """Make it a limit: plans that cost more are none."""
        # Half a unit for each part that was rounded: what fits in truth must fit in whole numbers.
        units = costs * self.factor
        last_digits = 1e-9 * max(1.0, 1e-3 * abs(units))
        self._model.cp.add(self._expression <= int(np.floor(units + self._slack + last_digits)))

    @property
    def _expression(self) -> Any:
        return cp_model.LinearExpr.weighted_sum([v for v, _ in self._terms], [c for _, c in self._terms])

    def keep_at(self, value: int, weights: list[list[int]]) -> None:
        """Turn the objective into a limit, and minimise a weight for each block and candidate instead."""
        cp = self._model.cp
        cp.add(self._expression <= value)
        cp.clear_objective()  # type: ignore[no-untyped-call]
        variables = [variable for choice in self._model.x for variable in choice]
        cp.minimize(cp_model.LinearExpr.weighted_sum(variables, [w for row in weights for w in row]))

    def at_least(self, costs: float) -> None:
        """No plan costs less, as was proved elsewhere: one that costs no more ends the search."""
        if not self._terms:
            return
        units = costs * self.factor
        least = int(np.ceil(units - self._slack - 1e-6 - 1e-9 * abs(units)))
        self._model.cp.add(self._expression >= least)

    def real(self, bound: float) -> float:
        """A lower bound on the real objective from one on the whole-number objective."""
        return (bound - self._slack) / self.factor

    def _factor(self) -> float:
        """Units per one of the objective: a power of ten if that makes all costs whole, else very fine."""
        costs = self._costs
        edges = [part for part in costs.edge if part is not None]
        packed = np.array([weight for _, weight in self._packed])
        largest = costs.largest + float(np.abs(packed).sum())
        if costs.factors.keys() <= set(PACKING_METRICS):
            decimal = decimal_factor(costs.node, packed, *costs.block, *edges)
            if decimal is not None and largest * decimal < FINE:
                return decimal
        for name, groups in self._paths.items():
            longest = [max((part.times.horizon for part in group), default=0.0) for group in groups]
            if name == "response_time_sum":
                longest = [groups[0][0].times.horizons_added]
            largest += abs(costs.factors[name]) * sum(longest)
        if "utilisation_max" in costs.factors:
            largest += abs(costs.factors["utilisation_max"]) * most_utilised(costs.placement)
        largest = min(largest, self._ceiling)
        largest += abs(costs.factors.get("bandwidth_max", 0.0))
        return FINE / max(largest, 1e-12)

    def _add_sums(self) -> None:
        model, costs = self._model, self._costs
        for block, weights in enumerate(costs.block):
            self._slack += rounding(weights, self.factor)
            whole = np.round(weights * self.factor).astype(np.int64).tolist()
            self._terms += [(v, c) for v, c in zip(model.x[block], whole, strict=True) if c]
        for number, matrix in enumerate(costs.edge):
            if matrix is not None:
                self._slack += rounding(matrix, self.factor)
                self._terms += model.pairs.cost_terms(number, matrix, self.factor)
        hosting = sorted({node for places in model.at for node in places})
        for node in hosting:
            if costs.node[node]:
                self._slack += rounding(costs.node[node : node + 1], self.factor)
                self._terms.append((model.used(node), round(costs.node[node] * self.factor)))
        if (costs.node[hosting] > 0).any() and not model.relaxable:
            model.cover()
        for variable, weight in self._packed:
            self._slack += rounding(np.array([weight]), self.factor)
            self._terms.append((variable, round(weight * self.factor)))

    def _packed_terms(self) -> list[tuple[Any, float]]:
        """What each container in use, and each pair in different containers, adds."""
        factors, terms = self._costs.factors, []
        for part in self._model.containers:
            if "containers_used" in factors:
                terms += [(used, factors["containers_used"]) for used in part.used]
            if "container_traffic" in factors:
                rates = (part.packing.rate * factors["container_traffic"]).tolist()
                terms += list(zip(part.split, rates, strict=True))
        return [(variable, min(weight, self._ceiling)) for variable, weight in terms]

    def _path_groups(self, name: str) -> list[list[_Paths]]:
        """Paths of which only the worst counts, group by group.

        These are those of all instances; for a sum, those of each application; after losses, of all losses.
        """
        if name == "failover_response_time":
            return [[_Paths.of_all(model, PathTimes(model.placement)) for model in self._model.after]]
        placement = self._costs.placement
        whole = _Paths.of_all(self._model, PathTimes(placement, loaded=name == "loaded_response_time"))
        if name != "response_time_sum":
            return [[whole]]
        owner, count = placement.graph.application_of, len(placement.setting.problem.applications)
        return [
            [replace(whole, numbers=[k for k in whole.numbers if owner[k] == number])]
            for number in range(count)
        ]

    def _add_path(self, factor: float, group: list[_Paths]) -> None:
        """The worst path, in units of the objective, so that no rounding comes between."""
        scale, most = factor * self.factor, self._ceiling / factor
        arrivals = [ArrivalTimes(part.model, part.times, scale, most, part.numbers) for part in group]
        if arrivals:
            worst = self._model.cp.new_int_var(0, max(part.horizon for part in arrivals), "")
            for end in (end for part in arrivals for end in part.ends()):
                self._model.cp.add(worst >= end)
            self._terms.append((worst, 1))
            self._slack += max(part.depth for part in arrivals)

    def _add_busiest(self, factor: float) -> None:
        """The highest utilisation of a node, and of a core by one instance."""
        placement, model = self._costs.placement, self._model
        loads, network, scale = placement.graph.load, placement.network, factor * self.factor
        highest = model.cp.new_int_var(0, int(min(scale * most_utilised(placement), FINE)) + 1000, "")
        at: dict[int, list[tuple[Any, int]]] = {}
        for block, numbers in enumerate(placement.blocks):
            nodes = placement.candidates[block]
            shares = loads[numbers].sum() / network.processors[nodes] * scale
            for node, variable, share in zip(nodes.tolist(), model.x[block], shares.tolist(), strict=True):
                at.setdefault(node, []).append((variable, round(share)))
            alone = np.round(loads[numbers].max() / network.speed[nodes] * scale).astype(np.int64)
            model.cp.add(highest >= cp_model.LinearExpr.weighted_sum(model.x[block], alone.tolist()))
        for terms in at.values():
            variables, shares = [v for v, _ in terms], [c for _, c in terms]
            model.cp.add(highest >= cp_model.LinearExpr.weighted_sum(variables, shares))
        self._terms.append((highest, 1))
        self._slack += 0.5 * len(placement.blocks) + 1.0

    def _add_fullest_link(self, factor: float) -> None:
        """The highest share of a link's bandwidth in use."""
        network = self._costs.placement.network
        bandwidth = network.table.physical_bandwidth
        scale = factor * self.factor
        highest = self._model.cp.new_int_var(0, int(scale) + 1000, "")
        for link, terms in self._model.pairs.crossings(bandwidth, share=0.0).items():
            there = float(bandwidth.ravel()[link])
            if there > 0:
                crossing = terms()
                shares = [min(round(rate / there * scale), int(scale) + 1000) for _, rate in crossing]
                load = cp_model.LinearExpr.weighted_sum([v for v, _ in crossing], shares)
                self._model.cp.add(highest >= load)
        self._terms.append((highest, 1))
        self._slack += 0.5 * len(self._costs.placement.edges) * 2
