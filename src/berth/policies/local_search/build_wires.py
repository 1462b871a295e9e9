"""What lies between nodes, as arrays for compiled code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from berth.evaluation.goal import Goal
from berth.evaluation.metrics import AVAILABILITY, METRIC_BY_NAME, AdditiveMetric
from berth.exact.costs import finite
from berth.model import BadInput, Network
from berth.model.pair_fields import PairField
from berth.policies.local_search.case import FloatArray, IndexArray, Marks

NEAR = 8
"""How many near nodes are known of each."""
AT_ONCE = 2_000_000
USUAL = {
    "traffic": (1.0, 0.0, 0.0),
    "bandwidth_sum": (1.0, 0.0, 0.0),
    "network_usage": (0.0, 1e-3, 0.0),
    "elastic_energy": (0.0, 0.0, 1e-6),
    "communication_cost": (0.0, 1.0, 0.0),
    "cost_per_hour": (0.0, 0.0, 0.0),
}
"""What a byte per second adds between nodes without an own link: at once, for a ms, for a ms squared."""


@dataclass(frozen=True)
class Parts:
    """Which parts are needed."""

    delay: bool
    availability: bool
    links: bool
    ports: bool


@dataclass(frozen=True, eq=False)
class Wires:
    """What lies between nodes: matrices, or coordinates and a few links where there are many nodes."""

    nodes: int
    dense: bool
    flow: FloatArray
    delay: FloatArray
    log_availability: FloatArray
    linked: Marks
    """Empty: all are."""
    bandwidth: FloatArray
    link_bandwidth: FloatArray
    next_hop: IndexArray
    """Empty: links are direct."""
    half_duplex: bool
    links: Links


@dataclass(frozen=True, eq=False)
class Links:
    """Links of their own between nodes without matrices, by sender and receiver; else empty."""

    first: IndexArray
    to: IndexArray
    flow: FloatArray
    delay: FloatArray
    log_availability: FloatArray
    positions: FloatArray
    heights: FloatArray
    usual: FloatArray


def flow_terms(goal: Goal) -> list[tuple[AdditiveMetric, float]]:
    """The metrics of a goal that count bytes, with their coefficients."""
    terms = []
    for name in goal.weights:
        metric, coefficient = METRIC_BY_NAME[name], goal.coefficient(name)
        if isinstance(metric, AdditiveMetric) and metric.per_flow is not None and coefficient != 0.0:
            terms.append((metric, coefficient))
    return terms


def wires_of(network: Network, goal: Goal, parts: Parts) -> Wires:
    """The network as far as it is needed."""
    return _scattered(network, goal, parts) if network.scattered else _dense(network, goal, parts)


def _dense(network: Network, goal: Goal, parts: Parts) -> Wires:
    table, size, terms = network.table, len(network.nodes), flow_terms(goal)
    no_matrix, none = np.zeros((0, 0)), np.zeros(0)
    connected = np.asarray(table.connected)
    flow = _over_pairs(size, lambda here, there: _flow(network, terms, here, there)) if terms else no_matrix
    no_links = Links(
        np.zeros(size + 1, np.int64), np.zeros(0, np.int64), none, none, none, no_matrix, none, np.zeros(3)
    )
    return Wires(
        nodes=size,
        dense=True,
        flow=flow,
        delay=np.ascontiguousarray(table.delay_ms) if parts.delay else no_matrix,
        log_availability=_over_pairs(size, lambda here, there: _log(network, here, there))
        if parts.availability
        else no_matrix,
        linked=np.zeros((0, 0), np.uint8) if connected.all() else connected.astype(np.uint8),
        bandwidth=np.ascontiguousarray(table.physical_bandwidth).ravel() if parts.links else none,
        link_bandwidth=np.ascontiguousarray(table.bandwidth_bytes_per_s).ravel() if parts.ports else none,
        next_hop=np.zeros((0, 0), np.int64) if table.next_hop is None else table.next_hop.astype(np.int64),
        half_duplex=table.half_duplex,
        links=no_links,
    )


def _over_pairs(size: int, weights: object) -> FloatArray:
    """A matrix from a function of senders and receivers, some rows at a time."""
    matrix, everyone = np.empty((size, size)), np.arange(size)
    for rows in np.array_split(everyone, max(1, size * size // AT_ONCE)):
        here, there = np.repeat(rows, size), np.tile(everyone, len(rows))
        matrix[rows] = weights(here, there).reshape(len(rows), size)  # type: ignore[operator]
    return matrix


def _flow(
    network: Network, terms: list[tuple[AdditiveMetric, float]], here: IndexArray, there: IndexArray
) -> FloatArray:
    total = np.zeros(len(here))
    for metric, coefficient in terms:
        assert metric.per_flow is not None
        total += coefficient * finite(metric.per_flow(network, here, there))
    return total


def _log(network: Network, here: IndexArray, there: IndexArray) -> FloatArray:
    assert AVAILABILITY.per_pair is not None
    return finite(AVAILABILITY.per_pair(network, here, there))


def _scattered(network: Network, goal: Goal, parts: Parts) -> Wires:
    table, size, terms = network.table, len(network.nodes), flow_terms(goal)
    fields = [table.delay_ms, table.availability, table.bandwidth_bytes_per_s, table.cost, table.price_per_gb]
    pairs = [np.zeros(0, np.intp)]
    for field in (*fields, table.physical_bandwidth):
        assert isinstance(field, PairField)
        senders, receivers, _ = field.entries
        pairs.append(senders * size + receivers)
    here, there = np.divmod(np.unique(np.concatenate(pairs)), size)
    usual = np.zeros(3)
    for metric, coefficient in terms:
        if metric.name not in USUAL:
            raise BadInput([f"objective.{metric.name}: search can't optimise it on so many nodes"])
        usual += coefficient * np.array(USUAL[metric.name])
    no_matrix, none = np.zeros((0, 0)), np.zeros(0)
    links = Links(
        first=np.searchsorted(here, np.arange(size + 1)).astype(np.int64),
        to=there.astype(np.int64),
        flow=_flow(network, terms, here, there),
        delay=np.asarray(table.delay_ms[here, there], dtype=np.float64),
        log_availability=_log(network, here, there) if parts.availability else none,
        positions=no_matrix if network.positions is None else network.positions,
        heights=network.heights,
        usual=usual,
    )
    return Wires(
        nodes=size,
        dense=False,
        flow=no_matrix,
        delay=no_matrix,
        log_availability=no_matrix,
        linked=np.zeros((0, 0), np.uint8),
        bandwidth=np.asarray(table.physical_bandwidth[here, there]) if parts.links else none,
        link_bandwidth=np.asarray(table.bandwidth_bytes_per_s[here, there]) if parts.ports else none,
        next_hop=np.zeros((0, 0), np.int64),
        half_duplex=table.half_duplex,
        links=links,
    )


def near_nodes(network: Network, wires: Wires) -> IndexArray:
    """Hosts near each node, by what a byte costs or else by delay; no columns where neither counts."""
    hosting = network.hosting
    count = min(NEAR, len(hosting) - 1)
    nowhere = np.zeros((wires.nodes, 0), np.int64)
    if count < 1:
        return nowhere
    if not wires.dense:
        return _near_places(network, count)
    matrix = wires.flow if len(wires.flow) else wires.delay
    if not len(matrix):
        return nowhere
    near = np.empty((wires.nodes, count), np.int64)
    for node in range(wires.nodes):
        cost = np.nan_to_num(matrix[node, hosting], nan=np.inf)
        cost[hosting == node] = np.inf
        near[node] = hosting[np.argpartition(cost, count - 1)[:count]]
    return near


def _near_places(network: Network, count: int) -> IndexArray:
    size, hosting = len(network.nodes), network.hosting
    if network.positions is None:
        return np.zeros((size, 0), np.int64)
    placed: NDArray[np.bool_] = np.asarray(np.isfinite(network.positions).all(axis=1))
    hosts = hosting[placed[hosting]]
    if len(hosts) <= count:
        return np.zeros((size, 0), np.int64)
    tree = cKDTree(network.positions[hosts])
    near = np.tile(hosts[:count], (size, 1)).astype(np.int64)
    _, found = tree.query(network.positions[placed], k=count + 1)
    near[placed] = hosts[found[:, 1:]]
    return near
