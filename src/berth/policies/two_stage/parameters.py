"""What users may set for every policy of two stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Literal

SecondStageName = Literal["best-fit", "exact", "mips"]


@dataclass(frozen=True)
class TwoStageParameters:
    """The second stage's own; any first stage goes with it."""

    second_stage: SecondStageName = field(
        default="best-fit", metadata={"help": "how containers get onto servers"}
    )
    limit: Literal["all", "nomad"] = field(
        default="all",
        metadata={"help": "best-fit: look at all servers, or at max(2, log2 of their number) drawn ones"},
    )
    samples: int = field(default=500, metadata={"help": "mips: roll-outs before each decision"})
    exploration: float = field(
        default=sqrt(2.0), metadata={"help": "mips: weight of what was tried seldom, omega"}
    )
    mode: Literal["corrected", "paper"] = field(
        default="corrected", metadata={"help": "mips: the search with its errata repaired, or as printed"}
    )

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples: {self.samples} is below 1")
        if not (self.exploration >= 0 and isfinite(self.exploration)):
            raise ValueError(f"exploration: {self.exploration} is not 0 or above")
