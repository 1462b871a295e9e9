"""Blocks that differ in nothing: swapping them changes no plan's value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.exact.costs import Costs
from berth.exact.placement import Placement
from berth.model.links import LINK_FIELDS

IndexArray = NDArray[np.intp]

MOST_NODES = 300
"""Beyond this, nobody looks: it would take longer than it saves."""


def interchangeable(placement: Placement, counting: Sequence[Costs]) -> list[list[int]]:
    """Groups of blocks with the same candidates, needs, neighbours, and the same of all costs that count."""
    groups: dict[object, list[int]] = {}
    neighbours = _neighbours(placement, counting)
    # What differs from a known plan is counted in operators: only instances of one can be swapped then.
    apart = bool(placement.setting.unlike)
    for block, numbers in enumerate(placement.blocks):
        nodes = placement.candidates[block]
        if len(numbers) > 1 or len(nodes) < 2:
            continue
        number = numbers[0]
        key = (
            nodes.tobytes(),
            tuple(float(limit.needed[block]) for limit in placement.limits),
            float(placement.graph.work_ms[number]),
            float(np.nan_to_num(placement.graph.load[number], nan=-1.0)),
            int(placement.graph.application_of[number]),
            int(placement.graph.operator_of[number]) if apart else -1,
            _beyond_losses(placement, number),
            tuple(costs.block[block].tobytes() for costs in counting),
            tuple(sorted(neighbours[block])),
        )
        groups.setdefault(key, []).append(block)
    return [blocks for blocks in groups.values() if len(blocks) > 1]


def _beyond_losses(placement: Placement, instance: int) -> bytes:
    """Where an instance could go after a loss, if any has to be survived: its candidates may be fewer."""
    graph = placement.graph
    survives = placement.setting.problem.survive is not None
    return graph.allowed_nodes[graph.operator_of[instance]].tobytes() if survives else b""


def _neighbours(placement: Placement, counting: Sequence[Costs]) -> list[list[tuple[object, ...]]]:
    """For each block: whom it exchanges how much with, at what cost and in which direction."""
    lists: list[list[tuple[object, ...]]] = [[] for _ in placement.blocks]
    graph = placement.graph
    for number, edge in enumerate(placement.edges):
        matrices = [costs.edge[number] for costs in counting]
        for pairs, forward in edge.directions():
            rates = tuple(sorted(placement.rate[pairs].tolist()))
            streams = tuple(sorted({graph.streams[k].grouping for k in graph.pair_stream[pairs].tolist()}))
            sizes = tuple(sorted(_unit_bytes(placement, pairs.tolist())))
            for one, other, sends in (
                (edge.first, edge.second, forward),
                (edge.second, edge.first, not forward),
            ):
                oriented = tuple(
                    b"" if matrix is None else (matrix if one == edge.first else matrix.T).tobytes()
                    for matrix in matrices
                )
                lists[one].append((other, sends, rates, streams, sizes, oriented))
    return lists


def _unit_bytes(placement: Placement, pairs: list[int]) -> list[float]:
    graph = placement.graph
    senders = [graph.operators[graph.operator_of[graph.pair_sender[pair]]].operator for pair in pairs]
    return [-1.0 if sender.output_bytes is None else sender.output_bytes for sender in senders]


def equal_nodes(placement: Placement, counting: Sequence[Costs]) -> list[list[int]]:
    """Groups of nodes, ascending, any two of which can be exchanged in every plan at the same costs."""
    nodes = np.unique(np.concatenate(placement.candidates))
    table = placement.network.table
    routed = table.next_hop is not None and table.bandwidth_bound
    # Containers are put in order by their own numbers; routes may cross a node that hosts nothing.
    survive = placement.setting.problem.survive
    # New routes may cross either, and labels tell what is lost at once.
    lost = survive is not None and (survive.label is not None or table.next_hop is not None)
    # A known plan tells nodes apart that are alike otherwise.
    incomparable = placement.packings or routed or lost or placement.setting.unlike
    if len(nodes) > MOST_NODES or incomparable:
        return []
    groups: dict[object, list[list[int]]] = {}
    fields = [getattr(table, name)[nodes[:, None], nodes[None, :]] for name in LINK_FIELDS]
    for place, node in enumerate(nodes.tolist()):
        known = groups.setdefault(_key(placement, counting, node), [])
        for group in known:
            first = int(np.searchsorted(nodes, group[0]))
            if _same_links(fields, first, place) and all(
                _same_edges(placement, costs, group[0], node) for costs in counting
            ):
                group.append(node)
                break
        else:
            known.append([node])
    return [group for known in groups.values() for group in known if len(group) > 1]


def _key(placement: Placement, counting: Sequence[Costs], node: int) -> object:
    """What a node is by itself: its fields, who may go there and at what cost."""
    item = placement.network.nodes[node]
    prices = tuple(
        costs.block[block][nodes == node].tobytes()
        for costs in counting
        for block, nodes in enumerate(placement.candidates)
    )
    plain = replace(item, name="", coordinates=None, height_ms=0.0, labels={}, capacity={})
    # A node of a larger place can be exchanged with others of that place only.
    rooms = tuple(
        float(limit.of.room[node]) if limit.single else int(limit.of.place_of[node])
        for limit in placement.limits
    )
    return repr(plain), rooms, prices, tuple(float(costs.node[node]) for costs in counting)


def _same_links(fields: list[NDArray[np.float64]], one: int, other: int) -> bool:
    """Whether exchanging two places leaves all that lies between places as it is."""
    order = _exchanged(len(fields[0]), one, other)
    near = [one, other]
    return all(
        np.array_equal(field[near], field[order[near]][:, order], equal_nan=True)
        and np.array_equal(field[:, near], field[order][:, order[near]], equal_nan=True)
        for field in fields
    )


def _same_edges(placement: Placement, costs: Costs, one: int, other: int) -> bool:
    """The same for what the goal asks of two blocks."""
    for edge, matrix in zip(placement.edges, costs.edge, strict=True):
        if matrix is not None:
            orders = []
            for block in (edge.first, edge.second):
                nodes = placement.candidates[block]
                places = np.searchsorted(nodes, [one, other]).tolist() if np.isin(one, nodes) else [0, 0]
                orders.append(_exchanged(len(nodes), *places))
            if not np.array_equal(matrix, matrix[np.ix_(*orders)]):
                return False
    return True


def _exchanged(count: int, one: int, other: int) -> IndexArray:
    order = np.arange(count)
    order[[one, other]] = other, one
    return order


def least_of_equals(plan: IndexArray, blocks: list[list[int]], nodes: list[list[int]]) -> IndexArray:
    """The same plan with swappable blocks in order, and equal nodes in the order of their first use.

    Every step makes it earlier in alphabetical order, so this comes to an end.
    """
    plan = plan.copy()
    while True:
        before = plan.copy()
        for group in blocks:
            plan[group] = np.sort(plan[group])
        for group in nodes:
            used = [node for node in dict.fromkeys(plan.tolist()) if node in group]
            rest = [node for node in group if node not in used]
            name = np.arange(max(int(plan.max()), *group) + 1)
            name[[*used, *rest]] = group
            plan = name[plan]
        if np.array_equal(plan, before):
            return plan
