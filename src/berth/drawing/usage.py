"""How much of every node and every link a plan uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.amounts import quantity
from berth.evaluation import Situation
from berth.evaluation.limits import NetworkCard, Processor, shown_place_limits

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeUse:
    """What all nodes give of one thing, against what they have of it for operators."""

    label: str
    needed: FloatArray
    there: FloatArray
    allowed: FloatArray
    """What of it may be used: less than there is, where the problem has a `max_utilisation`."""
    shown: Callable[[float], str] | None
    """How an amount of it is written; None: only the share counts."""

    def fullness(self, node: int) -> float:
        """How much of what may be used is used; infinite where that is nothing and something is needed."""
        needed, allowed = float(self.needed[node]), float(self.allowed[node])
        return needed / allowed if allowed > 0.0 else math.inf if needed > 0.0 else 0.0


@dataclass(frozen=True)
class LinkUse:
    """What crosses a (physical) link."""

    sender: int
    receiver: int
    bytes_per_s: float
    complete: bool
    """False: a stream of unknown rate crosses it, too."""
    delay_ms: float
    """NaN: there is no link."""
    bandwidth: float
    both_ways: bool

    @property
    def share(self) -> float:
        """The part of the bandwidth in use; 0 where it is unlimited."""
        if self.bytes_per_s == 0.0:
            return 0.0
        return self.bytes_per_s / self.bandwidth if self.bandwidth > 0.0 else np.inf


def node_uses(situation: Situation) -> list[NodeUse]:
    """Every limit of nodes, processors among them; network cards where they are known."""
    uses = []
    for limit in shown_place_limits(situation.setting):
        used = limit.used(situation)
        if limit.of_nodes and (limit.matters or used.any()):
            shown = None if limit.only_share else quantity
            there = situation.network.processors if isinstance(limit, Processor) else limit.room
            uses.append(NodeUse(limit.picture_label or limit.label, used, there, limit.room, shown))
    cards = situation.network.nic_bytes_per_s
    if situation.rates_known and np.isfinite(cards).any():
        used = NetworkCard(situation.setting).used(situation)
        uses.append(NodeUse("card B/s", used, cards, cards, quantity))
    return uses


def busy_shares(situation: Situation) -> FloatArray:
    """By node, the share of its processors that is busy; 0 where nothing is known of it."""
    processors = situation.network.processors
    limits = shown_place_limits(situation.setting)
    used = next((limit.used(situation) for limit in limits if isinstance(limit, Processor)), None)
    return np.zeros(len(processors)) if used is None else used / processors


def link_uses(situation: Situation) -> list[LinkUse]:
    """The links in use, the busiest first: by the share of their bandwidth, then by rate."""
    network = situation.network
    links, loads = situation.link_loads
    uncounted = _links_of_unknown_rate(situation)
    uses = _unrouted(situation)
    for link, load, bandwidth in zip(
        links.tolist(), loads.tolist(), situation.link_bandwidth.tolist(), strict=True
    ):
        sender, receiver = divmod(link, len(network.nodes))
        delay = float(network.table.delay_ms[sender, receiver])
        both_ways = network.duplex == "half"
        uses.append(LinkUse(sender, receiver, load, link not in uncounted, delay, bandwidth, both_ways))
    return sorted(uses, key=lambda use: (-use.share, -use.bytes_per_s, use.sender, use.receiver))


def _links_of_unknown_rate(situation: Situation) -> set[int]:
    """The numbers of the links that a stream of unknown rate crosses, as in `link_loads`."""
    flows = situation.flows
    unknown = np.isnan(flows.rate)
    _, links = situation.network.table.physical_hops(flows.sender[unknown], flows.receiver[unknown])
    return set(links.tolist())


def _unrouted(situation: Situation) -> list[LinkUse]:
    """Where links are routed: what flows between nodes that no path of them connects."""
    table = situation.network.table
    if table.next_hop is None:
        return []
    rates: dict[tuple[int, int], list[float]] = {}
    for flows in (situation.flows, situation.downloads):
        pathless = table.next_hop[flows.sender, flows.receiver] < 0
        ends = zip(flows.sender[pathless].tolist(), flows.receiver[pathless].tolist(), strict=True)
        for pair, rate in zip(ends, flows.rate[pathless].tolist(), strict=True):
            rates.setdefault(pair, []).append(rate)
    return [
        LinkUse(*pair, float(np.nansum(amounts)), not np.isnan(amounts).any(), delay, np.inf, False)
        for pair, amounts in rates.items()
        for delay in [float(table.delay_ms[pair])]
    ]
