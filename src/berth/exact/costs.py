"""An objective as costs of choices, from the same weights that evaluation uses.

A cost is what placing a block somewhere, two blocks somewhere, or using a node adds to the objective.
What is no such sum (worst paths, the fullest link, a product in a raw sum) is kept as a factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import SMALLEST_AVAILABILITY, Goal
from berth.evaluation.metrics import AVAILABILITY, METRIC_BY_NAME, AdditiveMetric
from berth.exact.packing import PACKING_METRICS, most_packed
from berth.exact.placement import Edge, Placement
from berth.model import BadInput, Network

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

FACTORS = (
    "response_time",
    "response_time_sum",
    "loaded_response_time",
    "failover_response_time",
    "bandwidth_max",
    "utilisation_max",
    *PACKING_METRICS,
)
"""Metrics that are no sums but have a term of their own in the exact model."""
MOST_PAIRS = 100_000_000
"""Pairs of nodes beyond which no bound is looked for: it would take minutes."""
AT_ONCE = 4_000_000
"""So many of them are looked at together, to save memory."""


@dataclass(eq=False)
class Costs:
    """What is to be minimised, over a placement's blocks and edges."""

    placement: Placement
    block: list[FloatArray]
    """For each block, the cost of each of its candidates."""
    edge: list[FloatArray | None]
    """For each edge, the cost of each combination of candidates; None: nothing."""
    node: FloatArray
    """The cost of each node that hosts anything."""
    factors: dict[str, float] = field(default_factory=dict)
    """Factors of the metrics in `FACTORS`, and of a raw `availability`."""

    @classmethod
    def none(cls, placement: Placement) -> Costs:
        """No costs at all."""
        return cls(
            placement,
            [np.zeros(len(nodes)) for nodes in placement.candidates],
            [None] * len(placement.edges),
            np.zeros(len(placement.network.nodes)),
        )

    def copy(self) -> Costs:
        """Costs to change without changing these."""
        return Costs(self.placement, list(self.block), list(self.edge), self.node.copy(), dict(self.factors))

    @property
    def nonnegative(self) -> bool:
        """Whether nothing can lower the sum again."""
        parts = [*self.block, *(part for part in self.edge if part is not None), self.node]
        return all(part.min(initial=0.0) >= 0 for part in parts) and all(
            f >= 0 for f in self.factors.values()
        )

    def capped(self, ceiling: float) -> Costs:
        """The same costs, none of them above a ceiling."""
        if np.isinf(ceiling):
            return self
        edges = [None if part is None else np.minimum(part, ceiling) for part in self.edge]
        blocks = [np.minimum(part, ceiling) for part in self.block]
        return Costs(self.placement, blocks, edges, np.minimum(self.node, ceiling), self.factors)

    def at(self, solution: IndexArray) -> float:
        """The sum of block and edge costs of a solution: the nodes of the blocks come first in it."""
        candidates = self.placement.candidates
        nodes = solution[: len(candidates)].tolist()
        chosen = [int(np.searchsorted(each, node)) for each, node in zip(candidates, nodes, strict=True)]
        blocks = sum(float(costs[place]) for costs, place in zip(self.block, chosen, strict=True))
        return blocks + sum(
            float(costs[chosen[edge.first], chosen[edge.second]])
            for edge, costs in zip(self.placement.edges, self.edge, strict=True)
            if costs is not None
        )

    @property
    def largest(self) -> float:
        """No sum of block, edge and node costs is beyond this, either way."""
        blocks = sum(float(np.abs(costs).max(initial=0.0)) for costs in self.block)
        edges = sum(float(np.abs(costs).max(initial=0.0)) for costs in self.edge if costs is not None)
        return blocks + edges + float(np.abs(self.node).sum())


def costs_of(goal: Goal, placement: Placement) -> Costs:
    """The goal's costs; constants of a normalised sum are left out."""
    costs = Costs.none(placement)
    for name in goal.weights:
        coefficient = goal.coefficient(name)
        metric = METRIC_BY_NAME[name]
        if coefficient == 0.0:
            continue
        if name in PACKING_METRICS and not placement.packings:
            raise BadInput([f"objective.{name}: it can't be optimised where nothing is put into containers"])
        if _is_factor(goal, name):
            costs.factors[name] = coefficient
        elif isinstance(metric, AdditiveMetric):
            add_metric(costs, metric, coefficient)
        else:
            raise BadInput([f"objective.{name}: exact policies can't optimise it"])
    return costs


def with_chord(costs: Costs, low: float, high: float) -> tuple[Costs, float]:
    """Costs with a chord in place of an availability A = exp(-U), and the constant that they lack then.

    -A is concave in U: a chord over an interval of U lies below it inside and above it outside.
    """
    factor = -costs.factors.get("availability", 0.0)
    if factor == 0.0:
        return costs, 0.0
    slope = factor * float(np.exp(-low) - np.exp(-high)) / (high - low)
    linear = costs.copy()
    del linear.factors["availability"]
    add_metric(linear, AVAILABILITY, -slope)
    return linear, -factor * float(np.exp(-low)) - slope * low


def _is_factor(goal: Goal, name: str) -> bool:
    """Whether a metric is a term of its own: no sum, or the product itself in a raw sum."""
    if name == "availability":
        return goal.scale == "raw" and goal.single is None
    return name in FACTORS


