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
        default=5, metadata={"help": "near nodes whose delays are measured in one step of an operator"}
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
    max_events: int | None = field(
        default=None,
        metadata={"help": "give up after so many events; none: 2000, or 50 for each operator if more"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tolerance_ms > 0:
            raise ValueError(f"tolerance_ms: {self.tolerance_ms} is not above 0")
        if self.max_events is not None and self.max_events < 1:
            raise ValueError(f"max_events: {self.max_events} is below 1")


@dataclass(frozen=True)
class SbonParameters(SpaceParameters):
    """What users may set for sbon."""

    refine: bool = field(
        default=False, metadata={"help": "try near nodes by measured delays after the mapping"}
    )
    pace: float = field(
        default=0.1, metadata={"help": "step of an operator: this x its force / the highest sum of rates"}
    )
    force_threshold_ms: float = field(
        default=0.5, metadata={"help": "at rest when no force / the highest sum of rates is above this"}
    )
    max_rounds: int = field(default=5000, metadata={"help": "give up after so many rounds"})
    mapping: Literal["nearest", "least-loaded"] = field(
        default="nearest",
        metadata={"help": "the nearest node with room, or of the nearest ones that which hosts least"},
    )
    mapping_nodes: int = field(default=3, metadata={"help": "how many nearest ones, for least-loaded"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.pace < 1:
            raise ValueError(f"pace: {self.pace} is not above 0 and below 1, where springs come to rest")
        if not self.force_threshold_ms > 0:
            raise ValueError(f"force_threshold_ms: {self.force_threshold_ms} is not above 0")
        for name in ("max_rounds", "mapping_nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is below 1")
