"""What is placed in the latency space: units of instances, joined by the streams between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from berth.core import space as core
from berth.model import BadInput, Problem
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.policy import mistakes_for


@dataclass(frozen=True, eq=False)
class UnitGraph:
    """Units (an instance, or instances that must be together) and what flows between them.

    The neighbours of unit k are `neighbours[offsets[k] : offsets[k + 1]]`; aligned with these are the
    bytes per second that it sends to each (`forward`) and receives from it (`backward`).
    """

    names: list[str]
    """Every unit's first instance by name."""
    unit_of: IndexArray
    """The unit of every instance."""
    first: IndexArray
    """Every unit's first instance."""
    fixed: IndexArray
    """The only node that may host a unit; -1: it has a choice, or none at all."""
    allowed: list[IndexArray | None]
    """The nodes that may host each unit, in order; None: every node that hosts."""
    offsets: IndexArray
    neighbours: IndexArray
    forward: FloatArray
    backward: FloatArray
    sends: BoolArray
    """Whether there is a stream to the neighbour, even if it carries nothing."""
    receives: BoolArray

    def __len__(self) -> int:
        return len(self.fixed)

    @property
    def weights(self) -> FloatArray:
        """Bytes per second both ways."""
        return self.forward + self.backward

    @cached_property
    def owner(self) -> IndexArray:
        """The unit that each entry of `neighbours` belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def streams(self) -> core.Streams:
        """The same for compiled code."""
        return core.Streams(
            self.offsets, self.neighbours, self.forward, self.backward, self.sends, self.receives
        )

    def entries(self, unit: int) -> slice:
        """Where a unit's neighbours are."""
        return slice(self.offsets[unit], self.offsets[unit + 1])


def unit_graph(problem: Problem) -> UnitGraph:
    """The units of a problem.

    Raises:
        BadInput: a stream's rate is not known.
    """
    graph = problem.instances
    if np.isnan(graph.stream_rate).any():
        raise BadInput(mistakes_for(problem, "network_usage", "this policy needs rates"))
    unit_of = problem.block_of
    first = np.unique(unit_of, return_index=True)[1]
    streams = _adjacency(
        len(first), unit_of[graph.pair_sender], unit_of[graph.pair_receiver], graph.pair_rate
    )
    allowed = _allowed(problem, unit_of, len(first))
    fixed = np.array(
        [-1 if nodes is None or len(nodes) != 1 else nodes[0] for nodes in allowed], dtype=np.intp
    )
    names = [graph.names[number] for number in first.tolist()]
    return UnitGraph(names, unit_of, first, fixed, allowed, *streams)


def _adjacency(
    size: int, sender: IndexArray, receiver: IndexArray, rate: FloatArray
) -> tuple[IndexArray, IndexArray, FloatArray, FloatArray, BoolArray, BoolArray]:
    """Offsets and neighbours of every unit, the rates to and from them, and whether streams go each way."""
    apart = sender != receiver
    sender, receiver, rate = sender[apart], receiver[apart], rate[apart]
    keys = np.concatenate([sender * size + receiver, receiver * size + sender])
    found, group = np.unique(keys, return_inverse=True)
    nothing = np.zeros(len(rate))
    forward: FloatArray = np.bincount(group, np.concatenate([rate, nothing]), len(found)).astype(np.float64)
    backward: FloatArray = np.bincount(group, np.concatenate([nothing, rate]), len(found)).astype(np.float64)
    half = len(rate)
    sends, receives = np.zeros(len(found), dtype=bool), np.zeros(len(found), dtype=bool)
    sends[group[:half]] = True
    receives[group[half:]] = True
    offsets = np.searchsorted(found, np.arange(size + 1) * size).astype(np.intp)
    return offsets, np.asarray(found % max(size, 1), dtype=np.intp), forward, backward, sends, receives


def _allowed(problem: Problem, unit_of: IndexArray, count: int) -> list[IndexArray | None]:
    """The nodes that may host each unit: what all its operators allow."""
    graph, hosting = problem.instances, problem.network.hosting
    allowed: list[IndexArray | None] = [None] * count
    for unit, operator in dict.fromkeys(zip(unit_of.tolist(), graph.operator_of.tolist(), strict=True)):
        nodes = graph.allowed_nodes[operator]
        if len(nodes) < len(hosting) or len(hosting) <= 1:
            before = allowed[unit]
            allowed[unit] = nodes if before is None else np.intersect1d(before, nodes)
    return allowed
