"""What crosses the network: results and downloads, each once between two nodes, at the highest rate."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from berth.evaluation.limits import Bandwidth, NetworkCard, Port
from berth.exact.sharing.choices import Highest, Terms
from berth.model.instances import pairs_of

if TYPE_CHECKING:
    from berth.exact.sharing.model import SharingModel


def add_flows(model: SharingModel) -> None:
    """Ask for everything that has to cross, and keep to links, cards and ports."""
    required = [
        entry for number in range(len(model.shared.graph.streams)) for entry in _stream(model, number)
    ]
    model.flows.build()
    for entry in required:
        _arrive(model, *entry)
    _add_downloads(model)
    _add_bandwidth(model)
    _add_cards(model)
    _add_ports(model)


Arriving = tuple[dict[int, Any], dict[int, Any], list[tuple[float, list[Any]]], Hashable, list[Any]]
"""A part of a result by sending node, its receiver by node, the rates with their conditions, the key, and
the literals that the result comes in other parts."""


def _stream(model: SharingModel, number: int) -> Iterator[Arriving]:
    """Everything that a stream's parts may ask of the links between any two nodes."""
    shared, graph = model.shared, model.shared.graph
    sender, receiver = graph.stream_ends[number].tolist()
    supply = model.supply(sender)
    rates = list(_rates(model, number))
    for count in sorted({key[0] for key in supply}):
        source = next(k for k in shared.sources(sender) if shared.parallelism(k) == count)
        instances = graph.operators[source]
        otherwise = [fate for k, fate in model.fates.by[sender].items() if shared.parallelism(k) != count]
        sending, receiving, share = pairs_of(graph.streams[number], instances, graph.operators[receiver])
        for one, other in zip(sending.tolist(), receiving.tolist(), strict=True):
            key = result_key(model, one, other, number)
            here = {k[2]: v for k, v in supply.items() if k[:2] == (count, one - instances.first)}
            required = [(rate * share, conditions) for rate, conditions in rates if rate * share > 0]
            _require(model, here, model.x[other], required, key)
            yield here, model.x[other], required, key, otherwise


def _rates(model: SharingModel, number: int) -> Iterator[tuple[float, list[Any]]]:
    """A stream's rates with what they depend on: streams of results follow their receiver's throughput."""
    shared, graph = model.shared, model.shared.graph
    sender, receiver = graph.stream_ends[number].tolist()
    rate = float(np.nan_to_num(graph.stream_rate[number]))
    yield rate, []
    if graph.stream_follows_throughput[number]:
        for taker, lift in model.fates.lifted(receiver):
            raised = float(graph.output_bytes[sender] * shared.throughput[taker])
            if raised > rate:
                yield raised, [lift]


def result_key(model: SharingModel, one: int, other: int, stream: int) -> tuple[Any, ...]:
    """What a pair of instances transfers: equal for the same part of an equal result."""
    keys = model.shared.keys
    if not keys.possible:
        return "pair", one, other, stream
    key = int(keys.result_keys(np.array([one]), np.array([other]), np.array([stream]))[0])
    if key < 0:
        return "pair", one, other, stream
    # Result keys number the computations of one call: the computation itself is the better name.
    return "result", int(keys.computation_keys(np.array([one]))[0]), key


def _require(
    model: SharingModel,
    here: dict[int, Any],
    there: dict[int, Any],
    required: list[tuple[float, list[Any]]],
    key: Hashable,
) -> None:
    connected = model.shared.network.table.connected
    for sender, sends in here.items():
        for receiver, receives in there.items():
            if sender == receiver:
                continue
            if not connected[sender, receiver]:
                text = f"no link {model.shared.node(sender)} -> {model.shared.node(receiver)}"
                model.add("links", text, sends + receives <= 1)
                continue
            for rate, conditions in required:
                model.flows.require((key, sender, receiver), rate, sends, receives, *conditions)


def _arrive(
    model: SharingModel,
    here: dict[int, Any],
    there: dict[int, Any],
    required: list[tuple[float, list[Any]]],
    key: Hashable,
    otherwise: list[Any],
) -> None:
    """What is received comes from the node itself or over some link: implied, but linear relaxations gain."""
    if model.relaxable:
        return
    for receiver, receives in there.items():
        for rate, conditions in required:
            ways = [model.flows.step((key, sender, receiver), rate) for sender in here if sender != receiver]
            local = [here[receiver]] if receiver in here else []
            arriving = [way for way in ways if way is not None]
            model.cp.add_bool_or(
                [*arriving, *local, *otherwise, receives.negated(), *(each.negated() for each in conditions)]
            )


