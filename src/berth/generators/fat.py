"""A source, many operators side by side and a sink (paper 000, section 7.3)."""

from __future__ import annotations

from berth.generators.applications import streams_along
from berth.generators.generator import About
from berth.generators.uniform_operators import Uniform
from berth.model import Stream


class Fat(Uniform):
    """A fan out and in: figure 8 isn't legible, but the paper's numbers of variables tell (erratum E0.5)."""

    about = About(
        name="fat",
        paper="000, section 7.3: scalability, fat applications",
        makes="a source, equal operators side by side and a sink on equal nodes",
    )

    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """From the first to all between, and from these to the last."""
        source, *middle, sink = names
        return streams_along([(source, name) for name in middle] + [(name, sink) for name in middle])
