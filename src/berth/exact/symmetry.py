"""Blocks that differ in nothing: swapping them changes no plan's value."""

from __future__ import annotations

from berth.exact.costs import Costs
from berth.exact.placement import Placement


def interchangeable(placement: Placement, costs: Costs | None) -> list[list[int]]:
    """Groups of blocks with the same candidates, needs, costs and neighbours."""
    groups: dict[object, list[int]] = {}
    neighbours = _neighbours(placement, costs)
    for block, numbers in enumerate(placement.blocks):
        nodes = placement.candidates[block]
        if len(numbers) > 1 or len(nodes) < 2:
            continue
        number = numbers[0]
        key = (
            nodes.tobytes(),
            tuple(float(limit.needed[block]) for limit in placement.limits),
            float(placement.graph.work_ms[number]),
            int(placement.graph.application_of[number]),
            costs.block[block].tobytes() if costs is not None else b"",
            tuple(sorted(neighbours[block])),
        )
        groups.setdefault(key, []).append(block)
    return [blocks for blocks in groups.values() if len(blocks) > 1]


def _neighbours(placement: Placement, costs: Costs | None) -> list[list[tuple[object, ...]]]:
    """For each block: whom it exchanges how much with, at what cost and in which direction."""
    lists: list[list[tuple[object, ...]]] = [[] for _ in placement.blocks]
    graph = placement.graph
    for number, edge in enumerate(placement.edges):
        cost = costs.edge[number] if costs is not None else None
        for pairs, forward in edge.ways():
            rates = tuple(sorted(placement.rate[pairs].tolist()))
            streams = tuple(sorted({graph.streams[k].grouping for k in graph.pair_stream[pairs].tolist()}))
            sizes = tuple(sorted(_unit_bytes(placement, pairs.tolist())))
            for one, other, sends in (
                (edge.first, edge.second, forward),
                (edge.second, edge.first, not forward),
            ):
                oriented = b"" if cost is None else (cost if one == edge.first else cost.T).tobytes()
                lists[one].append((other, sends, rates, streams, sizes, oriented))
    return lists


def _unit_bytes(placement: Placement, pairs: list[int]) -> list[float]:
    graph = placement.graph
    senders = [graph.operators[graph.operator_of[graph.pair_sender[pair]]].operator for pair in pairs]
    return [-1.0 if sender.output_bytes is None else sender.output_bytes for sender in senders]