def _add_downloads(model: SharingModel) -> None:
    shared, cp = model.shared, model.cp
    read = Highest(cp)
    needed: dict[tuple[str, int], list[Any]] = {}
    for number, places in enumerate(model.x):
        operator = int(shared.graph.operator_of[number])
        for name, per_s in shared.reads[operator].items():
            size = shared.problem.object_bytes[name]
            for node, literal in places.items():
                if name in shared.network.nodes[node].holds:
                    continue
                needed.setdefault((name, node), []).append(literal)
                read.require((name, node), per_s * size, literal)
                for taker, lift in model.fates.lifted(operator):
                    higher = shared.reads[taker].get(name, 0.0)
                    if higher > per_s:
                        read.require((name, node), higher * size, literal, lift)
    read.build()
    for (name, node), literals in needed.items():
        wanted = cp.new_bool_var("")
        for literal in literals:
            cp.add_implication(literal, wanted)
        holders = [k for k in shared.network.holders.get(name, ()) if shared.network.table.connected[k, node]]
        fetched = {holder: cp.new_bool_var("") for holder in holders}
        text = f"object {name}: no node that holds it has a link to {shared.node(node)}"
        if not holders:
            model.add("downloads", text, wanted == 0)
            continue
        cp.add(sum(fetched.values()) == wanted)
        for holder, literal in fetched.items():
            model.fetched[name, holder, node] = literal
            for rate, step in read.steps((name, node)).items():
                if rate > 0:
                    model.downloads.require((name, holder, node), rate, literal, step)
    model.downloads.build()
    for name, node in needed if not model.relaxable else ():
        for rate, step in read.steps((name, node)).items():
            ways = [
                way
                for holder in range(len(shared.network.nodes))
                if (way := model.downloads.step((name, holder, node), rate)) is not None
            ]
            if ways:
                cp.add_bool_or([*ways, step.negated()])


def crossing(model: SharingModel, downloads: bool = True) -> Iterator[tuple[Highest, Any, int, int]]:
    """Everything that may cross from one node to another: where its amount is, its key and both nodes."""
    for amounts in (model.flows, model.downloads) if downloads else (model.flows,):
        for key in amounts.keys:
            yield amounts, key, key[1], key[2]


def link_loads(model: SharingModel) -> dict[int, list[tuple[Highest, Any]]]:
    """For every physical link, as a number u * nodes + v, what may cross it."""
    entries = list(crossing(model))
    senders = np.array([entry[2] for entry in entries], dtype=np.intp)
    receivers = np.array([entry[3] for entry in entries], dtype=np.intp)
    position, links = model.shared.network.table.physical_hops(senders, receivers)
    loads: dict[int, list[tuple[Highest, Any]]] = {}
    for number, link in zip(position.tolist(), links.tolist(), strict=True):
        loads.setdefault(link, []).append(entries[number][:2])
    return loads


def _terms(loads: list[tuple[Highest, Any]], most: float) -> Terms:
    # One amount beyond breaks the limit alone; how far beyond does not matter.
    cap = 2.0 * most if most > 0 else 1.0
    return [term for amounts, key in loads for term in amounts.terms(key, cap)]


def _add_bandwidth(model: SharingModel) -> None:
    table, limit = model.shared.network.table, Bandwidth(model.shared.setting)
    for link, loads in link_loads(model).items() if table.bandwidth_bound else ():
        there = float(table.physical_bandwidth[limit.ends(link)])
        if np.isfinite(there):
            model.sum_at_most(limit.family, limit.asked(link, there), _terms(loads, there), there)


def _add_cards(model: SharingModel) -> None:
    cards, limit = model.shared.network.nic_bytes_per_s, NetworkCard(model.shared.setting)
    loads: dict[int, list[tuple[Highest, Any]]] = {}
    for amounts, key, sender, receiver in crossing(model):
        for node in (sender, receiver):
            loads.setdefault(node, []).append((amounts, key))
    for node in np.flatnonzero(np.isfinite(cards)).tolist():
        there = float(cards[node])
        terms = _terms(loads.get(node, []), there)
        model.sum_at_most(limit.family, limit.asked(node, there), terms, there)


def _add_ports(model: SharingModel) -> None:
    """The shares of link bandwidth that results take, each way; downloads don't count (004, constraint 2)."""
    network = model.shared.network
    if not network.one_port:
        return
    shares: dict[tuple[int, bool], Terms] = {}
    for amounts, key, sender, receiver in crossing(model, downloads=False):
        there = float(network.table.bandwidth_bytes_per_s[sender, receiver])
        if np.isinf(there):
            continue
        terms = [
            (step, height / there if there > 0 else 2.0)
            for step, height in amounts.terms(key, 2.0 * there if there > 0 else 1.0)
        ]
        shares.setdefault((sender, True), []).extend(terms)
        shares.setdefault((receiver, False), []).extend(terms)
    ports = {sending: Port(model.shared.setting, sending) for sending in (True, False)}
    for (node, sending), terms in shares.items():
        port = ports[sending]
        model.sum_at_most(port.family, port.asked(node, 1.0), terms, 1.0)
