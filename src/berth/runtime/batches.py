"""What is known of one batch of a running application once it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from berth.runtime.placement import Placement
from berth.runtime.reports import Report


@dataclass(frozen=True)
class Batch:
    """A batch that went through all operators, with the word of every task."""

    number: int
    began_ms: float
    """When its first rows were read, epoch milliseconds."""
    ended_ms: float
    """When the last sink had written it."""
    placement: Placement
    reports: tuple[Report, ...]
    run_ms: Mapping[int, float]
    """For every stage the time that its tasks took, all together, waits of an emulated network included."""
    state_bytes: Mapping[str, float]
    """The state that operators keep, as far as it is known."""
