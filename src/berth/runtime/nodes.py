"""What a node of a problem is to Spark: a resource of its own, and room for so many tasks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from berth.model import Node

NODE_VARIABLE = "BERTH_NODE"
"""The environment variable of a worker, and of all that it starts, that has the node's name."""

EXECUTOR_MB = 512
"""An executor's memory where the problem says nothing; below about 450 MB Spark refuses to start one."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def resource_name(node: str) -> str:
    """The resource that only this node's worker offers: `node_rome`.

    Names of resources are parts of Spark's settings: a character that breaks those is written as its code.
    """
    return "node_" + _UNSAFE.sub(lambda found: f"_x{ord(found[0]):x}_", node)


@dataclass(frozen=True)
class Room:
    """What the worker of a node offers for operators: so many tasks at a time, so much memory."""

    slots: int
    memory_mb: int


def room_of(node: Node) -> Room:
    """The room that a capacity of `cpu` (or else `slots`) and `memory` means; enough for an executor."""
    slots = node.capacity.get("cpu", node.capacity.get("slots", 0.0))
    memory = node.capacity.get("memory", 0.0)
    return Room(slots=max(1, int(slots)), memory_mb=max(EXECUTOR_MB, int(memory / 2**20)))
