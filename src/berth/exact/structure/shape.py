"""Which shape the parts of a placement have: pipelines, fans, or anything else.

A part is a set of blocks that streams connect. Parts share nodes, but no stream. For a graph of no known
shape, a single path still gives a bound: no plan is faster than the best one for the operators of that path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.exact.placement import Placement

MOST_BLOCKS, MOST_PLACES = 30, 60
"""Beyond this, a path alone may take longer than it helps."""


@dataclass(frozen=True)
class Pipeline:
    """Blocks one after the other."""

    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Fan:
    """Blocks side by side, all behind one source, all before one sink; either end may be missing."""

    source: int | None
    middle: tuple[int, ...]
    sink: int | None

    @property
    def blocks(self) -> tuple[int, ...]:
        """All of its blocks."""
        ends = (self.source, self.sink)
        return (*self.middle, *(end for end in ends if end is not None))


Part = Pipeline | Fan


def parts_of(placement: Placement) -> list[Part] | None:
    """The parts of a placement; None if one of them has another shape."""
    senders, receivers = _neighbours(placement)
    parts: list[Part] = []
    for blocks in _connected(senders, receivers):
        part = _pipeline(placement, blocks, senders, receivers) or _fan(placement, blocks, senders, receivers)
        if part is None:
            return None
        parts.append(part)
    return parts


def _neighbours(placement: Placement) -> tuple[list[set[int]], list[set[int]]]:
    """For every block those that send to it, and those that receive from it."""
    senders: list[set[int]] = [set() for _ in placement.blocks]
    receivers: list[set[int]] = [set() for _ in placement.blocks]
    graph = placement.graph
    ends = placement.block_of[graph.pair_sender].tolist(), placement.block_of[graph.pair_receiver].tolist()
    for sender, receiver in zip(*ends, strict=True):
        if sender != receiver:
            receivers[sender].add(receiver)
            senders[receiver].add(sender)
    return senders, receivers


def _connected(senders: list[set[int]], receivers: list[set[int]]) -> list[list[int]]:
    """Blocks by the part that they belong to."""
    known: set[int] = set()
    found = []
    for first in range(len(senders)):
        if first in known:
            continue
        part, waiting = [], [first]
        known.add(first)
        while waiting:
            block = waiting.pop()
            part.append(block)
            new = (senders[block] | receivers[block]) - known
            known |= new
            waiting.extend(new)
        found.append(sorted(part))
    return found


def _pipeline(
    placement: Placement, blocks: list[int], senders: list[set[int]], receivers: list[set[int]]
) -> Pipeline | None:
    if any(len(senders[block]) > 1 or len(receivers[block]) > 1 for block in blocks):
        return None
    first = [block for block in blocks if not senders[block]]
    # An instance has at most one neighbour on either side: inside a block, too, they form a row.
    if len(first) != 1 or not all(_is_row(placement, block) for block in blocks):
        return None
    order = [first[0]]
    while receivers[order[-1]]:
        order.append(next(iter(receivers[order[-1]])))
    return Pipeline(tuple(order)) if len(order) == len(blocks) else None


def _is_row(placement: Placement, block: int) -> bool:
    """Whether all time that a block takes adds up: its instances follow each other."""
    inside = set(placement.blocks[block])
    if len(inside) == 1:
        return True
    graph = placement.graph
    pairs = list(zip(graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True))
    within = [pair for pair in pairs if pair[0] in inside and pair[1] in inside]
    entries = {receiver for sender, receiver in pairs if receiver in inside and sender not in inside}
    exits = {sender for sender, receiver in pairs if sender in inside and receiver not in inside}
    followed, following = {sender for sender, _ in within}, {receiver for _, receiver in within}
    return (
        len(within) == len(inside) - 1
        and len(followed) == len(within)
        and len(following) == len(within)
        and entries <= inside - following
        and exits <= inside - followed
    )


def _fan(
    placement: Placement, blocks: list[int], senders: list[set[int]], receivers: list[set[int]]
) -> Fan | None:
    sources = [block for block in blocks if not senders[block]]
    sinks = [block for block in blocks if not receivers[block]]
    source = sources[0] if len(sources) == 1 else None
    sink = sinks[0] if len(sinks) == 1 else None
    middle = [block for block in blocks if block not in (source, sink)]
    before, after = ({end} if end is not None else set() for end in (source, sink))
    fits = all(senders[block] == before and receivers[block] == after for block in middle)
    if source is not None and sink is not None:
        fits = fits and sink not in receivers[source]
    alone = all(len(placement.blocks[block]) == 1 for block in blocks)
    return Fan(source, tuple(middle), sink) if fits and alone and middle else None


def demanding_path(placement: Placement) -> Pipeline | None:
    """The path whose operators need most room, so that it has to change nodes most; None: it is too long.

    Blocks of several instances are left out: what is between two of them is no whole path, but part of one.
    """
    graph = placement.graph
    size = np.full(len(placement.blocks), 1e-6)
    for limit in placement.limits:
        if limit.of.grows:
            most = float(limit.of.room.max(initial=0.0))
            size = np.maximum(size, limit.needed / most if most > 0 else 0.0)
    alone = [len(numbers) == 1 for numbers in placement.blocks]
    senders: dict[int, list[int]] = {}
    for one, other in zip(graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True):
        senders.setdefault(int(placement.block_of[other]), []).append(int(placement.block_of[one]))
    length, before = np.zeros(len(placement.blocks)), np.full(len(placement.blocks), -1)
    for operator in graph.operator_order:
        for instance in graph.operators[operator].instances:
            block = int(placement.block_of[instance])
            if not alone[block]:
                continue
            for sender in senders.get(block, ()):
                if alone[sender] and length[sender] > length[block]:
                    length[block], before[block] = length[sender], sender
            length[block] += size[block]
    path = [int(np.argmax(length))]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    places = len(np.unique(np.concatenate([placement.candidates[block] for block in path])))
    if not alone[path[0]] or len(path) < 2 or len(path) > MOST_BLOCKS or places > MOST_PLACES:
        return None
    return Pipeline(tuple(reversed(path)))
