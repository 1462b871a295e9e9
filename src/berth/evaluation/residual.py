"""What a plan leaves of the network: the same nodes and links with what others may still take of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.limits import TOLERANCE, Capacity, NetworkCard, Port, place_limits
from berth.evaluation.situation import Situation
from berth.model import Network, Node
from berth.model.links import LinkTable
from berth.model.pair_fields import Everywhere, PairField

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


def network_left(situation: Situation) -> Network:
    """The network without what a plan uses of capacities, network cards, links and ports.

    What already runs on a node waits for its processor: it is part of the run queue. The share of processors
    in use is not a property of nodes; see `Occupied`.
    """
    network = situation.network
    scale = 1.0 - network.headroom
    capacity = {
        limit.resource: _left(limit.room, limit.used(situation)) / scale
        for limit in place_limits(situation.setting)
        if isinstance(limit, Capacity)
    }
    cards = _left(network.nic_bytes_per_s, NetworkCard(situation.setting).used(situation))
    hosted = np.bincount(situation.node_of[situation.running], minlength=len(network.nodes))
    touched = np.flatnonzero((hosted > 0) | (cards < network.nic_bytes_per_s))
    nodes = list(network.nodes)
    for number in touched.tolist():
        nodes[number] = _node_left(nodes[number], number, capacity, cards, hosted)
    left = replace(network, nodes=tuple(nodes))
    # The routes are the same: to find them again would take longer than most requests.
    vars(left)["table"] = _table_left(situation)
    return left


def _node_left(
    node: Node, number: int, capacity: dict[str, FloatArray], cards: FloatArray, hosted: IndexArray
) -> Node:
    there = {name: float(capacity[name][number]) for name in node.capacity if name in capacity}
    return replace(
        node,
        capacity={**node.capacity, **there},
        nic_bytes_per_s=float(cards[number]),
        run_queue=node.run_queue + int(hosted[number]),
    )


def _left(there: FloatArray, used: FloatArray) -> FloatArray:
    """What is left, with half of the judge's tolerance: differences of large amounts are not exact."""
    limited = np.isfinite(there) & (used > 0.0)
    left = np.where(limited, there, 0.0) - np.where(limited, used, 0.0)
    spare = np.where(limited, there, 0.0) * TOLERANCE
    return np.where(limited, np.where(left <= spare, 0.0, left + spare / 2.0), there)


def _table_left(situation: Situation) -> LinkTable:
    table = situation.network.table
    links, loads = situation.link_loads
    there = situation.link_bandwidth
    limited = np.isfinite(there) & (loads > 0.0)
    if limited.any():
        left = _left(there[limited], loads[limited])
        physical = _with_entries(table.physical_bandwidth, links[limited], left, table.half_duplex)
        direct = table.next_hop is None
        logical = physical if direct else table.bandwidth_bytes_per_s
        table = replace(table, physical_bandwidth=physical, bandwidth_bytes_per_s=logical)
    if situation.network.one_port:
        table = replace(table, bandwidth_bytes_per_s=_ports_left(situation))
    return table


def _with_entries(
    field: FloatArray | PairField, links: IndexArray, values: FloatArray, both_ways: bool
) -> FloatArray | PairField:
    """A bandwidth with other values for some links, which are numbers u * nodes + v."""
    size = len(field)
    if both_ways:
        senders, receivers = np.divmod(links, size)
        links = np.concatenate([links, receivers * size + senders])
        values = np.concatenate([values, values])
    if isinstance(field, PairField):
        senders, receivers, entries = field.entries
        entries = entries.copy()
        entries[np.searchsorted(senders * size + receivers, links)] = values
        return PairField(size, Everywhere(np.inf), np.inf, senders * size + receivers, entries)
    changed = field.copy()
    changed.ravel()[links] = values
    return changed


def _ports_left(situation: Situation) -> FloatArray | PairField:
    """Bandwidths so much narrower that shares of them sum to 1 where shares of the whole reach what is left.

    Of both ends the fuller one counts, which can be stricter than need be, never laxer.
    """
    field = situation.network.table.bandwidth_bytes_per_s
    sending, receiving = (
        np.maximum(1.0 - Port(situation.setting, way).used(situation), 0.0) for way in (True, False)
    )
    if isinstance(field, PairField):
        senders, receivers, entries = field.entries
        narrower = np.minimum(sending[senders], receiving[receivers])
        scaled = np.where(np.isfinite(entries), np.nan_to_num(entries, posinf=0.0) * narrower, entries)
        return PairField(len(field), Everywhere(np.inf), np.inf, senders * len(field) + receivers, scaled)
    narrower = np.minimum(sending[:, None], receiving[None, :])
    return np.where(np.isfinite(field), np.nan_to_num(field, posinf=0.0) * narrower, field)
