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
    return _in_parts(moves, _plain_part)


def loaded_response_times(moves: Moves) -> FloatArray | None:
    """The same with run queues, transmission and free ends; None where the size of a data unit is unknown."""
    return None if _size_unknown(moves) else _in_parts(moves, _loaded_part)


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


def _size_unknown(moves: Moves) -> bool:
    """Whether a data unit of unknown size would have to be put on the wire by a limited card."""
    situation = moves.situation
    unknown = np.isnan(data_unit_bytes(situation.problem)[situation.pairs.stream])
    return bool(unknown.any()) and situation.network.cards_bound
