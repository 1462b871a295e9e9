"""A problem with many applications as flat arrays: what the compiled engine works on, and never changes.

Units are instances; kinds are classes of equal operators; a list of lists is one array with the bounds of its
parts in another, `x_first`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.policies.many.cells import Cells, cells_of, limits_of
from berth.policies.many.lists import joined, lists_of
from berth.policies.many.network import Nodes, nodes_of
from berth.policies.many.objects import Objects, objects_of
from berth.policies.many.rules import Rules, rules_of
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Units(NamedTuple):
    """What is placed, in the order of the problem's instances."""

    operator: IntArray
    computation: IntArray
    """Units of one computation count once on a node."""
    computation_first: IntArray
    computation_units: IntArray
    work: FloatArray
    """Seconds on the reference processor for each result of the whole operator."""
    demand: FloatArray
    """By unit and resource."""


class Pairs(NamedTuple):
    """Units that communicate."""

    sender: IntArray
    receiver: IntArray
    result: IntArray
    """Pairs with the same result count once between the same two nodes."""
    result_first: IntArray
    result_pairs: IntArray
    fixed_rate: FloatArray
    rate_per_result: FloatArray
    """A pair carries its fixed rate plus this times the receiver's throughput."""
    in_first: IntArray
    in_pairs: IntArray
    out_first: IntArray
    out_pairs: IntArray


class Operators(NamedTuple):
    """What is computed, reused or skipped as a whole."""

    first_unit: IntArray
    """Bounds: an operator's units follow each other."""
    kind: IntArray
    shareable: BoolArray
    kind_first: IntArray
    kind_operators: IntArray
    rank: IntArray
    """Its place in the list of its kind."""
    match_first: IntArray
    """Of every kind: where its square of matches begins."""
    own: FloatArray
    """Its application's throughput; -1: none."""
    input_first: IntArray
    inputs: IntArray
    consumer_first: IntArray
    consumers: IntArray


@structref.register
class _CaseType(types.StructRef):
    """A case for compiled code: a reference. Tuples of a hundred arrays would be copied with every call."""


class Case(structref.StructRefProxy):
    """A problem."""

    cells: Cells
    limit: FloatArray
    """Of every load."""
    units: Units
    pairs: Pairs
    operators: Operators
    objects: Objects
    nodes: Nodes
    rules: Rules


_FIELDS = tuple(Case.__annotations__)
structref.define_proxy(Case, _CaseType, list(_FIELDS))  # type: ignore[no-untyped-call]


def case_of(setting: Setting) -> Case:
    """The arrays of a problem.

    Raises:
        AllPairsError: there are too many nodes for matrices.
    """
    units, pairs, operators = _units(setting), _pairs(setting), _operators(setting)
    objects, nodes = objects_of(setting.problem), nodes_of(setting.problem.network)
    cells = cells_of(
        nodes=len(nodes.speed),
        resources=units.demand.shape[1],
        links=int(nodes.link.max(initial=-1)) + 1,
        units=len(units.operator),
        pairs=len(pairs.sender),
        operators=len(operators.kind),
        reads=len(objects.read_object),
        objects=len(objects.holds),
        matches=int(operators.match_first[-1]),
    )
    limit = limits_of(setting, cells, nodes.link)
    parts = cells, limit, units, pairs, operators, objects, nodes, rules_of(setting.problem)
    case = _case(*parts)
    for name, part in zip(_FIELDS, parts, strict=True):
        setattr(case, name, part)
    return case


@compiled
def _case(
    cells: Cells,
    limit: FloatArray,
    units: Units,
    pairs: Pairs,
    operators: Operators,
    objects: Objects,
    nodes: Nodes,
    rules: Rules,
) -> Case:
    parts = units, pairs, operators, objects, nodes, rules
    return Case(cells, limit, *parts)  # type: ignore[no-untyped-call]


def _units(setting: Setting) -> Units:
    graph, keys = setting.problem.instances, setting.problem.sharing_keys
    everyone = np.arange(len(graph))
    computation = _numbered(keys.computation_keys(everyone) if keys.possible else everyone)
    first, units = lists_of(computation, len(graph))
    demand = np.array([graph.demand(name) for name in graph.resources]).reshape(-1, len(graph))
    work = graph.work_ms / 1000.0 / graph.operator_values("parallelism")
    return Units(
        graph.operator_of.astype(np.int64), computation, first, units, work, np.ascontiguousarray(demand.T)
    )


def _pairs(setting: Setting) -> Pairs:
    graph, keys = setting.problem.instances, setting.problem.sharing_keys
    ends = graph.pair_sender, graph.pair_receiver
    everyone = np.arange(len(graph.pair_sender))
    result = _numbered(keys.result_keys(*ends, graph.pair_stream) if keys.possible else everyone)
    stream = graph.pair_stream
    scaled = graph.stream_follows_throughput[stream]
    size = graph.output_bytes[graph.stream_ends[stream, 0]]
    # What is not known binds nothing.
    fixed = np.where(scaled, 0.0, np.nan_to_num(graph.stream_rate[stream])) * graph.pair_share
    per_result = np.where(scaled, np.nan_to_num(size), 0.0) * graph.pair_share
    return Pairs(
        ends[0].astype(np.int64),
        ends[1].astype(np.int64),
        result,
        *lists_of(result, len(everyone)),
        fixed,
        per_result,
        *lists_of(ends[1], len(graph)),
        *lists_of(ends[0], len(graph)),
    )


def _operators(setting: Setting) -> Operators:
    problem = setting.problem
    graph, keys = problem.instances, problem.sharing_keys
    count = len(graph.operators)
    kind = keys.classes.astype(np.int64)
    kind_first, kind_operators = lists_of(kind, count)
    rank = np.empty(count, dtype=np.int64)
    rank[kind_operators] = np.arange(count) - kind_first[kind[kind_operators]]
    squares = np.diff(kind_first) ** 2
    throughput = np.array([application.throughput_per_s for application in problem.applications], np.float64)
    first_unit = np.array([*(item.first for item in graph.operators), len(graph)], dtype=np.int64)
    shareable = np.array([len(graph.inputs[k]) > 0 for k in range(count)], dtype=bool)
    shareable |= np.array([bool(item.operator.reads) for item in graph.operators])
    shareable &= np.array([problem.sharing and item.operator.type is not None for item in graph.operators])
    return Operators(
        first_unit,
        kind,
        shareable,
        kind_first,
        kind_operators,
        rank,
        np.concatenate([[0], np.cumsum(squares)]).astype(np.int64),
        np.nan_to_num(throughput, nan=-1.0)[graph.operator_application],
        *joined(graph.inputs),
        *joined(graph.consumers),
    )


def _numbered(keys: NDArray[np.intp]) -> IntArray:
    """Keys as numbers from 0."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
