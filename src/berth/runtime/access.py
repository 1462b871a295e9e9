"""The cluster that an application runs on: its master, and what its workers offer."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from berth.model import BadInput, Node, Problem
from berth.runtime.cluster import Cluster, Worker, workers_of
from berth.runtime.nodes import Room, resource_name, room_of

_DEFAULT_UI_PORT = 8080


@dataclass(frozen=True)
class Access:
    """Where a cluster's master is, and where it tells about its workers, if that is known."""

    master_url: str
    ui_url: str | None

    def workers(self) -> dict[str, Worker] | None:
        """The workers of nodes that are alive, by node; None where nobody tells."""
        if self.ui_url is None:
            return None
        return {worker.node: worker for worker in workers_of(self.ui_url) if worker.alive}


def access_to(cluster: Cluster) -> Access:
    """The way to a cluster that berth has started."""
    return Access(cluster.master_url, cluster.ui_url)


def access_by_url(master_url: str, ui_url: str | None = None) -> Access:
    """The way to somebody else's cluster; its page is looked for where Spark has it by default."""
    if ui_url is not None or not master_url.startswith("spark://"):
        return Access(master_url, ui_url)
    guess = f"http://{urlsplit(master_url).hostname}:{_DEFAULT_UI_PORT}"
    try:
        with urllib.request.urlopen(f"{guess}/json/", timeout=2) as answer:
            found = json.load(answer)
    except (OSError, ValueError):
        return Access(master_url, None)
    same = isinstance(found, dict) and found.get("url") == master_url
    return Access(master_url, guess if same else None)


def rooms_for(problem: Problem, workers: Mapping[str, Worker] | None) -> dict[str, Room]:
    """The tasks at a time for each node that hosts: by its capacity, and not more than its worker offers."""
    return {node.name: _room(node, workers) for node in problem.network.nodes if node.hosts}


def _room(node: Node, workers: Mapping[str, Worker] | None) -> Room:
    room = room_of(node)
    if workers is None:
        # one core is what every worker has
        return Room(1, room.memory_mb)
    worker = workers.get(node.name)
    if worker is None:
        return room
    # one core and one unit stay free for the driver's own jobs
    return Room(max(1, min(room.slots, worker.cores - 1, worker.slots - 1)), room.memory_mb)


def check_nodes(
    access: Access, nodes: Collection[str], workers: Mapping[str, Worker] | None, memory_mb: int
) -> None:
    """Refuse nodes that can't give an executor, before anything waits for one.

    Raises:
        BadInput: a line for each such node.
    """
    if workers is None:
        return
    mistakes = []
    for node in nodes:
        worker = workers.get(node)
        if worker is None:
            mistakes.append(
                f"node {node}: no worker at {access.master_url} offers {resource_name(node)!r}; start one as "
                "docs/cluster.md says, or plan without the node"
            )
        elif worker.memory_mb < memory_mb:
            mistakes.append(
                f"node {node}: its worker has {worker.memory_mb} MB, an executor needs {memory_mb} MB"
            )
    if mistakes:
        raise BadInput(mistakes)
