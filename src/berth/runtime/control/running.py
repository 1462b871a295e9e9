"""What the control loop needs of a running application; `berth.runtime.run.Run` is one."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from berth.model import Plan
from berth.runtime.migration import Migration
from berth.runtime.placement import Placement

RUNNING, NODE_LOST = "running", "node lost"
ENDS = ("finished", "failed", "stopped")
"""What a run says when it is over."""


class Running(Protocol):
    """An application that runs by a plan."""

    @property
    def placement(self) -> Placement:
        """Where everything is planned to run now."""
        ...

    @property
    def telemetry(self) -> Path:
        """The folder with the four feeds."""
        ...

    def dead_nodes(self) -> set[str]:
        """The nodes of the problem whose worker is gone, or that can't give an executor."""
        ...

    def apply(self, plan: Plan) -> Migration:
        """Stop, and start again by another plan on the same checkpoint; returns when it runs.

        Raises:
            BadInput: it can't run by that plan; it goes on by the one before.
            MigrationFailed: it doesn't run by that plan. It stands still then, and waits for another one.
        """
        ...

    def flush(self) -> None:
        """Write all telemetry that there is, for a reader who comes now."""
        ...

    def state_bytes(self) -> dict[str, float]:
        """The state of every operator, all its instances together."""
        ...

    def wait(self, seconds: float) -> str:
        """Let it run: `running` after so long, or earlier `node lost`, `finished`, `failed` or `stopped`."""
        ...
