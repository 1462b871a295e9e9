"""Delays that were measured for earlier plans: estimates for the next one, to be confirmed before use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.model import Network, Plan
from berth.policies.latency_space.recorded import is_number

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MOST = 1000
"""As many pairs are remembered, the latest ones."""
NOTHING = np.zeros((0, 0))


class Memory:
    """Measured delays between pairs of nodes."""

    def __init__(self, network: Network, previous: Plan | None) -> None:
        self._network = network
        self._pairs: dict[tuple[int, int], float] = {}
        if previous is not None:
            self._recall(previous.trace)

    def _recall(self, trace: Mapping[str, Any]) -> None:
        """Take what a trace has; nothing that is not as this module writes it, and no node that is gone."""
        measured, index = trace.get("measured"), self._network.index
        for entry in measured if isinstance(measured, list) else []:
            if not (isinstance(entry, list) and len(entry) == 3 and is_number(entry[2]) and entry[2] >= 0):
                continue
            ends = [index.get(name) if isinstance(name, str) else None for name in entry[:2]]
            if ends[0] is not None and ends[1] is not None:
                self._pairs[min(ends[0], ends[1]), max(ends[0], ends[1])] = float(entry[2])

    def among(self, nodes: IndexArray) -> FloatArray:
        """What is remembered between some nodes (ascending), NaN elsewhere; empty if that is nothing."""
        if not self._pairs:
            return NOTHING
        place = {node: k for k, node in enumerate(nodes.tolist())}
        found = [
            (place[one], place[other], delay)
            for (one, other), delay in self._pairs.items()
            if one in place and other in place
        ]
        delays = np.full((len(nodes), len(nodes)), np.nan)
        for one, other, delay in found:
            delays[one, other] = delays[other, one] = delay
        return delays

    def add(self, pairs: IndexArray) -> None:
        """Remember pairs of nodes that were measured, the mean of both ways; those without a link aren't."""
        delays = self._network.table.delay_ms
        here, there = pairs[:, 0], pairs[:, 1]
        ways = delays[here, there], delays[there, here]
        both = (np.fmin(*ways) + np.fmax(*ways)) / 2.0
        ends = np.sort(pairs, axis=1).tolist()
        for (one, other), delay in zip(ends, both.tolist(), strict=True):
            if math.isfinite(delay):
                self._pairs.pop((one, other), None)
                self._pairs[one, other] = delay

    def as_trace(self) -> list[list[Any]]:
        """The pairs by name, for the trace."""
        nodes = self._network.nodes
        latest = list(self._pairs.items())[-MOST:]
        return [[nodes[one].name, nodes[other].name, round(delay, 6)] for (one, other), delay in latest]
