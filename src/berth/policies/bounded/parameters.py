"""What users may set for `latency-bound`."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from berth.policies.bounded.candidates import Strategy


@dataclass(frozen=True)
class LatencyBoundParameters:
    """What users may set."""

    bound_ms: float | None = field(
        default=None,
        metadata={"help": "the bound R of every application; none: each one's max_response_time_ms"},
    )
    candidates: Strategy = field(
        default="cknn",
        metadata={
            "help": "hosts asked: all in the ellipse, the k nearest, k at random, the k nearest useful"
        },
    )
    k: int = field(default=5, metadata={"help": "size of a candidate set, but for el"})
    stale: float = field(
        default=0.0,
        metadata={"help": "placements of other applications for each host contacted that are not heard of"},
    )
    restarts: int = field(
        default=3,
        metadata={"help": "how often a bound above 0 gets new candidates once these are used up"},
    )
    rounds: int = field(
        default=3, metadata={"help": "how often applications are looked at again that later ones slowed down"}
    )
    refine: bool = field(
        default=True, metadata={"help": "MOPA's mapping tries near nodes by measured delays first"}
    )
    neighbours: bool = field(
        default=True,
        metadata={"help": "hosts of an operator's neighbours on the path are candidates without a contact"},
    )
    mode: Literal["fixed", "paper"] = field(
        default="fixed", metadata={"help": "paper: candidates are judged once, when their list is made"}
    )

    def __post_init__(self) -> None:
        if self.bound_ms is not None and not (self.bound_ms >= 0 and isfinite(self.bound_ms)):
            raise ValueError(f"bound_ms: {self.bound_ms} is not 0 or above")
        if self.k < 1:
            raise ValueError(f"k: {self.k} is below 1")
        if not (self.stale >= 0 and isfinite(self.stale)):
            raise ValueError(f"stale: {self.stale} is not 0 or above")
        for name in ("restarts", "rounds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: {getattr(self, name)} is below 0")
