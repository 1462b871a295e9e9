"""What a limit is, and an amount held against it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.amounts import in_unit, percentage, quantity
from berth.evaluation.situation import Situation
from berth.model import Problem

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

TOLERANCE = 1e-9
"""Amounts are compared with this relative tolerance."""
SAFE_TOLERANCE = 0.9e-9
"""What is used of it by whoever adds up in another order than the judge."""


def exceeds(needed: float, there: float) -> bool:
    """Whether an amount is more than what is there, beyond the tolerance."""
    return needed > there and not math.isclose(needed, there, rel_tol=TOLERANCE)


def amount(value: float) -> str:
    """A number in a message: 5, 0.75, 5.00001, 125M."""
    return f"{value:.6g}" if abs(value) < 1e6 else quantity(value)


@dataclass(frozen=True)
class Use:
    """An amount against its limit."""

    kind: str
    """processor, capacity, rule, card, sending port, receiving port, link; response time, availability."""
    name: str
    """The node, link, rule or application."""
    needed: float
    limit: float
    unit: str
    of: Limit = field(compare=False)
    place: int = field(compare=False)

    @property
    def share(self) -> float:
        """The share of the limit in use; infinite where there is nothing and something is needed."""
        if self.limit > 0:
            return self.needed / self.limit
        return math.inf if self.needed > 0 else 0.0

    @property
    def slack(self) -> float:
        """What is left; below 0 where the limit is exceeded, and 0 where only rounding says so."""
        left = self.limit - self.needed
        return left if abs(left) > TOLERANCE * self.limit else 0.0

    @property
    def exceeded(self) -> bool:
        """Whether more is needed than there is, beyond the tolerance."""
        return exceeds(self.needed, self.limit)

    @property
    def node(self) -> int | None:
        """The number of the node whose limit it is; None for links, labels, rules and requirements."""
        return self.place if self.of.of_nodes else None

    @property
    def advice(self) -> str:
        """What would fit more, or what would make it fit."""
        if self.exceeded:
            return self.of.way_out(self)
        if self.share > 0:
            more = in_unit(self.slack, self.unit)
            return f"{more} more would fit ({percentage(1 / self.share - 1)} of the current load)"
        return "nothing is used"

    @property
    def line(self) -> str:
        """What the judge says of it where it is exceeded."""
        return self.of.violation(self)

    def document(self) -> dict[str, str | float | None]:
        """The same for JSON; what is beyond all numbers is null."""
        amounts = {"used": self.needed, "limit": self.limit, "share": self.share, "slack": self.slack}
        finite = {name: value if math.isfinite(value) else None for name, value in amounts.items()}
        return {"kind": self.kind, "name": self.name, **finite, "unit": self.unit, "advice": self.advice}


@dataclass(frozen=True)
class More:
    """A problem with more of something that has a limit."""

    kind: str
    """bandwidth, capacity, speed, card."""
    words: str
    problem: Problem


class Limit(ABC):
    """What is needed in some places, against what there is."""

    kind: str
    unit: str
    of_nodes = False
    """Whether its places are nodes."""
    grows = True
    """Whether more load uses more of it; rules count instances, whatever their load."""

    @abstractmethod
    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """The places where anything is needed, how much, and how much is there."""

    @abstractmethod
    def place_name(self, place: int) -> str:
        """A place in words, with what is limited there."""

    @abstractmethod
    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""

    @abstractmethod
    def way_out(self, use: Use) -> str:
        """What would make it fit."""

    def use(self, place: int, needed: float, there: float) -> Use:
        """One place's amount against what is there."""
        return Use(self.kind, self.place_name(place), needed, there, self.unit, self, place)

    def uses(self, situation: Situation) -> Iterator[Use]:
        """What is needed in every place that has a limit."""
        places, needed, there = self.amounts(situation)
        for position in np.flatnonzero(np.isfinite(there)).tolist():
            yield self.use(int(places[position]), float(needed[position]), float(there[position]))

    def broken(self, situation: Situation) -> Iterator[Use]:
        """Where it is exceeded, by the judge's tolerance."""
        places, needed, there = self.amounts(situation)
        for position in np.flatnonzero(needed > there).tolist():
            found = self.use(int(places[position]), float(needed[position]), float(there[position]))
            if found.exceeded:
                yield found

    def raised(self, problem: Problem, use: Use) -> Problem | None:
        """The problem with this limit as high as what is needed; None where it can't be raised."""
        return None

    def more(self, problem: Problem, use: Use) -> More | None:
        """The problem with sensibly more of it; None where more can't be had."""
        return None


def against(use: Use, shown: Callable[[float], str] = amount) -> str:
    """What is needed and what is there, in words: always two different numbers."""
    needed, there = shown(use.needed), shown(use.limit)
    if needed == there:
        needed, there = f"{use.needed:.12g}", f"{use.limit:.12g}"
    return f"{needed} needed, {there} there"


def nothing() -> tuple[IndexArray, FloatArray, FloatArray]:
    """No places: nothing is needed anywhere, or it can't be known."""
    return np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0)
