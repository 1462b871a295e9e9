"""What happened when a running application got a new plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Migration:
    """One move from a plan to the next on the same checkpoint."""

    moved: Mapping[str, tuple[str, str]]
    """For every instance that changed its node, the nodes before and after."""
    pause_seconds: float
    """From stopping until the first batch by the new plan was done."""
    state_bytes: float
    """The state of the operators that moved."""


class MigrationFailed(Exception):  # noqa: N818
    """An application could not go on by a new plan; its checkpoint is whole, so another one may be tried."""
