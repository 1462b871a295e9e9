"""What the workers of a problem's nodes offer, and whether this machine can do it."""

from __future__ import annotations

from collections import defaultdict

from berth.model import BadInput, Problem
from berth.runtime.cluster.values import ClusterNode
from berth.runtime.nodes import EXECUTOR_MB, resource_name, room_of

DAEMON_MB = 220
"""What a master or a worker takes, as seen with 8 workers."""

MOST_SLOTS = 1000
MOST_MEMORY_MB = 2**30


def cluster_nodes(problem: Problem) -> tuple[ClusterNode, ...]:
    """A node of a cluster for every node of the problem that hosts operators.

    Raises:
        BadInput: no node does, two would have the same resource, or one has more than Spark can count.
    """
    nodes = []
    mistakes = []
    for node in problem.network.nodes:
        if not node.hosts:
            continue
        room = room_of(node)
        if room.slots > MOST_SLOTS:
            mistakes.append(
                f"node {node.name}: a capacity of {room.slots:,} cpu means as many tasks at a time; "
                f"a worker can have {MOST_SLOTS:,} at most"
            )
        if room.memory_mb > MOST_MEMORY_MB:
            mistakes.append(
                f"node {node.name}: {room.memory_mb:,} MB of memory are more than Spark can count"
            )
        nodes.append(ClusterNode(node.name, room.slots, room.memory_mb))
    if not nodes:
        mistakes.append(
            f"problem {problem.name}: none of its nodes hosts operators, so there is no worker to start"
        )
    mistakes += _clashes(nodes)
    if mistakes:
        raise BadInput(mistakes)
    return tuple(nodes)


def check_memory(nodes: int, available_mb: int) -> None:
    """Make sure that the daemons and an executor on every node fit in here.

    Raises:
        BadInput: they don't.
    """
    needed = DAEMON_MB + nodes * (DAEMON_MB + EXECUTOR_MB)
    if needed > available_mb:
        raise BadInput(
            [
                f"{nodes} nodes with an executor each need about {needed:,} MB of memory, and this machine "
                f"has {available_mb:,} MB: take a problem with fewer nodes, or a larger machine"
            ]
        )


def _clashes(nodes: list[ClusterNode]) -> list[str]:
    users = defaultdict(list)
    for node in nodes:
        users[resource_name(node.name)].append(node.name)
    return [
        f"nodes {' and '.join(names)}: both would offer the resource {resource}; rename one of them"
        for resource, names in users.items()
        if len(names) > 1
    ]
