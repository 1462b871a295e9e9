"""Running an application on Spark with every operator on its planned node.

`run` runs applications by a plan. `watch` also measures them, plans again and moves them. `describe` gives
what a problem file says of an application. `start_cluster` makes a cluster of named nodes on this machine.
What an application's own file needs is here, too: `Application` and `write_batch`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berth.runtime.application import Application, describe, write_batch
    from berth.runtime.cluster.access import running_clusters, stop_cluster
    from berth.runtime.cluster.starting import start_cluster, temporary_cluster
    from berth.runtime.control.options import WatchOptions
    from berth.runtime.control.watch import NoFirstPlan, WatchResult, watch
    from berth.runtime.control.watched_problem import load_watched
    from berth.runtime.loading import load_application
    from berth.runtime.observer import RunObserver
    from berth.runtime.runner import RunResult, run
    from berth.runtime.running import RunOptions

__all__ = [
    "Application",
    "NoFirstPlan",
    "RunObserver",
    "RunOptions",
    "RunResult",
    "WatchOptions",
    "WatchResult",
    "describe",
    "load_application",
    "load_watched",
    "run",
    "running_clusters",
    "start_cluster",
    "stop_cluster",
    "temporary_cluster",
    "watch",
    "write_batch",
]

_HOMES = {
    "Application": "application",
    "NoFirstPlan": "control.watch",
    "RunObserver": "observer",
    "RunOptions": "running",
    "RunResult": "runner",
    "WatchOptions": "control.options",
    "WatchResult": "control.watch",
    "describe": "application",
    "load_application": "loading",
    "load_watched": "control.watched_problem",
    "run": "runner",
    "running_clusters": "cluster.access",
    "start_cluster": "cluster.starting",
    "stop_cluster": "cluster.access",
    "temporary_cluster": "cluster.starting",
    "watch": "control.watch",
    "write_batch": "application",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: an application's file waits for nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'berth.runtime' has no attribute {name!r}")
    value = getattr(import_module(f"berth.runtime.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
