"""Requirements: what applications ask of their response time and availability."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.limits.limit import Limit, Use, amount, exceeds, nothing
from berth.evaluation.metrics import AVAILABILITY
from berth.evaluation.situation import Setting, Situation

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class Requirement(Limit):
    """What an application asks for; `place` is its number."""

    def __init__(self, setting: Setting) -> None:
        self.applications = setting.problem.applications

    def place_name(self, place: int) -> str:
        """The application's name."""
        return self.applications[place].name


class LongestResponse(Requirement):
    """`max_response_time_ms`."""

    kind, unit, family = "response time", "ms", "latency"

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """The applications that ask for it, where it can be known."""
        asking = [k for k, item in enumerate(self.applications) if item.max_response_time_ms is not None]
        if not asking or situation.response_times_ms is None:
            return nothing()
        latest = [self.applications[number].max_response_time_ms for number in asking]
        return np.array(asking), situation.response_times_ms[asking], np.array(latest, dtype=np.float64)

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        asked = f"at most {amount(use.limit)} ms asked"
        return f"application {use.name}: response time {amount(use.needed)} ms, {asked}"

    def asked(self, place: int, there: float) -> str:
        """What it asks for."""
        return f"application {self.place_name(place)}: response time at most {amount(there)} ms"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        return f"{amount(use.needed)} ms would have to be allowed"


class LeastAvailability(Requirement):
    """`min_availability`; as an amount, unavailability is what adds up and has a limit."""

    kind, unit, family = "availability", "unavailable share", "availability"

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """The applications that ask for it, where it can be known."""
        asking = [k for k, item in enumerate(self.applications) if item.min_availability is not None]
        if not asking or not situation.complete or not situation.linked:
            return nothing()
        missed = [1.0 - application_availability(situation, number) for number in asking]
        most = [1.0 - (self.applications[number].min_availability or 0.0) for number in asking]
        return np.array(asking), np.array(missed), np.array(most)

    def broken(self, situation: Situation) -> Iterator[Use]:
        """Where it is missed: the tolerance is one of availabilities."""
        for use in self.uses(situation):
            if exceeds(1.0 - use.limit, 1.0 - use.needed):
                yield use

    def violation(self, use: Use) -> str:
        """What the judge says where it is missed."""
        least = amount(self.applications[use.place].min_availability or 0.0)
        return f"application {use.name}: availability {amount(1.0 - use.needed)}, at least {least} asked"

    def asked(self, place: int, there: float) -> str:
        """What it asks for."""
        return f"application {self.place_name(place)}: availability at least {amount(there)}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        return f"an unavailability of {amount(use.needed)} would have to be allowed"


def application_availability(situation: Situation, application: int) -> float:
    """The availability of one application: its instances and the pairs between them."""
    assert AVAILABILITY.per_instance is not None
    assert AVAILABILITY.per_pair is not None
    inside = situation.belongs_to(application)
    numbers = np.flatnonzero(inside)
    total = AVAILABILITY.per_instance(situation.setting, numbers, situation.node_of[numbers]).sum()
    within = inside[situation.pairs.sender] & inside[situation.pairs.receiver]
    sender = situation.node_of[situation.pairs.sender[within]]
    receiver = situation.node_of[situation.pairs.receiver[within]]
    return float(np.exp(total + AVAILABILITY.per_pair(situation.network, sender, receiver).sum()))
