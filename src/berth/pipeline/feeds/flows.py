"""How many tuples and bytes the streams carry over a feed, and how many tuples each instance takes in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.situation import data_unit_bytes
from berth.model import Plan, Problem
from berth.model.errors import BadInput, did_you_mean

IntArray = NDArray[np.int64]

MOST = 9.0e15
"""Whole numbers that a double holds exactly end here."""
TUPLES_PER_S = 1.0
"""Of an operator about which neither a rate nor a throughput says anything."""


@dataclass(frozen=True, eq=False)
class Flows:
    """Totals over the whole feed, as whole numbers, and where the instances run."""

    streams: IntArray
    """The numbers of the streams that are reported; `tuples` and `bytes` are aligned with it."""
    tuples: IntArray
    bytes: IntArray
    instances: IntArray
    """The numbers of the instances that are reported; `taken` and `nodes` are aligned with it."""
    taken: IntArray
    nodes: IntArray
    notes: tuple[str, ...]


def flows_of(problem: Problem, seconds: float, tuple_bytes: float, plan: Plan | None) -> Flows:
    """What a feed of some seconds reports of a problem's streams and instances.

    Raises:
        BadInput: the plan names instances or nodes that the problem doesn't have.
    """
    graph = problem.instances
    sizes = np.where(np.isnan(graph.tuple_bytes), data_unit_bytes(problem), graph.tuple_bytes)
    unsized = ~(np.isfinite(sizes) & (sizes > 0))
    sizes = np.where(unsized, tuple_bytes, sizes)
    amounts = np.rint(graph.stream_rate * seconds)
    counts = np.where(amounts > 0, np.maximum(np.rint(amounts / sizes), 1.0), amounts)
    unknown = np.isnan(amounts)
    uncountable = ~unknown & ((amounts > MOST) | (counts > MOST))
    reported = np.flatnonzero(~unknown & ~uncountable)
    taken, guessed = _taken(problem, np.where(uncountable, np.nan, counts), seconds)
    nodes = _round_robin(problem) if plan is None else _planned(problem, plan)
    placed = np.flatnonzero(nodes >= 0)
    countable = placed[taken[placed] <= MOST]
    notes = [
        _note(unknown, "streams have an unknown rate and are left out"),
        _note(unsized & ~unknown, f"streams have no tuple_bytes and get tuples of {tuple_bytes:g} bytes"),
        _note(uncountable, "streams carry more than can be counted and are left out"),
        _note(guessed, f"operators have an unknown input and get {TUPLES_PER_S:g} tuple/s for each unknown"),
        _note(nodes < 0, "instances are not in the plan and are left out"),
        _note(taken[placed] > MOST, "instances take more than can be counted and are left out"),
    ]
    return Flows(
        streams=reported,
        tuples=counts[reported].astype(np.int64),
        bytes=amounts[reported].astype(np.int64),
        instances=countable,
        taken=taken[countable].astype(np.int64),
        nodes=nodes[countable],
        notes=tuple(note for note in notes if note),
    )


def _note(which: NDArray[np.bool_], text: str) -> str | None:
    count = int(np.count_nonzero(which))
    return f"{count:,} {text}" if count else None


def _taken(
    problem: Problem, counts: NDArray[np.float64], seconds: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Tuples that each instance takes in, and which operators' inputs had to be guessed."""
    graph = problem.instances
    taken = np.zeros(len(graph))
    guessed = np.zeros(len(graph.operators), dtype=bool)
    fed = np.zeros(len(graph.operators), dtype=bool)
    for stream, count, (_, receiver) in zip(graph.streams, counts, graph.stream_ends.tolist(), strict=True):
        fed[receiver] = True
        if np.isnan(count):
            count, guessed[receiver] = _default_count(problem, receiver, seconds, guessed[receiver])
        instances = graph.operators[receiver].instances
        if stream.grouping == "all":
            taken[instances] += count
        elif stream.grouping == "global":
            taken[instances.start] += count
        else:
            taken[instances] += _dealt(count, len(instances))
    emitted = np.full(len(graph.operators), np.nan)
    np.fmax.at(emitted, graph.stream_ends[:, 0], counts)
    for number in np.flatnonzero(~fed).tolist():
        count = emitted[number]
        if np.isnan(count):
            count, guessed[number] = _default_count(problem, number, seconds, False)
        instances = graph.operators[number].instances
        taken[instances] = _dealt(count, len(instances))
    return taken, guessed


def _default_count(problem: Problem, operator: int, seconds: float, guessed: bool) -> tuple[float, bool]:
    """Tuples where no rate is known: the throughput's, else a guess."""
    throughput = problem.applications[problem.instances.operators[operator].application].throughput_per_s
    rate = TUPLES_PER_S if throughput is None else throughput
    return float(np.rint(rate * seconds)), guessed or throughput is None


def _dealt(count: float, hands: int) -> NDArray[np.float64]:
    """A count shared out evenly, in whole numbers."""
    return np.floor((count + np.arange(hands)[::-1]) / hands)


def _round_robin(problem: Problem) -> IntArray:
    """Each instance on one of the nodes that may host it, in turn."""
    graph = problem.instances
    nodes = np.zeros(len(graph), dtype=np.int64)
    for number, operator in enumerate(graph.operator_of.tolist()):
        allowed = graph.allowed_nodes[operator]
        choices = allowed if len(allowed) else graph.candidate_nodes[operator]
        nodes[number] = choices[number % len(choices)]
    return nodes


def _planned(problem: Problem, plan: Plan) -> IntArray:
    """The nodes of a plan; -1 where it says nothing."""
    graph, network = problem.instances, problem.network
    nodes = np.full(len(graph), -1, dtype=np.int64)
    mistakes = []
    for instance, node in plan.assignment.items():
        if instance not in graph.index:
            mistakes.append(
                f"--plan: assignment.{instance}: no instance {did_you_mean(instance, graph.index)}"
            )
        elif node not in network.index:
            mistakes.append(f"--plan: assignment.{instance}: no node {did_you_mean(node, network.index)}")
        else:
            nodes[graph.index[instance]] = network.index[node]
    if mistakes:
        raise BadInput(mistakes)
    return nodes
