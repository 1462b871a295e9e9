"""How full everything is that has a limit: what is the bottleneck, and by how much limits are exceeded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from berth.evaluation.feasibility import amount, application_availability, exceeds, port_shares
from berth.evaluation.loads import card_loads, processor_loads, resource_loads
from berth.evaluation.situation import Situation


@dataclass(frozen=True)
class Use:
    """An amount against its limit."""

    kind: str
    """processor, capacity, card, sending port, receiving port, link; response time, availability."""
    name: str
    """The node, link or application."""
    needed: float
    limit: float
    unit: str
    way_out: str = ""
    """What would have to change, with a place for the amount that would suffice."""

    @property
    def share(self) -> float:
        """The share of the limit in use; infinite where there is nothing and something is needed."""
        if self.limit > 0:
            return self.needed / self.limit
        return math.inf if self.needed > 0 else 0.0

    @property
    def slack(self) -> float:
        """What is left; below 0 where the limit is exceeded."""
        return self.limit - self.needed

    @property
    def exceeded(self) -> bool:
        """Whether more is needed than there is, beyond the tolerance."""
        return exceeds(self.needed, self.limit)

    @property
    def advice(self) -> str:
        """What would fit more, or what would make it fit."""
        if self.exceeded:
            return self.way_out.format(amount(self.needed))
        if self.share > 0:
            more = f"{amount(self.slack)} {self.unit}".strip()
            return f"{more} more would fit ({amount(100 * (1 / self.share - 1))} % of what it has to bear)"
        return "nothing is used"

    def document(self) -> dict[str, str | float | None]:
        """The same for JSON; what is beyond all numbers is null."""
        amounts = {"used": self.needed, "limit": self.limit, "share": self.share, "slack": self.slack}
        finite = {name: value if math.isfinite(value) else None for name, value in amounts.items()}
        return {"kind": self.kind, "name": self.name, **finite, "unit": self.unit, "advice": self.advice}


def uses(situation: Situation) -> Iterator[Use]:
    """Everything that has a limit and is used, with how much of it."""
    yield from _processors(situation)
    yield from _capacities(situation)
    yield from _cards(situation)
    yield from _ports(situation)
    yield from _links(situation)


def bottleneck(situation: Situation) -> Use | None:
    """The fullest of all: the first to exceed its limit if everything grew alike; None: nothing is used."""
    return max(uses(situation), key=lambda use: use.share, default=None)


def exceeded(situation: Situation) -> list[Use]:
    """Every limit that is exceeded, requirements of the applications included."""
    found = [*uses(situation), *requirement_uses(situation)]
    return [use for use in found if use.exceeded]


def bottleneck_document(situation: Situation) -> dict[str, Any]:
    """Both for JSON: `bottleneck` and `exceeded`."""
    fullest = bottleneck(situation)
    return {
        "bottleneck": None if fullest is None else fullest.document(),
        "exceeded": [use.document() for use in exceeded(situation)],
    }


def _processors(situation: Situation) -> Iterator[Use]:
    busy, there = processor_loads(situation), situation.setting.processors
    for node in np.flatnonzero(busy > 0).tolist():
        item = situation.network.nodes[node]
        speed = f"a speed of {amount(item.speed * busy[node] / max(there[node], 1e-300))}"
        way_out = f"{speed} instead of {amount(item.speed)} would keep up"
        yield Use("processor", item.name, float(busy[node]), float(there[node]), "processors", way_out)


def _capacities(situation: Situation) -> Iterator[Use]:
    for resource, needed in resource_loads(situation).items():
        there = situation.setting.capacity(resource)
        for node in np.flatnonzero(needed > 0).tolist():
            name = f"{situation.network.nodes[node].name} {resource}"
            kept = " free of headroom" if situation.network.headroom else ""
            way_out = f"{resource} {{}}{kept} instead of {amount(there[node])} would suffice"
            yield Use("capacity", name, float(needed[node]), float(there[node]), resource, way_out)


def _cards(situation: Situation) -> Iterator[Use]:
    network = situation.network
    if not network.cards_bound:
        return
    total = card_loads(situation)
    for node in np.flatnonzero((total > 0) & np.isfinite(network.nic_bytes_per_s)).tolist():
        there = float(network.nic_bytes_per_s[node])
        way_out = f"a card of {{}} bytes/s instead of {amount(there)} would suffice"
        yield Use("card", network.nodes[node].name, float(total[node]), there, "bytes/s", way_out)


def _ports(situation: Situation) -> Iterator[Use]:
    if not situation.network.one_port:
        return
    for way, shares in zip(("sending", "receiving"), port_shares(situation), strict=True):
        for node in np.flatnonzero(shares > 0).tolist():
            wide = "links {} times as wide would suffice"
            way_out = wide if np.isfinite(shares[node]) else "a link of bandwidth 0 is used"
            name = situation.network.nodes[node].name
            yield Use(f"{way} port", name, float(shares[node]), 1.0, "of its links", way_out)


def _links(situation: Situation) -> Iterator[Use]:
    nodes = situation.network.nodes
    arrow = "<->" if situation.network.duplex == "half" else "->"
    for link, load, there in zip(*situation.link_loads, situation.link_bandwidth, strict=True):
        if load > 0 and np.isfinite(there):
            sender, receiver = divmod(int(link), len(nodes))
            name = f"{nodes[sender].name} {arrow} {nodes[receiver].name}"
            way_out = f"a bandwidth of {{}} bytes/s instead of {amount(there)} would suffice"
            yield Use("link", name, float(load), float(there), "bytes/s", way_out)


def requirement_uses(situation: Situation) -> Iterator[Use]:
    """What the applications require of response time and availability, where it can be judged."""
    if not situation.complete:
        return
    for number, application in enumerate(situation.problem.applications):
        latest, least = application.max_response_time_ms, application.min_availability
        if latest is not None and situation.finish_ms is not None:
            way_out = "{} ms would have to be allowed"
            slowest = float(situation.finish_ms[situation.belongs_to(number)].max(initial=0.0))
            yield Use("response time", application.name, slowest, latest, "ms", way_out)
        if least is not None and situation.linked:
            # Unavailability is what adds up, and what has a limit.
            missed = 1.0 - application_availability(situation, number)
            way_out = "an unavailability of {} would have to be allowed"
            yield Use("availability", application.name, missed, 1.0 - least, "unavailable share", way_out)
