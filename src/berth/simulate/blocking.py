"""Instances that can't work for a while: their node is down, or they are on their way to another."""

from __future__ import annotations

import numpy as np

from berth.simulate.serving import append, counted, lose, plan_tick, start, stopped, waiting_at
from berth.simulate.state import PROCESSORS, SHARED, Work
from berth.space.compiled import compiled


@compiled
def block(work: Work, random: np.random.Generator, instance: int, losing: bool, now: float) -> None:
    """Stop an instance: its tuples are lost, or wait aside and start again when it goes on."""
    here = work.instances[instance]
    server = here.server
    here.blocked, here.losing = 1, int(losing)
    at_work = work.queues[server].serving
    if at_work >= 0 and work.pool[at_work].target == instance:
        put_aside(work, stopped(work, server, now), losing, now)
        if work.counts[PROCESSORS] == SHARED:
            plan_tick(work, here.node, now)
    item = work.queues[server].head
    work.queues[server].head = -1
    while item >= 0:
        following = work.pool[item].following
        if work.pool[item].target == instance:
            put_aside(work, item, losing, now)
        else:
            append(work, server, item)
        item = following
    start(work, random, server, now)


@compiled
def put_aside(work: Work, item: int, losing: bool, now: float) -> None:
    """Lose a tuple of a blocked instance, or let it wait there."""
    instance = work.pool[item].target
    if losing:
        counted(work, instance, now, -1)
        lose(work, item)
    else:
        append(work, waiting_at(work, instance), item)


@compiled
def drop_waiting(work: Work, instance: int, now: float) -> None:
    """Lose what waits at an instance that is blocked already."""
    queue = waiting_at(work, instance)
    item = work.queues[queue].head
    work.queues[queue].head = -1
    while item >= 0:
        following = work.pool[item].following
        put_aside(work, item, True, now)
        item = following
    work.instances[instance].losing = 1


@compiled
def unblock(work: Work, random: np.random.Generator, instance: int, now: float) -> None:
    """Let an instance go on, with what has waited for it."""
    here = work.instances[instance]
    here.blocked, here.losing = 0, 0
    queue = waiting_at(work, instance)
    item = work.queues[queue].head
    work.queues[queue].head = -1
    while item >= 0:
        following = work.pool[item].following
        append(work, here.server, item)
        item = following
    start(work, random, here.server, now)
