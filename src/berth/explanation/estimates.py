"""Every metric of many moves at once, to find the moves that matter; the judge has the last word on those.

These are the judge's definitions (`berth.evaluation.metrics`) over an axis more; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.evaluation.goal import SMALLEST_AVAILABILITY, Goal
from berth.evaluation.metrics import METRIC_BY_NAME, AdditiveMetric
from berth.evaluation.situation import data_unit_bytes
from berth.explanation.moves import Moves, grouped_highest

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

AT_ONCE = 2_000_000
"""Cells of the arrays that are worked on together, to save memory."""


def response_times(moves: Moves) -> FloatArray:
    """The worst path after every move; NaN where a link is missing."""
    return _through(moves) if len(moves.unit.members) == 1 else _in_parts(moves, _plain_part)


def _through(moves: Moves) -> FloatArray:
    """One instance: the worst path through it, by what is before and behind it, or the worst around it."""
    situation, common = moves.situation, moves.common
    pairs, number = situation.pairs, moves.unit.first
    sender, receiver = moves.touched_ends
    delay = np.asarray(situation.network.table.delay_ms[sender.ravel(), receiver.ravel()]).reshape(
        sender.shape
    )
    touched = np.flatnonzero(moves.touched)
    comes_in = pairs.receiver[touched] == number
    before = (common.finish[pairs.sender[touched[comes_in]]][:, None] + delay[comes_in]).max(
        axis=0, initial=0.0
    )
    behind = (common.tail[pairs.receiver[touched[~comes_in]]][:, None] + delay[~comes_in]).max(
        axis=0, initial=0.0
    )
    work = situation.graph.work_ms[number] / situation.network.speed[moves.nodes]
    time, around = common.time.copy(), common.delay.copy()
    time[number], around[touched] = -np.inf, 0.0
    return np.asarray(np.maximum(before + work + behind, situation.schedule.finish(time, around).max()))


def loaded_response_times(moves: Moves) -> FloatArray:
    """The same with run queues, transmission and free ends; NaN where the size of a data unit is unknown."""
    return _in_parts(moves, _loaded_part)


def _in_parts(moves: Moves, part: Callable[[Moves], FloatArray]) -> FloatArray:
    cells = len(moves.nodes) * (len(moves.situation.graph) + len(moves.situation.pairs.sender))
    pieces = np.array_split(moves.nodes, -(-cells // AT_ONCE))
    return np.concatenate([part(moves.part(nodes)) for nodes in pieces if len(nodes)])


def _plain_part(moves: Moves) -> FloatArray:
    situation = moves.situation
    time = np.zeros((len(situation.graph), len(moves.nodes)))
    work, speed = situation.graph.work_ms, situation.network.speed
    time[moves.others] = (work[moves.others] / speed[situation.node_of[moves.others]])[:, None]
    time[moves.unit.members] = work[moves.unit.members][:, None] / speed[moves.nodes]
    return np.asarray(situation.schedule.finish(time, _delays(moves)).max(axis=0, initial=0.0))


def _delays(moves: Moves) -> FloatArray:
    situation, table = moves.situation, moves.situation.network.table
    pairs = situation.pairs
    delay = np.empty((len(pairs.sender), len(moves.nodes)))
    stays = ~moves.touched
    sender, receiver = situation.node_of[pairs.sender[stays]], situation.node_of[pairs.receiver[stays]]
    delay[stays] = np.asarray(table.delay_ms[sender, receiver])[:, None]
    here, there = moves.touched_ends
    delay[moves.touched] = np.asarray(table.delay_ms[here.ravel(), there.ravel()]).reshape(here.shape)
    return delay


def _loaded_part(moves: Moves) -> FloatArray:
    situation = moves.situation
    network, work = situation.network, situation.graph.work_ms
    others, members = moves.others, moves.unit.members
    hosted = np.bincount(situation.node_of[others], minlength=len(network.nodes))
    time = np.zeros((len(situation.graph), len(moves.nodes)))
    node = situation.node_of[others][:, None]
    joined = hosted[node] + len(members) * (node == moves.nodes)
    time[others] = work[others][:, None] / network.speed[node] * _queue(moves, node, joined)
    there = hosted[moves.nodes] + len(members)
    time[members] = work[members][:, None] / network.speed[moves.nodes] * _queue(moves, moves.nodes, there)
    schedule = situation.schedule
    time[~schedule.has_input | ~schedule.has_output] = 0.0
    return np.asarray(schedule.finish(time, _delays(moves) + _transmissions(moves)).max(axis=0, initial=0.0))


def _queue(moves: Moves, node: IndexArray, hosted: IndexArray) -> FloatArray:
    return np.maximum(1.0, moves.situation.network.run_queue[node] + hosted)


def _transmissions(moves: Moves) -> FloatArray:
    situation = moves.situation
    sender, receiver = moves.ends(np.arange(len(situation.pairs.sender)))
    size = data_unit_bytes(situation.problem)[situation.pairs.stream][:, None]
    card = situation.network.nic_bytes_per_s[sender]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((sender == receiver) | np.isinf(card), 0.0, 1000.0 * size / card)


def scores(moves: Moves, goal: Goal) -> FloatArray | None:
    """The goal after every move, less is better, infinite where a link is missing; None: can't be computed.

    The constant of a normalised sum is left out.
    """
    if not moves.clear:
        return None
    total = np.zeros(len(moves.nodes))
    with np.errstate(invalid="ignore", over="ignore"):
        for name in goal.weights:
            values = metric_values(moves, name)
            if values is None:
                return None
            if name == "availability" and goal.single is None and goal.scale == "normalised":
                values = np.log(np.maximum(values, SMALLEST_AVAILABILITY))
            total += goal.coefficient(name) * values
    return np.where(np.isnan(total), np.inf, total)


def metric_values(moves: Moves, name: str) -> FloatArray | None:
    """A metric after every move; NaN where a link is missing, None where it can't be computed."""
    metric = METRIC_BY_NAME[name]
    if metric.needs_rates and not moves.situation.rates_known:
        return None
    if name in _OTHERS:
        return _OTHERS[name](moves)
    if not isinstance(metric, AdditiveMetric):
        # Containers are what they are, wherever they stand.
        value = metric.value(moves.situation)
        return None if value is None else np.full(len(moves.nodes), value)
    if metric.needs_previous and moves.situation.setting.previous is None:
        return None
    return _sum(moves, metric)


