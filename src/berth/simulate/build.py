"""The state that a simulation begins with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.simulate.flow import TupleFlow
from berth.simulate.options import Options
from berth.simulate.state import (
    BINS_PER_DECADE,
    COUNTS,
    DECADES,
    DUE,
    FIXED,
    FREE,
    HOP,
    IN_TURN,
    INSTANCE,
    JITTER,
    LINK,
    MOST,
    NODE,
    NODE_RECORD,
    OUTPUT,
    PAIR,
    PROCESSOR_NUMBERS,
    PROCESSORS,
    QUEUE,
    REGULAR,
    RESULT,
    SUMS,
    TUPLE,
    WAY,
    IntArray,
    Net,
    Records,
    State,
    Tally,
    Work,
)
from berth.simulate.wiring import LOCAL, Outputs, Routes, outputs_of

FIRST_ROOM = 4096
MOST_PAIRS = 1_000_000
"""Sources times sinks up to which instances are told apart; beyond, only their operators."""


def first_state(situation: Situation, flow: TupleFlow, routes: Routes, options: Options) -> State:
    """Nothing has come in yet."""
    outputs = outputs_of(situation)
    work = _first_work(situation, flow, outputs, options)
    net = Net(_outputs(outputs, flow), np.zeros(0, WAY), np.zeros(0, HOP), np.zeros(0, LINK))
    rows, columns = int(work.instances["source"].max()) + 1, int(work.instances["sink"].max()) + 1
    tally = Tally(
        sums=np.zeros(SUMS),
        pairs=np.zeros((rows, columns), dtype=PAIR),
        histogram=np.zeros(DECADES * BINS_PER_DECADE, dtype=np.int64),
        results=np.zeros(options.record, dtype=RESULT),
    )
    tally.sums[JITTER] = options.jitter_ms / 1000.0
    return placed(State(work, net, tally), situation, routes, outputs)


def _first_work(situation: Situation, flow: TupleFlow, outputs: Outputs, options: Options) -> Work:
    count, nodes = len(situation.graph), len(situation.network.nodes)
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[REGULAR] = options.arrivals == "regular"
    counts[FIXED] = options.service == "fixed"
    counts[PROCESSORS] = PROCESSOR_NUMBERS[options.processors]
    counts[IN_TURN] = options.split == "in-turn"
    counts[MOST] = _most_at_once(outputs, flow)
    room = FIRST_ROOM + 2 * int(counts[MOST])
    pool = np.zeros(room, dtype=TUPLE)
    pool["following"] = np.arange(1, room + 1)
    counts[FREE] = room
    queues = np.zeros(count + nodes + count, dtype=QUEUE)
    for name in ("head", "tail", "serving", "order"):
        queues[name] = -1
    node_records = np.zeros(nodes, dtype=NODE_RECORD)
    node_records["order"] = -1
    heap = np.zeros(2 * room + 4 * (count + nodes), dtype=DUE)
    return Work(heap, pool, _instances(situation, flow, outputs), queues, node_records, counts)


def placed(state: State, situation: Situation, routes: Routes, outputs: Outputs) -> State:
    """The state with every instance where a plan has it; nothing else changes, tuples least of all."""
    instances, nodes = state.work.instances, state.work.nodes
    count, running = len(situation.graph), np.flatnonzero(situation.computed)
    instances["node"] = np.where(situation.computed, situation.node_of, 0)
    instances["service"] = situation.graph.work_ms / 1000.0 / situation.network.speed[instances["node"]]
    one_for_all = state.work.counts[PROCESSORS] == NODE
    instances["server"] = count + instances["node"] if one_for_all else np.arange(count)
    nodes["first"] = instances["neighbour"] = -1
    for instance in running[::-1].tolist():
        node = instances["node"][instance]
        instances["neighbour"][instance], nodes["first"][node] = nodes["first"][node], instance
    ends = np.array([*routes.between(situation, outputs)], dtype=np.int64)
    first = np.array(routes.first)
    ways = np.zeros(len(ends), dtype=WAY)
    ways["first"] = np.where(ends == LOCAL, -1, first[ends])
    ways["last"] = np.where(ends == LOCAL, -1, first[np.minimum(ends + 1, len(first) - 1)])
    known = len(state.net.links)
    new = np.zeros(len(routes.bandwidth) - known, dtype=LINK)
    new["bandwidth"] = routes.bandwidth[known:]
    hops = np.zeros(len(routes.hop_link), dtype=HOP)
    hops["link"], hops["delay"] = routes.hop_link, routes.hop_delay
    links = np.concatenate([state.net.links, new])
    return state._replace(net=Net(state.net.outputs, ways, hops, links))


def _instances(situation: Situation, flow: TupleFlow, outputs: Outputs) -> Records:
    count = len(situation.graph)
    records = np.zeros(count, dtype=INSTANCE)
    records["unit"], records["gain"] = flow.unit, flow.gain
    records["order"] = -1
    records["first"], records["last"] = outputs.first[:-1], outputs.first[1:]
    sinks = situation.computed & (np.diff(outputs.first) == 0)
    by_operator = int(flow.is_source.sum()) * int(sinks.sum()) > MOST_PAIRS
    group = situation.graph.operator_of if by_operator else np.arange(count)
    records["source"] = _numbered(group, flow.is_source)
    records["sink"] = _numbered(group, sinks)
    return records


def _numbered(group: IntArray, among: NDArray[np.bool_]) -> IntArray:
    """Numbers from 0 on for the groups of some instances; -1 for the others."""
    numbers = np.full(len(group), -1, dtype=np.int64)
    chosen = np.flatnonzero(among)
    numbers[chosen] = np.unique(group[chosen], return_inverse=True)[1]
    return numbers


def _outputs(outputs: Outputs, flow: TupleFlow) -> Records:
    records = np.zeros(len(outputs.stream), dtype=OUTPUT)
    records["receiver"], records["count"], records["way"] = outputs.receiver, outputs.count, outputs.pair
    records["all"] = outputs.to_all
    records["bytes"] = flow.stream_bytes[outputs.stream]
    return records


def _most_at_once(outputs: Outputs, flow: TupleFlow) -> int:
    """How many tuples one event can make."""
    each = np.where(outputs.to_all, outputs.count, 1)
    sums = np.concatenate([[0], np.cumsum(each)])
    per_result = sums[outputs.first[1:]] - sums[outputs.first[:-1]]
    return int((per_result * np.ceil(flow.gain + 1.0)).max(initial=0)) + 2
