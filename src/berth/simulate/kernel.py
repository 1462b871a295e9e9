"""The loop over events: tuples come in, are served, split over streams and cross links."""

from __future__ import annotations

import math

import numpy as np

from berth.simulate.heap import drop_first, push
from berth.simulate.serving import (
    ALMOST,
    FINISH,
    HOP_END,
    SOURCE,
    arrive,
    freed,
    next_done,
    plan_tick,
    served,
    settle,
    start,
    stopped,
    taken,
)
from berth.simulate.state import (
    BINS_PER_DECADE,
    DECADES,
    DONE,
    EMITTED,
    EVENTS,
    FIRST_DECADE,
    FREE,
    IN_FLIGHT,
    IN_TURN,
    JITTER,
    LATENCY,
    LOGGED,
    MOST,
    PROCESSORS,
    REGULAR,
    SENT,
    SHARED,
    TRAFFIC,
    WAITING,
    WORST,
    Net,
    Tally,
    Work,
)
from berth.space.compiled import compiled


@compiled
def advance(work: Work, net: Net, tally: Tally, random: np.random.Generator, until: float) -> bool:
    """Let everything happen that is due before a time; False: there is no more room for tuples."""
    heap, counts, most = work.heap, work.counts, work.counts[MOST]
    while counts[WAITING] > 0 and heap[0].time < until:
        if counts[FREE] < most or counts[WAITING] + most + 4 > len(heap):
            return False
        now, order, code = heap[0].time, heap[0].order, heap[0].code
        drop_first(heap, counts)
        kind, subject = code & 3, code >> 2
        if kind == FINISH:
            if order != work.queues[subject].order:
                continue
            finish(work, net, tally, random, subject, now)
        elif kind == HOP_END:
            if work.pool[subject].hop < work.pool[subject].last:
                cross(work, net, tally, random, subject, now)
            else:
                arrive(work, random, subject, now)
        elif kind == SOURCE:
            if order != work.instances[subject].order:
                continue
            emit(work, random, subject, now)
        else:
            if order != work.nodes[subject].order:
                continue
            settle(work, subject, now)
            server = next_done(work, subject)
            # exactly, whatever the rounding of times did
            work.nodes[subject].clock = work.instances[server].goal
            finish(work, net, tally, random, server, now)
        counts[EVENTS] += 1
    return True


@compiled
def emit(work: Work, random: np.random.Generator, source: int, now: float) -> None:
    """A tuple comes in from outside, and the next one is planned."""
    here = work.instances[source]
    gap = here.gap
    if work.counts[REGULAR] == 0:
        gap *= random.standard_exponential()
    here.due = now + gap
    here.order = push(work.heap, work.counts, here.due, source * 4 + SOURCE)
    item = taken(work)
    new = work.pool[item]
    new.birth, new.origin, new.target = now, here.source, source
    work.counts[EMITTED] += 1
    arrive(work, random, item, now)


@compiled
def finish(work: Work, net: Net, tally: Tally, random: np.random.Generator, server: int, now: float) -> None:
    """A server is done with a tuple: its results go on, and the next one is served."""
    item = stopped(work, server, now)
    here = work.instances[work.pool[item].target]
    served(work, item, now)
    if here.first == here.last:
        finish_path(work, tally, item, now)
    else:
        send_results(work, net, tally, random, item, now)
    freed(work, item)
    start(work, random, server, now)
    if work.counts[PROCESSORS] == SHARED and work.queues[server].serving < 0:
        plan_tick(work, here.node, now)


@compiled
def finish_path(work: Work, tally: Tally, item: int, now: float) -> None:
    """A tuple has reached the end of its way."""
    done = work.pool[item]
    latency = now - done.birth
    work.counts[DONE] += 1
    tally.sums[LATENCY] += latency
    tally.sums[WORST] = max(tally.sums[WORST], latency)
    place = 0
    if latency > 0.0:
        place = int((math.log10(latency) - FIRST_DECADE) * BINS_PER_DECADE)
    tally.histogram[min(max(place, 0), DECADES * BINS_PER_DECADE - 1)] += 1
    pair = tally.pairs[done.origin, work.instances[done.target].sink]
    pair.sum += latency
    pair.count += 1
    if work.counts[LOGGED] < len(tally.results):
        result = tally.results[work.counts[LOGGED]]
        result.birth, result.finish, result.origin, result.target = done.birth, now, done.origin, done.target
        work.counts[LOGGED] += 1


@compiled
def send_results(
    work: Work, net: Net, tally: Tally, random: np.random.Generator, item: int, now: float
) -> None:
    """As many results as a unit of work gives, each to every stream of its instance."""
    here = work.instances[work.pool[item].target]
    in_turn = work.counts[IN_TURN] > 0
    if in_turn:
        here.parts += here.gain
        number = int(here.parts + ALMOST)
        here.parts -= number
    else:
        number = int(here.gain)
        if here.gain > number and random.random() < here.gain - number:
            number += 1
    for _ in range(number):
        for place in range(here.first, here.last):
            output = net.outputs[place]
            first, last = 0, output.count
            if output.all == 0:
                if output.count > 1:
                    if in_turn:
                        first = output.turn
                        output.turn = (output.turn + 1) % output.count
                    else:
                        first = int(random.random() * output.count)
                last = first + 1
            for offset in range(first, last):
                send(work, net, tally, random, item, place, offset, now)


@compiled
def send(
    work: Work,
    net: Net,
    tally: Tally,
    random: np.random.Generator,
    cause: int,
    place: int,
    offset: int,
    now: float,
) -> None:
    """A result goes to one receiver of an output: it is there at once on the same node."""
    output = net.outputs[place]
    item = taken(work)
    new = work.pool[item]
    new.birth, new.origin = work.pool[cause].birth, work.pool[cause].origin
    new.target, new.size = output.receiver + offset, output.bytes
    work.counts[SENT] += 1
    output.sent += 1
    way = net.ways[output.way + offset]
    if way.first < 0:
        arrive(work, random, item, now)
        return
    new.hop, new.last = way.first, way.last
    tally.sums[TRAFFIC] += new.size
    cross(work, net, tally, random, item, now)


@compiled
def cross(work: Work, net: Net, tally: Tally, random: np.random.Generator, item: int, now: float) -> None:
    """A tuple waits for its link, is transmitted and travels."""
    moving = work.pool[item]
    hop = net.hops[moving.hop]
    link = net.links[hop.link]
    link.bytes += moving.size
    link.tuples += 1
    leaving = now
    if link.bandwidth < np.inf:
        begin = max(now, link.free)
        time = moving.size / link.bandwidth if moving.size > 0.0 else 0.0
        leaving = begin + time
        link.wait += begin - now
        if time < np.inf:
            # what a link without any bandwidth gets never leaves
            link.busy += time
            link.free = leaving
    delay = hop.delay
    if tally.sums[JITTER] > 0.0:
        delay = max(0.0, delay + tally.sums[JITTER] * random.standard_normal())
    tally.sums[IN_FLIGHT] += moving.size * delay
    moving.hop += 1
    push(work.heap, work.counts, leaving + delay, item * 4 + HOP_END)
