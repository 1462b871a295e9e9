"""What is due next: a heap of times; what was put in earlier comes first among equals."""

from __future__ import annotations

from berth.simulate.state import ORDER, WAITING, IntArray, Records
from berth.space.compiled import compiled


@compiled
def push(heap: Records, counts: IntArray, time: float, code: int) -> int:
    """Put something in; gives the number that it can be told from others by."""
    order = counts[ORDER]
    counts[ORDER] += 1
    at = counts[WAITING]
    counts[WAITING] += 1
    while at > 0:
        above = (at - 1) >> 1
        if heap[above].time <= time:
            break
        heap[at] = heap[above]
        at = above
    last = heap[at]
    last.time, last.order, last.code = time, order, code
    return int(order)


@compiled
def drop_first(heap: Records, counts: IntArray) -> None:
    """Take out what is due first."""
    counts[WAITING] -= 1
    size = counts[WAITING]
    time, order = heap[size].time, heap[size].order
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and before(heap, other, heap[below].time, heap[below].order):
            below = other
        if not before(heap, below, time, order):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = heap[size]


@compiled
def before(heap: Records, place: int, time: float, order: int) -> bool:
    """Whether what is at a place is due before something else."""
    there = heap[place]
    return bool(there.time < time or (there.time == time and there.order < order))
