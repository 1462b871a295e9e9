"""What users may set for the policies of the latency space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class SpaceParameters:
    """What all policies of the latency space have in common."""

    max_operators_per_host: int | None = field(
        default=None, metadata={"help": "unpinned operators that a node takes at most; none: no limit"}
    )
    refine_nodes: int = field(
        default=4, metadata={"help": "near nodes whose delays are measured in one step of an operator"}
    )
    refine_rounds: int = field(default=3, metadata={"help": "how often an operator may try again"})
    migration: Literal["lazy", "eager"] = field(
        default="lazy",
        metadata={"help": "count a migration once at the end, or at each change of host on the way"},
    )
    migration_threshold: float = field(
        default=0.0, metadata={"help": "leave the previous plan only if usage falls by more than this share"}
    )

    def __post_init__(self) -> None:
        if self.max_operators_per_host is not None and self.max_operators_per_host < 1:
            raise ValueError(f"max_operators_per_host: {self.max_operators_per_host} is below 1")
        for name in ("refine_nodes", "refine_rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is below 1")
        if not 0 <= self.migration_threshold < 1:
            raise ValueError(f"migration_threshold: {self.migration_threshold} is not from 0 to below 1")


@dataclass(frozen=True)
class MopaParameters(SpaceParameters):
    """What users may set for mopa."""

    refine: bool = field(
        default=True, metadata={"help": "try near nodes by measured delays after the mapping"}
    )
    mode: Literal["fixed", "paper"] = field(
        default="fixed",
        metadata={"help": "paper: the printed search for a place, which may not end; fixed: one that does"},
    )
    tolerance_ms: float = field(default=0.5, metadata={"help": "shorter ways in the space are not gone"})
    max_events: int = field(default=2000, metadata={"help": "give up after so many events"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tolerance_ms > 0:
            raise ValueError(f"tolerance_ms: {self.tolerance_ms} is not above 0")
        if self.max_events < 1:
            raise ValueError(f"max_events: {self.max_events} is below 1")
