"""What can be set when coordinates are computed."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_DIMENSIONS = 16
ALL_PAIRS = 250_000
"""Up to so many measured pairs (all of 700 nodes) all are used unless a number of neighbours is given."""
NEIGHBOURS = 32


@dataclass(frozen=True)
class VivaldiOptions:
    """Vivaldi's parameters; a value out of range is a ValueError that begins with the option's name."""

    dimensions: int = field(default=3, metadata={"help": "dimensions of the space"})
    height: bool = field(default=False, metadata={"help": "whether nodes have heights (access links), too"})
    neighbours: int | None = field(
        default=None, metadata={"help": "most neighbours of a node; none: all while they are few, then 32"}
    )
    c_c: float = field(default=0.25, metadata={"help": "share of a sample's error that a node moves by"})
    c_e: float = field(default=0.25, metadata={"help": "share of a sample that enters a node's own error"})
    rounds: int = field(default=300, metadata={"help": "most passes over all samples, of each step"})
    refine: bool = field(
        default=True,
        metadata={
            "help": "start with more dimensions, minimise absolute errors afterwards; false: Vivaldi alone"
        },
    )
    starts: int | None = field(
        default=None,
        metadata={"help": "how often to start anew, the best is taken; none: more for few nodes"},
    )

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= MOST_DIMENSIONS:
            raise ValueError(f"dimensions: {self.dimensions} is not in 1 to {MOST_DIMENSIONS}")
        for name in ("neighbours", "rounds", "starts"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}: {value} is below 1")
        for name in ("c_c", "c_e"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not above 0 and at most 1")

    def neighbours_for(self, pairs: int) -> int | None:
        """The most neighbours of a node; None: all of them."""
        if self.neighbours is None and pairs > ALL_PAIRS:
            return NEIGHBOURS
        return self.neighbours

    def starts_for(self, samples: int) -> int:
        """How often to start: few samples are cheap, and the fewer there are the more often they mislead."""
        if self.starts is not None:
            return self.starts
        return max(1, min(8, 20_000 // max(samples, 1)))
