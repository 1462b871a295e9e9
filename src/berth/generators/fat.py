"""A source, many operators side by side and a sink (paper 000, section 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

from berth.generators.applications import streams_along
from berth.generators.generator import About
from berth.generators.uniform_operators import Uniform, UniformParameters
from berth.model import Stream


@dataclass(frozen=True)
class FatParameters(UniformParameters):
    """What users may set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.operators < 3:
            raise ValueError(f"operators: {self.operators} is below 3: ends, and one between them")


class Fat(Uniform):
    """A fan out and in: figure 8 isn't legible, but the paper's numbers of variables tell (erratum E0.5)."""

    about = About(
        name="fat",
        paper="000, section 7.3: scalability, fat applications",
        makes="a source, equal operators side by side and a sink on equal nodes",
    )
    parameters = FatParameters

    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """From the first to all between, and from these to the last."""
        source, *middle, sink = names
        return streams_along([(source, name) for name in middle] + [(name, sink) for name in middle])
