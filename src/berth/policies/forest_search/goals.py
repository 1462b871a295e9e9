"""What `forest` minimises: prices for the engine's figures, and a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.policies.forest_search.bounds import least_busy, least_crossing, least_price
from berth.policies.many.case import Case
from berth.policies.many.cells import CROSSED
from berth.policies.many.state import State

FloatArray = NDArray[np.float64]
NODE = 0.4
"""What a node of mean price counts for, beside 1 for a load of twice its limit."""
MOVE = 0.03
"""What a typical stream or operator counts for."""
GOALS = ("enrolled_speed", "nodes_used", "bandwidth_sum", "bandwidth_max", "processing_power")


@dataclass(frozen=True, eq=False)
class Prices:
    """A goal in the engine's terms."""

    name: str
    case: Case
    node: FloatArray
    """Of every node that hosts anything, in the goal's own unit."""

    @staticmethod
    def of(name: str, case: Case) -> Prices:
        """The prices of one of `GOALS`."""
        nodes = case.cells.nodes
        node = {"enrolled_speed": case.nodes.speed, "nodes_used": np.ones(nodes)}.get(name, np.zeros(nodes))
        return Prices(name, case, node)

    def value(self, state: State) -> float:
        """What a plan costs."""
        cells = self.case.cells
        if self.name == "bandwidth_sum":
            return float(state.load[cells.marks + CROSSED])
        if self.name == "bandwidth_max":
            return self.highest_share(state)
        if self.name == "processing_power":
            return float(state.load[cells.busy : cells.card].sum())
        return float(self.node[state.hosted > 0].sum())

    def highest_share(self, state: State) -> float:
        """Of a link's bandwidth."""
        cells = self.case.cells
        load, limit = state.load[cells.link : cells.loads], self.case.limit[cells.link : cells.loads]
        used = load > 0.0
        if not used.any():
            return 0.0
        with np.errstate(divide="ignore"):
            return float((load[used] / limit[used]).max())

    @property
    def node_prices(self) -> FloatArray:
        """On the scale of an energy."""
        mean = self.node.mean() if len(self.node) else 0.0
        return np.asarray(NODE * self.node / mean if mean > 0.0 else self.node)

    @property
    def traffic(self) -> float:
        """Of a byte per second that crosses, on the scale of an energy."""
        pairs, operators = self.case.pairs, self.case.operators
        throughput = np.maximum(operators.own[self.case.units.operator[pairs.receiver]], 0.0)
        rate = pairs.fixed_rate + pairs.rate_per_result * throughput
        rate = np.concatenate([rate[rate > 0.0], self.case.objects.read_rate])
        mean = float(rate.mean()) if len(rate) else 0.0
        return MOVE / mean if mean > 0.0 else 0.0

    @property
    def crossed(self) -> float:
        """The same as far as the goal is about it."""
        # The highest share is lowered by limits: less traffic altogether only helps.
        return {"bandwidth_sum": 1.0, "bandwidth_max": 0.01}.get(self.name, 0.0) * self.traffic

    @property
    def busy(self) -> float:
        """Of a processor's time, on the scale of an energy."""
        if self.name != "processing_power":
            return 0.0
        units, operators = self.case.units, self.case.operators
        share = np.maximum(operators.own[units.operator], 0.0) * units.work
        mean = float(share.mean()) / float(self.case.nodes.speed.mean()) if len(share) else 0.0
        return MOVE / mean if mean > 0.0 else 0.0

    def bound(self) -> float:
        """What no plan can go below."""
        if self.name in ("enrolled_speed", "nodes_used"):
            found = least_price(self.case, self.node)
            return float(np.ceil(found - 1e-5)) if self.name == "nodes_used" else found
        if self.name == "processing_power":
            return least_busy(self.case)
        return least_crossing(self.case) if self.name == "bandwidth_sum" else 0.0
