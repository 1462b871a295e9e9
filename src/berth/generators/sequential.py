"""Operators in a row (paper 000, section 7.3)."""

from __future__ import annotations

from berth.generators.applications import in_a_row
from berth.generators.generator import About
from berth.generators.uniform_operators import Uniform
from berth.model import Stream


class Sequential(Uniform):
    """A pipeline."""

    about = About(
        name="sequential",
        paper="000, section 7.3: scalability, sequential applications",
        makes="equal operators in a row on equal nodes",
    )

    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """From each to the next."""
        return in_a_row(names)
