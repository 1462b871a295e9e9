"""What a cluster is: a master's address, and nodes with room."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ClusterNode:
    """A node of a cluster on this machine: the room for operators, without what the driver's own jobs get."""

    name: str
    slots: int
    memory_mb: int


@dataclass(frozen=True)
class Cluster:
    """A cluster on this machine that was started by berth."""

    name: str
    master_url: str
    ui_url: str
    folder: Path
    nodes: tuple[ClusterNode, ...]
    temporary: bool = False
    """Whether it belongs to one command and ends with it."""

    @property
    def node_names(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return tuple(node.name for node in self.nodes)


@dataclass(frozen=True)
class Worker:
    """What a master says about the worker of a node; slots are units of the node's resource."""

    node: str
    alive: bool
    host: str
    port: int
    cores: int
    cores_used: int
    memory_mb: int
    memory_used_mb: int
    slots: int
    slots_used: int


@dataclass(frozen=True)
class RunningApplication:
    """An application of Spark that the master knows as running or waiting."""

    id: str
    name: str
    cores: int
    state: str
