"""Limits of the network: what crosses links, network cards and ports."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.amounts import byte_rate
from berth.evaluation.limits.limit import Limit, More, Use, against, amount, nothing
from berth.evaluation.situation import Flows, Setting, Situation
from berth.model import Problem

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class Bandwidth(Limit):
    """What crosses each (physical) link, against its bandwidth (000, eq. 17; 004, constraint 4)."""

    kind, unit, family = "link", "bytes/s", "bandwidth"

    def __init__(self, setting: Setting) -> None:
        self.network = setting.problem.network

    @cached_property
    def arrow(self) -> str:
        """Half duplex: both directions share a link."""
        return "<->" if self.network.duplex == "half" else "->"

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Links in use, numbered u * nodes + v."""
        links, loads = situation.link_loads
        used = loads > 0.0
        return links[used], loads[used], situation.link_bandwidth[used]

    def ends(self, place: int) -> tuple[int, int]:
        """The nodes at the two ends of a link."""
        return divmod(place, len(self.network.nodes))

    def place_name(self, place: int) -> str:
        """The two nodes."""
        sender, receiver = self.ends(place)
        return f"{self.network.nodes[sender].name} {self.arrow} {self.network.nodes[receiver].name}"

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        return f"link {use.name}: bandwidth {against(use, byte_rate)}"

    def asked(self, place: int, there: float) -> str:
        """What it asks for at a link."""
        return f"link {self.place_name(place)}: at most {byte_rate(there)}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        return f"a bandwidth of {byte_rate(use.needed)} instead of {byte_rate(use.limit)} would suffice"

    def raised(self, problem: Problem, use: Use) -> Problem:
        """With a link that is wide enough."""
        return problem.with_link(*self.ends(use.place), "bandwidth_bytes_per_s", use.needed)

    def more(self, problem: Problem, use: Use) -> More | None:
        """A link twice as wide."""
        if not use.limit:
            return None
        wider = 2.0 * use.limit
        sender, receiver = (problem.network.nodes[end].name for end in self.ends(use.place))
        arrow = "<->" if problem.network.symmetric else "->"
        words = f"{sender} {arrow} {receiver} with twice the bandwidth ({byte_rate(wider)})"
        changed = problem.with_link(*self.ends(use.place), "bandwidth_bytes_per_s", wider)
        return More("bandwidth", words, changed)


class NetworkCard(Limit):
    """What each node sends plus receives, against its card (004, constraint 3)."""

    kind, unit, family, of_nodes = "card", "bytes/s", "network cards", True

    def __init__(self, setting: Setting) -> None:
        self.network = setting.problem.network

    def used(self, situation: Situation) -> FloatArray:
        """By node, what it sends plus receives; unknown rates as 0."""
        crossing = (situation.flows, situation.downloads)
        ends = np.concatenate([end for flows in crossing for end in (flows.sender, flows.receiver)])
        rates = np.nan_to_num(np.concatenate([flows.rate for flows in crossing for _ in range(2)]))
        return np.bincount(ends, rates, len(self.network.nodes)).astype(np.float64)

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Nodes that send or receive anything."""
        if not self.network.cards_bound:
            return nothing()
        used = self.used(situation)
        places = np.flatnonzero(used > 0.0)
        return places, used[places], self.network.nic_bytes_per_s[places]

    def place_name(self, place: int) -> str:
        """The node's name."""
        return self.network.nodes[place].name

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        return f"node {use.name}: network card {against(use, byte_rate)}"

    def asked(self, place: int, there: float) -> str:
        """What it asks for at a node."""
        return f"node {self.place_name(place)}: network card of at most {byte_rate(there)}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        return f"a card of {byte_rate(use.needed)} instead of {byte_rate(use.limit)} would suffice"

    def raised(self, problem: Problem, use: Use) -> Problem:
        """With a card that is wide enough."""
        node = problem.network.nodes[use.place]
        return problem.with_node(use.place, replace(node, nic_bytes_per_s=use.needed))

    def more(self, problem: Problem, use: Use) -> More | None:
        """A card twice as wide."""
        node = problem.network.nodes[use.place]
        if not node.nic_bytes_per_s:
            return None
        wider = problem.with_node(use.place, replace(node, nic_bytes_per_s=2.0 * node.nic_bytes_per_s))
        return More("card", f"{node.name}'s network card twice as wide", wider)


class Port(Limit):
    """The shares of link bandwidth that a node's results take sum to at most 1 each way (004, 2)."""

    unit, family, of_nodes = "of its links", "one port", True

    def __init__(self, setting: Setting, sending: bool) -> None:
        self.network = setting.problem.network
        self.sending = sending
        self.way = "sending" if sending else "receiving"
        self.kind = f"{self.way} port"

    def used(self, situation: Situation) -> FloatArray:
        """By node, the shares that its results take."""
        flows = situation.flows
        ends = flows.sender if self.sending else flows.receiver
        return np.bincount(ends, _link_shares(situation, flows), len(self.network.nodes)).astype(np.float64)

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Nodes that send or receive anything."""
        if not self.network.one_port:
            return nothing()
        used = self.used(situation)
        places = np.flatnonzero(used > 0.0)
        return places, used[places], np.ones(len(places))

    def place_name(self, place: int) -> str:
        """The node's name."""
        return self.network.nodes[place].name

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        return f"node {use.name}: one port, {self.way} {against(use)}"

    def asked(self, place: int, there: float) -> str:
        """What it asks for at a node."""
        return f"node {self.place_name(place)}: one port, {self.way}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        if not np.isfinite(use.needed):
            return "a link of bandwidth 0 is used"
        return f"links {amount(use.needed)} times as wide would suffice"


FlowLimit = Bandwidth | NetworkCard | Port


def flow_limits(setting: Setting) -> tuple[FlowLimit, ...]:
    """Every limit of the network."""
    return Bandwidth(setting), NetworkCard(setting), Port(setting, True), Port(setting, False)


def _link_shares(situation: Situation, flows: Flows) -> FloatArray:
    there = situation.network.table.bandwidth_bytes_per_s[flows.sender, flows.receiver]
    rate = np.nan_to_num(flows.rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate > 0, rate / there, 0.0)
