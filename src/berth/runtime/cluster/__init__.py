"""A cluster of named nodes on this machine: a master of Spark, a worker for each node, and a keeper over all.

Names are loaded when they are asked for: a keeper, which imports this package too, stays small.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berth.runtime.cluster.running import (
        cluster_for,
        revive,
        running_clusters,
        stop_cluster,
        workers_of,
    )
    from berth.runtime.cluster.starting import start_cluster, temporary_cluster
    from berth.runtime.cluster.values import Cluster, ClusterNode, Worker

__all__ = [
    "Cluster",
    "ClusterNode",
    "Worker",
    "cluster_for",
    "revive",
    "running_clusters",
    "start_cluster",
    "stop_cluster",
    "temporary_cluster",
    "workers_of",
]

_HOMES = {
    "Cluster": "values",
    "ClusterNode": "values",
    "Worker": "values",
    "cluster_for": "running",
    "revive": "running",
    "running_clusters": "running",
    "start_cluster": "starting",
    "stop_cluster": "running",
    "temporary_cluster": "starting",
    "workers_of": "running",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'berth.runtime.cluster' has no attribute {name!r}")
    value = getattr(import_module(f"berth.runtime.cluster.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