def _sum(moves: Moves, metric: AdditiveMetric) -> FloatArray:
    situation = moves.situation
    network, setting, others = situation.network, situation.setting, moves.others
    size, members = len(moves.nodes), moves.unit.members
    total = np.zeros(size)
    if metric.per_instance is not None:
        total += metric.per_instance(setting, others, situation.node_of[others]).sum()
        moved = metric.per_instance(setting, np.repeat(members, size), np.tile(moves.nodes, len(members)))
        total += moved.reshape(len(members), size).sum(axis=0)
    if metric.per_pair is not None:
        pairs = situation.pairs
        sender, receiver = pairs.sender[~moves.touched], pairs.receiver[~moves.touched]
        total += metric.per_pair(network, situation.node_of[sender], situation.node_of[receiver]).sum()
        here, there = moves.touched_ends
        moved = metric.per_pair(network, here.ravel(), there.ravel())
        total += moved.reshape(here.shape).sum(axis=0)
        total[moves.unlinked] = np.nan
    if metric.per_node is not None:
        weight = metric.per_node(network)
        used = np.unique(situation.node_of[others])
        total += weight[used].sum() + np.where(np.isin(moves.nodes, used), 0.0, weight[moves.nodes])
    if metric.per_flow is not None:
        total += _flow_sum(moves, metric.per_flow, metric.downloads)
    return np.exp(total) if metric.product else total


