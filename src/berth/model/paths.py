"""Worst paths through the instances, one level of the graph at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class PathSchedule:
    """Communicating pairs sorted so that one sweep yields all arrival times."""

    def __init__(self, instances: int, sender: IndexArray, receiver: IndexArray) -> None:
        self.has_input = np.zeros(instances, dtype=bool)
        self.has_input[receiver] = True
        self.has_output = np.zeros(instances, dtype=bool)
        self.has_output[sender] = True
        level = _levels(instances, sender, receiver)
        self._order = np.lexsort((receiver, level[receiver]))
        ordered = receiver[self._order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else ordered
        self._sender = sender[self._order]
        self._receivers = ordered[starts]
        level_ends = np.searchsorted(level[self._receivers], np.arange(1, level.max(initial=0) + 1), "right")
        self._steps = []
        begin = 0
        boundaries = np.r_[starts, len(ordered)]
        for end in level_ends.tolist():
            first, last = boundaries[begin], boundaries[end]
            self._steps.append((slice(first, last), slice(begin, end), starts[begin:end] - first))
            begin = end

    def finish(self, time: FloatArray, pair_time: FloatArray) -> FloatArray:
        """When each instance is done: its own time after the last of its inputs has arrived."""
        done = time.copy()
        ordered = pair_time[self._order]
        for pairs, receivers, starts in self._steps:
            arriving = done[self._sender[pairs]] + ordered[pairs]
            done[self._receivers[receivers]] += np.maximum.reduceat(arriving, starts)
        return done


def _levels(instances: int, sender: IndexArray, receiver: IndexArray) -> IndexArray:
    """The longest number of streams from a start to each instance."""
    level = np.zeros(instances, dtype=np.intp)
    waiting = np.bincount(receiver, minlength=instances)
    order = np.argsort(sender, kind="stable")
    first = np.searchsorted(sender[order], np.arange(instances + 1))
    targets = receiver[order]
    ready = np.flatnonzero(waiting == 0)
    depth = 0
    while len(ready):
        level[ready] = depth
        spans = [targets[first[number] : first[number + 1]] for number in ready.tolist()]
        reached = np.concatenate(spans)
        np.subtract.at(waiting, reached, 1)
        touched = np.unique(reached)
        ready = touched[waiting[touched] == 0]
        depth += 1
    return level
