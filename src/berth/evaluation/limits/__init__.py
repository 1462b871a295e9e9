"""Every limit of the contract, defined once: who needs how much of what, where, and how much there is.

A limit is one object. The judge lists what a plan exceeds, exact models and the search engine turn it into
inequalities, heuristics ask it for room, explanations and pictures show how full it is, and the messages
about clashing constraints are its words. There are three kinds:

- `PlaceLimit` (places.py): what the instances at a place need in sum. A place is a node, or all nodes that
  have one value of a label: capacities, processors, and the rules `apart` and `spread`.
- `FlowLimit` (network.py): what crosses the network: bandwidth, network cards, ports.
- `Requirement` (requirements.py): what an application asks of its response time and its availability.

A new limit of the first kind is a subclass of `PlaceLimit` and a line in `place_limits`: nothing else has
to learn of it.
"""

from __future__ import annotations

from typing import Any

from berth.evaluation.limits.limit import SAFE_TOLERANCE, TOLERANCE, Limit, More, Use, amount, exceeds
from berth.evaluation.limits.network import Bandwidth, FlowLimit, NetworkCard, Port, flow_limits
from berth.evaluation.limits.places import (
    BusyCore,
    Capacity,
    OneCore,
    PlaceLimit,
    Processor,
    Room,
    RuleLimit,
    keeps_up,
    one_core,
    place_limits,
    shown_place_limits,
)
from berth.evaluation.limits.requirements import LeastAvailability, LongestResponse, Requirement
from berth.evaluation.situation import Setting, Situation

__all__ = [
    "SAFE_TOLERANCE",
    "TOLERANCE",
    "Bandwidth",
    "Capacity",
    "FlowLimit",
    "LeastAvailability",
    "Limit",
    "LongestResponse",
    "More",
    "NetworkCard",
    "OneCore",
    "PlaceLimit",
    "Port",
    "Processor",
    "Requirement",
    "Room",
    "RuleLimit",
    "Use",
    "amount",
    "bottleneck",
    "bottleneck_document",
    "exceeded",
    "exceeds",
    "flow_limits",
    "growing_uses",
    "keeps_up",
    "limits_of",
    "one_core",
    "place_limits",
    "shown_place_limits",
    "uses",
]


def limits_of(setting: Setting) -> tuple[Limit, ...]:
    """Every limit of a problem."""
    requirements = LongestResponse(setting), LeastAvailability(setting)
    core = one_core(setting)
    cores = () if core is None else (core,)
    return *place_limits(setting), *cores, *flow_limits(setting), *requirements


def uses(situation: Situation) -> list[Use]:
    """What is needed of everything that has a limit, requirements included.

    Processors have one, too, where nobody asks that they keep up: then more than there is breaks nothing.
    """
    return [use for limit in _shown_limits(situation.setting) for use in limit.uses(situation)]


def _shown_limits(setting: Setting) -> tuple[Limit, ...]:
    limits = limits_of(setting)
    if setting.problem.network.max_utilisation is not None:
        return limits
    others = (limit for limit in limits if not isinstance(limit, PlaceLimit | OneCore))
    return *shown_place_limits(setting), BusyCore(setting), *others


def growing_uses(situation: Situation) -> list[Use]:
    """The same of what gets fuller with more load: no rules, and no requirements."""
    return [use for use in uses(situation) if use.of.grows and not isinstance(use.of, Requirement)]


def bottleneck(situation: Situation) -> Use | None:
    """The fullest of all: the first to exceed its limit if everything grew alike; None: nothing is used."""
    return max(growing_uses(situation), key=lambda use: use.share, default=None)


def exceeded(situation: Situation) -> list[Use]:
    """Every limit that is exceeded."""
    return [use for limit in limits_of(situation.setting) for use in limit.broken(situation)]


def bottleneck_document(situation: Situation) -> dict[str, Any]:
    """Both for JSON: `bottleneck` and `exceeded`."""
    fullest = bottleneck(situation)
    return {
        "bottleneck": None if fullest is None else fullest.document(),
        "exceeded": [use.document() for use in exceeded(situation)],
    }
