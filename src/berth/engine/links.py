"""What nodes are, and what lies between them, as far as the engine needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.core import engine
from berth.evaluation.goal import Goal
from berth.evaluation.metrics import AVAILABILITY, METRIC_BY_NAME, AdditiveMetric
from berth.exact.costs import finite
from berth.model import BadInput, Network
from berth.model.pair_fields import PairField

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

NEAR = 8
"""How many near nodes are known of each."""
AT_ONCE = 2_000_000
"""Pairs of nodes that are looked at together, to save memory."""
NO_MATRIX = np.zeros((0, 0))
NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Parts:
    """What of the network counts."""

    flow: bool
    delay: bool
    availability: bool
    links: bool
    ports: bool
    cards: bool


def flow_terms(goal: Goal) -> list[tuple[AdditiveMetric, float]]:
    """The metrics of a goal that count bytes, with their coefficients."""
    terms = []
    for name in goal.weights:
        metric, coefficient = METRIC_BY_NAME[name], goal.coefficient(name)
        if isinstance(metric, AdditiveMetric) and metric.per_flow is not None and coefficient != 0.0:
            terms.append((metric, coefficient))
    return terms


def links_of(network: Network, goal: Goal, parts: Parts) -> tuple[engine.Links, IndexArray]:
    """What lies between nodes, and the hosts near each node."""
    return _scattered(network, goal, parts) if network.scattered else _dense(network, goal, parts)


def machines_of(network: Network, goal: Goal, near: IndexArray, parts: Parts) -> engine.Machines:
    """What nodes cost while in use, how fast and available they are, and what is near them."""
    cost = np.zeros(len(network.nodes))
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        if isinstance(metric, AdditiveMetric) and metric.per_node is not None:
            cost += goal.coefficient(name) * np.nan_to_num(metric.per_node(network), posinf=0.0)
    with np.errstate(divide="ignore"):
        log_availability = finite(np.log(network.availability))
    return engine.Machines(
        cost_of_use=cost,
        log_availability=log_availability,
        slowness=1.0 / network.speed.astype(np.float64),
        card_bytes_per_s=network.nic_bytes_per_s.astype(np.float64),
        run_queue=network.run_queue.astype(np.float64),
        near=near,
        cards_count=parts.cards,
    )


def _dense(network: Network, goal: Goal, parts: Parts) -> tuple[engine.Links, IndexArray]:
    table, size, terms = network.table, len(network.nodes), flow_terms(goal)
    flow = _over_pairs(size, lambda here, there: _flow(network, terms, here, there)) if terms else NO_MATRIX
    delay = np.ascontiguousarray(table.delay_ms) if parts.delay else NO_MATRIX
    log = NO_MATRIX
    if parts.availability:
        log = _over_pairs(size, lambda here, there: _log_availability(network, here, there))
    connected = np.asarray(table.connected)
    links = engine.Links.of_matrices(
        nodes=size,
        half_duplex=table.half_duplex,
        flow=flow,
        delay_ms=delay,
        log_availability=log,
        linked=np.zeros((0, 0), bool) if connected.all() else np.ascontiguousarray(connected),
        next_hop=np.zeros((0, 0), np.int64) if table.next_hop is None else table.next_hop.astype(np.int64),
        physical_bandwidth=np.ascontiguousarray(table.physical_bandwidth) if parts.links else NO_MATRIX,
        logical_bandwidth=np.ascontiguousarray(table.bandwidth_bytes_per_s) if parts.ports else NO_MATRIX,
    )
    return links, _near_by_matrix(network, flow if len(flow) else delay)


def _over_pairs(size: int, weights: Callable[[IndexArray, IndexArray], FloatArray]) -> FloatArray:
    """A matrix from a function of senders and receivers, some rows at a time."""
    matrix, everyone = np.empty((size, size)), np.arange(size)
    for rows in np.array_split(everyone, max(1, size * size // AT_ONCE)):
        here, there = np.repeat(rows, size), np.tile(everyone, len(rows))
        matrix[rows] = weights(here, there).reshape(len(rows), size)
    return matrix


def _flow(
    network: Network, terms: list[tuple[AdditiveMetric, float]], here: IndexArray, there: IndexArray
) -> FloatArray:
    total = np.zeros(len(here))
    for metric, coefficient in terms:
        assert metric.per_flow is not None
        total += coefficient * finite(metric.per_flow(network, here, there))
    return total


def _log_availability(network: Network, here: IndexArray, there: IndexArray) -> FloatArray:
    assert AVAILABILITY.per_pair is not None
    return finite(AVAILABILITY.per_pair(network, here, there))


def _scattered(network: Network, goal: Goal, parts: Parts) -> tuple[engine.Links, IndexArray]:
    """Coordinates, and the links that have anything of their own."""
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
        if metric.flow_by_delay is None:
            raise BadInput([f"objective.{metric.name}: search can't optimise it on so many nodes"])
        usual += coefficient * np.array(metric.flow_by_delay)

    def of_links(field: object, wanted: bool) -> FloatArray:
        assert isinstance(field, PairField)
        return np.asarray(field[here, there], dtype=np.float64) if wanted else NOTHING

    links = engine.Links.of_coordinates(
        nodes=size,
        half_duplex=table.half_duplex,
        positions=NO_MATRIX if network.positions is None else np.ascontiguousarray(network.positions),
        heights=network.heights,
        usual_flow=usual,
        first=np.searchsorted(here, np.arange(size + 1)).astype(np.int64),
        to=there.astype(np.int64),
        flow=_flow(network, terms, here, there),
        delay_ms=of_links(table.delay_ms, True),
        log_availability=_log_availability(network, here, there) if parts.availability else NOTHING,
        physical_bandwidth=of_links(table.physical_bandwidth, parts.links),
        logical_bandwidth=of_links(table.bandwidth_bytes_per_s, parts.ports),
        counts_flow=parts.flow,
        counts_physical=parts.links,
        one_port=parts.ports,
    )
    return links, _near_by_place(network)


def _near_by_matrix(network: Network, matrix: FloatArray) -> IndexArray:
    """Hosts near each node by what a byte costs, or else by delay; no columns where neither counts."""
    hosting, size = network.hosting, len(network.nodes)
    count = min(NEAR, len(hosting) - 1)
    if count < 1 or not len(matrix):
        return np.zeros((size, 0), np.int64)
    near = np.empty((size, count), np.int64)
    for node in range(size):
        cost = np.nan_to_num(matrix[node, hosting], nan=np.inf)
        cost[hosting == node] = np.inf
        near[node] = hosting[np.argpartition(cost, count - 1)[:count]]
    return near


def _near_by_place(network: Network) -> IndexArray:
    """Hosts near each node by coordinates; no columns where there are none."""
    from scipy.spatial import cKDTree  # only who has coordinates waits for it

    size, hosting = len(network.nodes), network.hosting
    count = min(NEAR, len(hosting) - 1)
    nowhere = np.zeros((size, 0), np.int64)
    if count < 1 or network.positions is None:
        return nowhere
    placed: NDArray[np.bool_] = np.asarray(np.isfinite(network.positions).all(axis=1))
    hosts = hosting[placed[hosting]]
    if len(hosts) <= count:
        return nowhere
    tree = cKDTree(network.positions[hosts])
    near = np.tile(hosts[:count], (size, 1)).astype(np.int64)
    _, found = tree.query(network.positions[placed], k=count + 1)
    near[placed] = hosts[found[:, 1:]]
    return near
