"""Queues and servers: tuples arrive at instances, wait their turn and are served."""

from __future__ import annotations

import numpy as np

from berth.simulate.heap import push
from berth.simulate.state import (
    CONSUMED,
    FIXED,
    FREE,
    FREE_HEAD,
    JOINED,
    LOST,
    PROCESSORS,
    SHARED,
    Work,
)
from berth.space.compiled import compiled

SOURCE, FINISH, TICK, HOP_END = range(4)
"""Kinds of events, the last two bits of their codes."""
ALMOST = 1e-9
"""Parts that sum up to a whole need not do so exactly."""


@compiled
def counted(work: Work, instance: int, now: float, change: int) -> None:
    """Note that the number of tuples at an instance changes."""
    here = work.instances[instance]
    here.area += here.present * (now - here.since)
    here.since = now
    here.present += change


@compiled
def freed(work: Work, item: int) -> None:
    """Give a tuple's record back."""
    work.pool[item].following = work.counts[FREE_HEAD]
    work.counts[FREE_HEAD] = item
    work.counts[FREE] += 1


@compiled
def taken(work: Work) -> int:
    """A record for a new tuple."""
    item = work.counts[FREE_HEAD]
    work.counts[FREE_HEAD] = work.pool[item].following
    work.counts[FREE] -= 1
    return item  # type: ignore[no-any-return]


@compiled
def lose(work: Work, item: int) -> None:
    """A tuple is gone."""
    work.instances[work.pool[item].target].lost += 1
    work.counts[LOST] += 1
    freed(work, item)


@compiled
def append(work: Work, queue: int, item: int) -> None:
    """Put a tuple at the end of a queue."""
    work.pool[item].following = -1
    if work.queues[queue].head < 0:
        work.queues[queue].head = item
    else:
        work.pool[work.queues[queue].tail].following = item
    work.queues[queue].tail = item


@compiled
def waiting_at(work: Work, instance: int) -> int:
    """The queue of what waits at an instance while it is blocked."""
    return len(work.queues) - len(work.instances) + instance


@compiled
def settle(work: Work, node: int, now: float) -> None:
    """Bring a shared processor's clock up to now."""
    here = work.nodes[node]
    if here.active > 0:
        here.clock += (now - here.at) / here.active
    here.at = now


@compiled
def next_done(work: Work, node: int) -> int:
    """The server that is done first on a shared processor; -1: all are idle."""
    here = work.nodes[node]
    best = -1
    instance = here.first
    while instance >= 0:
        if work.queues[instance].serving >= 0 and (
            best < 0 or work.instances[instance].goal < work.instances[best].goal
        ):
            best = instance
        instance = work.instances[instance].neighbour
    return best


@compiled
def plan_tick(work: Work, node: int, now: float) -> None:
    """Put in when a shared processor is done with something next."""
    here = work.nodes[node]
    first = next_done(work, node)
    here.order = -1
    if first >= 0:
        rest = max(0.0, work.instances[first].goal - here.clock) * here.active
        here.order = push(work.heap, work.counts, now + rest, node * 4 + TICK)


@compiled
def start(work: Work, random: np.random.Generator, server: int, now: float) -> None:
    """Serve the first in the queue, unless the server is busy or nobody waits."""
    item = work.queues[server].head
    if work.queues[server].serving >= 0 or item < 0:
        return
    work.queues[server].head = work.pool[item].following
    instance = work.pool[item].target
    duration = work.instances[instance].service
    if work.counts[FIXED] == 0 and duration > 0.0:
        duration *= random.standard_exponential()
    work.queues[server].serving = item
    work.queues[server].started = now
    if work.counts[PROCESSORS] == SHARED:
        node = work.instances[instance].node
        settle(work, node, now)
        work.nodes[node].active += 1
        work.instances[instance].started = work.nodes[node].clock
        work.instances[instance].goal = work.nodes[node].clock + duration
        plan_tick(work, node, now)
    else:
        work.queues[server].order = push(work.heap, work.counts, now + duration, server * 4 + FINISH)


@compiled
def stopped(work: Work, server: int, now: float) -> int:
    """Take the tuple from a server; what was worked on it counts as busy."""
    item = work.queues[server].serving
    work.queues[server].serving = -1
    work.queues[server].order = -1
    here = work.instances[work.pool[item].target]
    if work.counts[PROCESSORS] == SHARED:
        settle(work, here.node, now)
        done = work.nodes[here.node].clock - here.started
        work.nodes[here.node].active -= 1
    else:
        done = now - work.queues[server].started
    here.busy += done
    work.nodes[here.node].busy += done
    return item  # type: ignore[no-any-return]


@compiled
def arrive(work: Work, random: np.random.Generator, item: int, now: float) -> None:
    """A tuple is at its instance: it is joined with others, waits, is served or lost."""
    instance = work.pool[item].target
    here = work.instances[instance]
    here.arrived += 1
    if here.unit < 1.0:
        here.units += here.unit
        if here.units < 1.0 - ALMOST:
            work.counts[JOINED] += 1
            freed(work, item)
            return
        here.units -= 1.0
    if here.blocked > 0:
        if here.losing > 0:
            lose(work, item)
        else:
            counted(work, instance, now, 1)
            append(work, waiting_at(work, instance), item)
        return
    counted(work, instance, now, 1)
    append(work, here.server, item)
    start(work, random, here.server, now)


@compiled
def served(work: Work, item: int, now: float) -> None:
    """Note that a tuple is done with at its instance."""
    instance = work.pool[item].target
    counted(work, instance, now, -1)
    work.instances[instance].served += 1
    work.counts[CONSUMED] += 1
