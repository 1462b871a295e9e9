"""A front: plans between the best for one metric and the best for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from berth.model.plan import Plan


@dataclass(frozen=True)
class FrontPoint:
    """A plan on a front."""

    values: tuple[float, float]
    """Of both metrics, as the judge has them."""
    proved: bool
    """Whether no plan is as good in both metrics and better in one."""
    plan: Plan
    knee: bool = False
    """Whether it is the one that is farthest from the line between both ends, on the better side of it."""


@dataclass(frozen=True)
class Front:
    """Plans none of which is as good as another in both metrics and better in one.

    They go from the best for the first metric to the best for the second one.
    """

    problem: str
    objectives: tuple[str, str]
    points: tuple[FrontPoint, ...]
    status: Literal["found", "infeasible", "unknown"]
    """Whether there are points; if not, whether it is proved that there is no plan."""
    complete: bool
    """Whether it is proved that there are no others."""
    reason: str | None
    """Why there are no points, or why the search for more has ended early."""
    seconds: float

    @property
    def knee(self) -> FrontPoint | None:
        """The point with the best of both, if there is one between the ends."""
        return next((point for point in self.points if point.knee), None)

    @property
    def warned(self) -> int:
        """How many points have a plan that is warned of something."""
        return sum(bool(point.plan.warnings) for point in self.points)

    @property
    def line(self) -> str:
        """How many points there are, and what is proved of them."""
        if not self.points:
            return "proved: there is no plan" if self.complete else "no points"
        count, proved = len(self.points), sum(point.proved for point in self.points)
        told = "1 point" if count == 1 else f"{count} points"
        if self.complete:
            return f"{told}, proved to be the whole front"
        if proved < count:
            return f"{told}, {proved or 'none'} of them proved to be on the front"
        return f"{told}, proved to be on the front; there may be others between them"
