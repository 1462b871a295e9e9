"""What a keeper is asked for, as the message that it gets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from berth.runtime.cluster.daemons import Spark
from berth.runtime.cluster.values import ClusterNode


@dataclass(frozen=True)
class Specification:
    """A cluster that is wanted."""

    name: str
    token: str
    port: int
    ui_port: int
    spark: Spark
    nodes: tuple[ClusterNode, ...]
    resources: dict[str, str]
    """The resource of every node."""
    spare_mb: int
    """What every worker has on top, for an executor of the driver's own jobs."""
    seconds: float
    """After so long the start has failed."""
    temporary: bool

    def message(self) -> dict[str, Any]:
        """As a message."""
        return asdict(self)


def specification_from(message: dict[str, Any]) -> Specification:
    """The specification that a message has."""
    nodes = tuple(ClusterNode(**node) for node in message["nodes"])
    return Specification(**message | {"nodes": nodes, "spark": Spark(**message["spark"])})
