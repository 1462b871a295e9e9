"""Response times of many moves at once: the judge's sweep over the instances, with a column for each move."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.situation import data_unit_bytes
from berth.explanation.moves import Moves

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
