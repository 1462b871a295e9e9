"""How long the queues of hosts are, and how long a coordinator thinks that they are.

A host's queue is what already waits there (`run_queue`) and the instances that it hosts. Applications are
placed one after the other, each by a coordinator of its own. With `stale` above 0 it hears of other
applications' placements late: it takes its time to ask many hosts, and when it comes to the i-th answer
this is floor(stale x i) placements old. What it has placed itself it knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class Loads:
    """The queues as they are, and as the coordinator at work knows them."""

    def __init__(self, run_queue: FloatArray, stale: float = 0.0) -> None:
        self.present = run_queue.astype(np.float64)
        """The true queues."""
        self._stale = stale
        self.known = self.present if stale == 0 else self.present.copy()
        """The queues by which the coordinator decides; without staleness the true ones."""
        self._placed: list[tuple[int, int]] = []
        """Placements so far: from where (-1: new) to where."""

    def host(self, nodes: IndexArray) -> None:
        """Instances appear on these nodes."""
        np.add.at(self.present, nodes, 1.0)
        if self._stale:
            np.add.at(self.known, nodes, 1.0)

    def move(self, here: int, host: int, size: int) -> None:
        """The coordinator at work moves some instances."""
        for queues in (self.present, self.known) if self._stale else (self.present,):
            queues[here] -= size
            queues[host] += size

    def begin(self) -> None:
        """Another coordinator starts; what it doesn't ask for it knows as it is."""
        if self._stale:
            self.known[:] = self.present

    def end(self, before: IndexArray, after: IndexArray) -> None:
        """A coordinator is done: its instances went from these nodes (-1: none) to those."""
        if self._stale:
            changed = before != after
            self._placed += zip(before[changed].tolist(), after[changed].tolist(), strict=True)

    def answers(self, hosts: IndexArray) -> FloatArray:
        """What hosts say of their queues if they are contacted in this order."""
        queue = self.present[hosts]
        if self._stale and len(hosts):
            age = np.floor(self._stale * np.arange(1, len(hosts) + 1))
            position = {host: number for number, host in enumerate(hosts.tolist())}
            oldest = min(len(self._placed), int(age[-1]))
            for ago, (left, entered) in enumerate(reversed(self._placed[len(self._placed) - oldest :]), 1):
                for host, change in ((entered, -1.0), (left, 1.0)):
                    if host in position and age[position[host]] >= ago:
                        queue[position[host]] += change
        return queue

    def learn(self, hosts: IndexArray, queue: FloatArray) -> None:
        """The coordinator has contacted these hosts and heard this."""
        if self._stale:
            self.known[hosts] = queue
