"""When the nodes are down: as many heartbeats of each as its availability says, a few spells at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

SPELL = 4
"""The shortest spell to aim at: silence counts as an outage from 3 missed heartbeats on."""
SHORTEST_SILENCE = 3
PERIOD = 60
"""Heartbeats in a period, at least, where a node has more than one spell."""


@dataclass(frozen=True, eq=False)
class Outages:
    """For each node: the heartbeats in which it is down, and the periods that share them out.

    Of the heartbeats 0 to `ticks`, the first and the last are there and `up`, so that the feed has the same
    ends for every node. Those between fall into equal periods with one spell in each. Spells take turns: in
    one the node is silent, in the next it says that it isn't up. A node that is down all the time says so in
    every heartbeat.
    """

    ticks: int
    down: IntArray
    periods: IntArray

    @property
    def period_length(self) -> IntArray:
        """Heartbeats in each node's periods."""
        return np.asarray(max(self.ticks - 1, 1) // self.periods)

    @property
    def always(self) -> NDArray[np.bool_]:
        """The nodes that are never up."""
        return self.down >= self.ticks

    @property
    def may_be_silent(self) -> NDArray[np.bool_]:
        """The nodes whose spells are long enough for silence to be seen as an outage."""
        return (self.down >= SHORTEST_SILENCE) & ~self.always

    @property
    def records(self) -> int:
        """Heartbeats of all nodes, the missed ones left out."""
        node = np.repeat(np.arange(len(self.down)), self.periods)
        period = np.arange(len(node)) - np.repeat(np.cumsum(self.periods) - self.periods, self.periods)
        down, periods = self.down[node], self.periods[node]
        spell = down * (period + 1) // periods - down * period // periods
        silent = self.may_be_silent[node] & ((node + period) % 2 == 0)
        return len(self.down) * (self.ticks + 1) - int(spell[silent].sum())


def outages_of(availability: NDArray[np.float64], ticks: int) -> Outages:
    """The outages that give each node its availability, to the nearest heartbeat."""
    down = np.rint((1.0 - availability) * ticks).astype(np.int64)
    several = np.minimum(ticks // PERIOD, down // SPELL)
    # a node that is down more than half the time has one long spell: it might not fit into parts
    periods = np.where(2 * down < ticks, np.maximum(several, 1), 1)
    return Outages(ticks, down, periods.astype(np.int64))