def _flow_sum(moves: Moves, weight: Callable[..., FloatArray], downloads: bool) -> FloatArray:
    network = moves.situation.network
    stay, change = moves.staying, moves.changing
    total = float((weight(network, stay.sender, stay.receiver) * stay.rate).sum())
    if downloads:
        fetched = moves.situation.downloads
        total += float((weight(network, fetched.sender, fetched.receiver) * fetched.rate).sum())
    return total + moves.per_move(change, weight(network, change.sender, change.receiver) * change.rate)


def _processing_power(moves: Moves) -> FloatArray | None:
    situation = moves.situation
    if any(application.throughput_per_s is None for application in situation.problem.applications):
        return None
    related = _equal_to_the_unit(moves)
    staying = situation.running[~related[situation.running]]
    moving = np.union1d(moves.unit.members, situation.running[related[situation.running]])
    nodes = situation.node_of[staying][:, None]
    total = _busy(moves, staying, nodes, 1)[0]
    places = np.where(moves.inside[moving][:, None], moves.nodes[None, :], situation.node_of[moving][:, None])
    return np.asarray(total + _busy(moves, moving, places, len(moves.nodes)))


def _equal_to_the_unit(moves: Moves) -> NDArray[np.bool_]:
    """The instances that compute what a member does, and the members."""
    keys = moves.situation.problem.sharing_keys
    if not keys.possible:
        return moves.inside
    every = keys.computation_keys(np.arange(len(moves.situation.graph)))
    return np.isin(every, every[moves.unit.members])


def _busy(moves: Moves, instances: IndexArray, places: IndexArray, size: int) -> FloatArray:
    """Busy processors for every column of places (rows: the instances), equal computations once a node."""
    situation = moves.situation
    keys, node = situation.problem.sharing_keys, places.ravel()
    amounts = np.repeat(situation.processor_load[instances], size)
    move = np.tile(np.arange(size), len(instances))
    if keys.possible:
        key = np.repeat(keys.computation_keys(instances), size)
        first, amounts = grouped_highest(amounts, move, key, node)
        move, node = move[first], node[first]
    busy = amounts / situation.network.speed[node]
    return np.asarray(np.bincount(move, busy, minlength=size), dtype=np.float64)


def _bandwidth_max(moves: Moves) -> FloatArray:
    """The fullest link after every move: of those that keep their loads, or that the unit's flows cross."""
    situation = moves.situation
    table, fetched = situation.network.table, situation.downloads
    sender = np.concatenate([moves.staying.sender, fetched.sender])
    receiver = np.concatenate([moves.staying.receiver, fetched.receiver])
    rate = np.concatenate([moves.staying.rate, fetched.rate])
    position, crossed = table.physical_hops(sender, receiver)
    links, group = np.unique(crossed, return_inverse=True)
    loads = np.asarray(np.bincount(group, rate[position], minlength=len(links)), dtype=np.float64)
    change = moves.changing
    position, crossed = table.physical_hops(change.sender, change.receiver)
    size = len(situation.network.nodes) ** 2
    both, group = np.unique(change.move[position] * size + crossed, return_inverse=True)
    move, link = np.divmod(both, size)
    added = np.asarray(np.bincount(group, change.rate[position], minlength=len(both)), dtype=np.float64)
    if len(links):
        found = np.minimum(np.searchsorted(links, link), len(links) - 1)
        added = added + np.where(links[found] == link, loads[found], 0.0)
    highest = np.full(len(moves.nodes), _ratios(situation, links, loads).max(initial=0.0))
    np.maximum.at(highest, move, _ratios(situation, link, added))
    highest[moves.unlinked] = np.nan
    return highest


def _ratios(situation: Situation, links: IndexArray, loads: FloatArray) -> FloatArray:
    bandwidth = np.asarray(situation.network.table.physical_bandwidth.ravel()[links])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(loads > 0, loads / bandwidth, 0.0)


_OTHERS: dict[str, Callable[[Moves], FloatArray | None]] = {
    "response_time": response_times,
    "loaded_response_time": loaded_response_times,
    "processing_power": _processing_power,
    "bandwidth_max": _bandwidth_max,
}
