"""What operators read, and where it is held."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.policies.many.lists import joined, lists_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Objects(NamedTuple):
    """The objects, and the reads of all operators."""

    read_first: IntArray
    """Bounds: of every operator, its reads."""
    read_object: IntArray
    """Ascending for each operator, so that equal operators read the same objects in the same order."""
    read_rate: FloatArray
    """Bytes per second for the operator's own application."""
    reader_first: IntArray
    reader_unit: IntArray
    reader_read: IntArray
    """Of every object, the units that read it, and by which read."""
    holder_first: IntArray
    holders: IntArray
    holds: BoolArray
    """By object and node."""


def objects_of(problem: Problem) -> Objects:
    """The arrays of a problem's objects."""
    graph, network = problem.instances, problem.network
    numbers = {item.name: number for number, item in enumerate(problem.objects)}
    size = np.array([item.bytes for item in problem.objects], dtype=np.float64)
    reads = [
        sorted({numbers[read.object]: read.per_s for read in item.operator.reads}.items())
        for item in graph.operators
    ]
    read_first, read_object = joined([[number for number, _ in found] for found in reads])
    per_s = np.array([rate for found in reads for _, rate in found], dtype=np.float64)
    counts = np.diff(read_first)[graph.operator_of]
    unit = np.repeat(np.arange(len(graph)), counts)
    ends = np.cumsum(counts)
    read = np.arange(len(unit)) - (ends - counts)[unit] + read_first[graph.operator_of[unit]]
    reader_first, order = lists_of(read_object[read], len(numbers))
    holders = [network.holders.get(name, []) for name in numbers]
    holds = np.zeros((len(numbers), len(network.nodes)), dtype=bool)
    for number, found in enumerate(holders):
        holds[number, found] = True
    return Objects(
        read_first,
        read_object,
        per_s * size[read_object],
        reader_first,
        unit[order].astype(np.int64),
        read[order].astype(np.int64),
        *joined(holders),
        holds,
    )