def least_costs(goal: Goal, placement: Placement) -> float:
    """A lower bound on the costs without any matrix of an edge: every part at its least, by itself.

    Minus infinity where there are too many nodes to look at every two of them.
    """
    network, total = placement.network, 0.0
    nodes = np.unique(np.concatenate(placement.candidates))
    for name in goal.weights:
        metric, coefficient = METRIC_BY_NAME[name], goal.coefficient(name)
        if _is_factor(goal, name):
            # None of these is below 0, and an availability in a raw sum is at most 1.
            most = most_packed(placement.packings, name) if name in PACKING_METRICS else 1.0
            total += min(coefficient, 0.0) * most
            continue
        assert isinstance(metric, AdditiveMetric)
        if metric.per_instance is not None:
            costs = Costs.none(placement)
            _add_instances(costs, metric, coefficient)
            total += sum(float(part.min()) for part in costs.block)
        if metric.per_flow is not None:
            rate = float(placement.rate.sum())
            total += rate * _least_weight(network, metric.per_flow, nodes, coefficient) if rate else 0.0
        if metric.per_pair is not None:
            pairs = len(placement.graph.pair_sender)
            total += pairs * _least_weight(network, metric.per_pair, nodes, coefficient) if pairs else 0.0
        if metric.per_node is not None:
            total += float(np.minimum(coefficient * metric.per_node(network)[nodes], 0.0).sum())
    return total


def least_without_a_model(goal: Goal, placement: Placement) -> float:
    """A lower bound on the costs that is seen at once: the cheapest nodes that have room for everything.

    It is for goals that nothing can lower again; minus infinity for others.
    """
    if any(goal.coefficient(name) < 0 or METRIC_BY_NAME[name].maximise for name in goal.weights):
        return -np.inf
    price = np.zeros(len(placement.network.nodes))
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        if isinstance(metric, AdditiveMetric) and metric.per_node is not None:
            price += goal.coefficient(name) * np.nan_to_num(metric.per_node(placement.network), posinf=0.0)
    nodes = np.unique(np.concatenate(placement.candidates))
    if not price[nodes].any():
        return 0.0
    covers = [
        _cheapest_cover(price[nodes], item.room_at(nodes), float(item.needed.sum()))
        for item in placement.limits
        if item.of.of_nodes
    ]
    return max(covers, default=float(price[nodes].min()))


def _cheapest_cover(price: FloatArray, room: FloatArray, needed: float) -> float:
    """The least price of nodes, parts of them included, that have so much room together."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(room > 0, price / room, np.inf), kind="stable")
    left, total = needed * (1.0 - 1e-9), 0.0
    for node in order.tolist():
        if left <= 0 or room[node] <= 0:
            break
        total += price[node] * min(1.0, left / room[node])
        left -= room[node]
    # of equal prices, no part of a node can be had
    return (
        float(np.ceil(total / price[0] - 1e-9) * price[0])
        if price[0] > 0 and (price == price[0]).all()
        else total
    )


def _least_weight(
    network: Network,
    weight: Callable[[Network, IndexArray, IndexArray], FloatArray],
    nodes: IndexArray,
    coefficient: float,
) -> float:
    """The least that a pair of nodes can add, one block of senders after the other."""
    if len(nodes) ** 2 > MOST_PAIRS:
        return -np.inf
    least = np.inf
    for part in np.array_split(nodes, -(-(len(nodes) ** 2) // AT_ONCE)):
        here, there = np.repeat(part, len(nodes)), np.tile(nodes, len(part))
        least = min(least, float((coefficient * finite(weight(network, here, there))).min(initial=np.inf)))
    return least


def add_metric(costs: Costs, metric: AdditiveMetric, coefficient: float) -> None:
    """Add a metric's weights, times a coefficient."""
    placement = costs.placement
    network = placement.network
    if metric.per_instance is not None:
        _add_instances(costs, metric, coefficient)
    if metric.per_node is not None:
        costs.node += coefficient * metric.per_node(network)
    if metric.per_pair is None and metric.per_flow is None:
        return
    for number, edge in enumerate(placement.edges):
        added = coefficient * edge_weights(placement, edge, metric)
        known = costs.edge[number]
        costs.edge[number] = added if known is None else known + added


def edge_weights(placement: Placement, edge: Edge, metric: AdditiveMetric) -> FloatArray:
    """What a metric adds for each combination of the candidates of an edge's blocks."""
    here, there = placement.grid(edge.first, edge.second)
    total = np.zeros(here.shape)
    for pairs, forward in edge.directions():
        ends = (here.ravel(), there.ravel()) if forward else (there.ravel(), here.ravel())
        weight = np.zeros(here.size)
        if metric.per_flow is not None:
            weight += float(placement.rate[pairs].sum()) * metric.per_flow(placement.network, *ends)
        if metric.per_pair is not None:
            weight += len(pairs) * metric.per_pair(placement.network, *ends)
        total += finite(weight).reshape(here.shape)
    return total


def finite(weights: FloatArray) -> FloatArray:
    """Weights with what can't occur (no link) as 0 and the logarithm of 0 as that of hardly anything."""
    return np.nan_to_num(weights, nan=0.0, neginf=np.log(SMALLEST_AVAILABILITY))


def _add_instances(costs: Costs, metric: AdditiveMetric, coefficient: float) -> None:
    placement = costs.placement
    assert metric.per_instance is not None
    numbers = [number for block in placement.blocks for number in block]
    nodes = [placement.candidates[placement.block_of[number]] for number in numbers]
    sizes = [len(candidates) for candidates in nodes]
    weights = finite(
        metric.per_instance(
            placement.setting, np.repeat(numbers, sizes).astype(np.intp), np.concatenate(nodes)
        )
    )
    for number, part in zip(numbers, np.split(weights, np.cumsum(sizes)[:-1]), strict=True):
        block = placement.block_of[number]
        costs.block[block] = costs.block[block] + coefficient * part
