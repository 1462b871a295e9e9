"""The clusters that run on this machine: which there are, who is up, stopping them, reviving a worker."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from berth.model import BadInput, Problem
from berth.model.errors import did_you_mean
from berth.processes import complaint_in
from berth.runtime.cluster.control import ask_keeper
from berth.runtime.cluster.page import MasterPage, ask_master
from berth.runtime.cluster.sizes import cluster_nodes
from berth.runtime.cluster.state import (
    all_endings,
    all_logs,
    all_states,
    clear,
    clear_ended,
    clusters_folder,
    locked,
    read_state,
    remove,
)
from berth.runtime.cluster.values import Cluster, Worker
from berth.runtime.nodes import resource_name

STOP_SECONDS = 20.0
REVIVE_SECONDS = 60.0
LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Ending:
    """A cluster that ended by itself, and where its logs are."""

    name: str
    reason: str
    logs: Path


def running_clusters() -> list[Cluster]:
    """The clusters of this user that run on this machine, by name; what crashed ones left is cleared."""
    if not clusters_folder().exists():
        return []
    with locked():
        clear_ended()
        return [state.cluster for state in all_states() if state.ready]


def endings() -> list[Ending]:
    """The clusters that ended by themselves, until another of their name is started or they are stopped."""
    return [Ending(folder.name, reason, folder / "logs") for folder, reason in all_endings().items()]


def forget_endings() -> None:
    """Remove the logs of clusters that ended by themselves, or never came up."""
    if not clusters_folder().exists():
        return
    with locked():
        for folder in all_logs():
            remove(folder)


def cluster_for(problem: Problem) -> Cluster | None:
    """A running cluster with a worker up, and enough slots, for every hosting node of the problem.

    Temporary ones belong to other commands, and are left out.
    """
    needed = {node.name: node.slots for node in cluster_nodes(problem)}
    for cluster in running_clusters():
        offered = {node.name: node.slots for node in cluster.nodes}
        if cluster.temporary or any(offered.get(name, 0) < slots for name, slots in needed.items()):
            continue
        try:
            page = page_of(cluster.ui_url, cluster.node_names)
        except BadInput:
            # it ends in this moment
            continue
        if needed.keys() <= page.alive:
            return cluster
    return None


def workers_of(ui_url: str, nodes: Iterable[str] = ()) -> list[Worker]:
    """The workers that offer nodes' resources, as the master at this address of its web page lists them.

    A worker that the master doesn't list is not there; one that it lists as anything but alive is not alive.
    Dead ones are left out once another worker of their node is alive.

    Args:
        ui_url: `http://host:port`.
        nodes: names of nodes, where they are known: other names are read from those of the resources.

    Raises:
        BadInput: the master doesn't answer.
    """
    return list(page_of(ui_url, nodes).workers)


def page_of(ui_url: str, nodes: Iterable[str] = ()) -> MasterPage:
    """The workers and applications that the master lists.

    Raises:
        BadInput: the master doesn't answer.
    """
    try:
        return ask_master(ui_url, {resource_name(node): node for node in nodes})
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except ValueError as error:
        reason = str(error)
    raise BadInput([f"the master's page {ui_url} doesn't answer: {reason}"])


def stop_cluster(cluster: Cluster) -> Path | None:
    """Stop a cluster, and wait until none of its processes is left; one that has ended is stopped already.

    Returns:
        Where its logs are, if something of it had failed.
    """
    state = read_state(cluster.folder)
    if state is not None and not state.is_elsewhere:
        state.keeper.send(signal.SIGTERM)
        if not state.keeper.wait_gone(STOP_SECONDS):
            state.keeper.send(signal.SIGKILL)
            state.keeper.wait_gone(STOP_SECONDS)
        with locked():
            if (left := read_state(cluster.folder)) is not None and left.token == state.token:
                clear(cluster.folder, left)
    logs = cluster.folder / "logs"
    return logs if logs.exists() and read_state(cluster.folder) is None else None


def revive(cluster: Cluster, node: str) -> None:
    """Start the worker of a node again, and wait until the master knows it.

    Raises:
        BadInput: there is no such node or cluster, the worker is up, or it doesn't start.
    """
    if node not in cluster.node_names:
        raise BadInput([f"cluster {cluster.name} has no node {did_you_mean(node, cluster.node_names)}"])
    if node in page_of(cluster.ui_url, cluster.node_names).alive:
        raise BadInput([f"node {node} is up: there is nothing to revive"])
    try:
        answer = ask_keeper(cluster.folder, {"do": "revive", "node": node})
    except (OSError, ValueError) as error:
        raise BadInput([f"cluster {cluster.name} doesn't run any more: {error}"]) from error
    if "error" in answer:
        raise BadInput([f"node {node}: {answer['error']}"])
    deadline = time.monotonic() + REVIVE_SECONDS
    while node not in page_of(cluster.ui_url, cluster.node_names).alive:
        state = read_state(cluster.folder)
        ended = state is None or node not in state.workers
        if ended or time.monotonic() > deadline:
            log = cluster.folder / "logs" / f"{resource_name(node)}.log"
            raise BadInput([f"the worker of node {node} doesn't start: {complaint_in(log)} (its log: {log})"])
        time.sleep(LOOK_SECONDS)
