"""What there is to see of a network, whatever it is drawn with."""

from __future__ import annotations

import numpy as np

from berth.drawing.views import ApplicationView
from berth.evaluation import Situation
from berth.evaluation.critical import critical_path
from berth.model import Network, Problem
from berth.model.pair_fields import Known

MOST_NAMED = 40
"""With more nodes than this only those in use are named."""
MOST_CABLES = 250
DENSEST = 0.6
"""Cables are drawn where no more than this share of all pairs have one."""


def instances_by_node(situation: Situation | None) -> dict[int, list[int]]:
    """The instances that run on every node in use."""
    runs: dict[int, list[int]] = {}
    if situation is not None:
        for number in situation.running.tolist():
            runs.setdefault(int(situation.node_of[number]), []).append(number)
    return runs


def coloured_nodes(problem: Problem, situation: Situation | None, views: list[ApplicationView]) -> set[int]:
    """The nodes in use; without a plan all that host, or of many those that an operator is bound to."""
    if situation is not None:
        return set(situation.used_nodes.tolist())
    if len(problem.network.nodes) <= MOST_NAMED:
        return set(problem.network.hosting.tolist())
    return {node for view in views for operator in view.operators for node, _ in operator.hosts}


def critical_links(situation: Situation) -> set[tuple[int, int]]:
    """The (physical) links that the slowest path of all goes over."""
    nodes = situation.node_of[critical_path(situation)]
    _, links = situation.network.table.physical_hops(nodes[:-1], nodes[1:])
    size = len(situation.network.nodes)
    return {divmod(link, size) for link in links.tolist()}


def cables(network: Network) -> list[tuple[int, int]]:
    """The pairs of nodes with a (physical) link, unless there are too many to see anything."""
    table = network.table
    if isinstance(table.connected, Known):  # of thousands of nodes
        return []
    linked = table.connected.copy()
    if table.next_hop is not None:
        linked &= table.next_hop == np.arange(len(network.nodes))
    here, there = np.nonzero(np.triu(linked | linked.T, k=1))
    pairs = len(network.nodes) * (len(network.nodes) - 1) / 2
    if len(here) > min(MOST_CABLES, DENSEST * pairs):
        return []
    return list(zip(here.tolist(), there.tolist(), strict=True))
