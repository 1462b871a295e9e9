"""What is minimised, in whole numbers that never promise more than the real amounts."""

from __future__ import annotations

from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from berth.evaluation.goal import Goal
from berth.evaluation.metrics import METRIC_BY_NAME, AdditiveMetric
from berth.exact.cpsat.whole import decimal_factor
from berth.exact.sharing.flows import crossing, link_loads
from berth.exact.sharing.highest import Terms
from berth.exact.sharing.model import SharingModel

FINEST = 2.0**52
"""Units of the largest possible objective, where decimals don't suffice."""


def covered(name: str) -> bool:
    """Whether a metric can be minimised in this model: any sum but availability, and the fullest link."""
    metric = METRIC_BY_NAME[name]
    return name == "bandwidth_max" or (isinstance(metric, AdditiveMetric) and not metric.product)


class SharingObjective:
    """A goal over covered metrics in a model; turns whole-number bounds into real ones."""

    def __init__(self, model: SharingModel, goal: Goal) -> None:
        self._model = model
        self._fullest = 0.0
        terms: Terms = []
        shares: list[tuple[Terms, float]] = []
        for name in goal.weights:
            factor = goal.coefficient(name)
            if name == "bandwidth_max":
                shares = _link_shares(model)
                self._fullest = factor
            else:
                terms += [(literal, factor * weight) for literal, weight in metric_terms(model, name)]
        self.factor = _factor(terms, shares, self._fullest)
        expression: Any = cp_model.LinearExpr.weighted_sum(
            [literal for literal, _ in terms], [self._units(weight) for _, weight in terms]
        )
        if shares:
            expression = expression + self._fullest_link(shares)
        model.cp.minimize(expression)
        self.over_nodes = all(METRIC_BY_NAME[name].needs_rates is False for name in goal.weights)
        """Whether no metric in it depends on what crosses the network."""

    def _units(self, weight: float) -> int:
        # Rounded down, so that the bound on whole numbers is one on the real objective; what is whole
        # but for the errors of floating point stays whole.
        scaled = weight * self.factor
        near = round(scaled)
        return near if abs(scaled - near) <= 1e-11 * max(1.0, abs(scaled)) and near < 2**40 else int(scaled)

    def _fullest_link(self, shares: list[tuple[Terms, float]]) -> Any:
        cp = self._model.cp
        most = max(sum(self._units(w * self._fullest / there) for _, w in terms) for terms, there in shares)
        fullest = cp.new_int_var(0, most, "")
        for terms, there in shares:
            units = [self._units(weight * self._fullest / there) for _, weight in terms]
            cp.add(cp_model.LinearExpr.weighted_sum([literal for literal, _ in terms], units) <= fullest)
        return fullest

    def real(self, bound: float) -> float:
        """A lower bound on the goal's costs from one on the whole-number objective."""
        return bound / self.factor


def _factor(terms: Terms, shares: list[tuple[Terms, float]], fullest: float) -> float:
    weights = [weight for _, weight in terms]
    if not shares:
        decimal = decimal_factor(np.array(weights, dtype=np.float64))
        if decimal is not None and sum(map(abs, weights)) * decimal < FINEST:
            return decimal
    largest = sum(map(abs, weights))
    largest += fullest * max((sum(w for _, w in terms) / there for terms, there in shares), default=0.0)
    return FINEST / largest if largest > 0 else 1.0


def metric_terms(model: SharingModel, name: str) -> Terms:
    """A metric that is a sum, as literals and what each adds."""
    metric = METRIC_BY_NAME[name]
    assert isinstance(metric, AdditiveMetric)
    shared, network = model.shared, model.shared.network
    if name == "processing_power":
        speed = network.speed
        return [
            (literal, busy / float(speed[key[1]]))
            for key in model.work.keys
            for literal, busy in model.work.terms(key)
        ]
    terms: Terms = []
    if metric.per_node is not None:
        weights = metric.per_node(network)
        terms += [(model.used(node), float(weights[node])) for node in range(len(network.nodes))]
    if metric.per_instance is not None:
        for number, places in enumerate(model.x):
            nodes = np.array(list(places), dtype=np.intp)
            added = metric.per_instance(shared.setting, np.full(len(nodes), number), nodes)
            terms += list(zip(places.values(), added.tolist(), strict=True))
    if metric.per_flow is not None:
        for amounts, key, sender, receiver in crossing(model, metric.downloads):
            each = float(metric.per_flow(network, np.array([sender]), np.array([receiver]))[0])
            terms += [(literal, rate * each) for literal, rate in amounts.terms(key)]
    return [(literal, weight) for literal, weight in terms if weight]


def _link_shares(model: SharingModel) -> list[tuple[Terms, float]]:
    """For every link of limited bandwidth, what may cross it and the bandwidth."""
    nodes, table = len(model.shared.network.nodes), model.shared.network.table
    found = []
    for link, loads in link_loads(model).items():
        there = float(table.physical_bandwidth[divmod(link, nodes)])
        terms = [term for amounts, key in loads for term in amounts.terms(key, 2.0 * there)]
        if 0 < there < np.inf and terms:
            found.append((terms, there))
    return found
