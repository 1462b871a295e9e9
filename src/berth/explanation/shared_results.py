"""What sharing saves: the same plan with everything computed for itself, before the same judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from berth.evaluation import METRIC_BY_KEY, Evaluation, Situation, evaluate
from berth.model import Plan

COMPARED = (
    "processing_power",
    "nodes_used",
    "enrolled_speed",
    "bandwidth_sum_bytes_per_s",
    "traffic_bytes_per_s",
)
"""The metrics that tell what sharing is worth."""


@dataclass(frozen=True)
class Reused:
    """A result that is taken from another operator."""

    taker: str
    provider: str
    nodes: tuple[str, ...]
    """Where the provider runs."""
    busy: float | None
    """The processors that the taker would keep busy there by itself; None without a throughput."""


@dataclass(frozen=True)
class Once:
    """Instances that compute the same on one node, which counts once."""

    node: str
    instances: tuple[str, ...]


@dataclass(frozen=True)
class Sharing:
    """Who uses whose results, and what that saves."""

    reused: tuple[Reused, ...]
    once: tuple[Once, ...]
    skipped: tuple[str, ...]
    alone: Evaluation
    """The same plan with everything computed for itself, at the places of what it reuses."""
    saved: dict[str, float]
    """By metric, what computing everything for itself would add."""


def sharing_of(situation: Situation) -> Sharing | None:
    """What a plan shares; None where it shares nothing."""
    if not situation.problem.sharing_keys.possible or situation.reuse_mistakes:
        return None
    once = tuple(_once(situation))
    if not (situation.plan.reuse or once):
        return None
    alone = evaluate(replace(situation.problem, sharing=False), plan_alone(situation))
    saved = {}
    for key in COMPARED:
        together = METRIC_BY_KEY[key].value(situation)
        if together is not None and key in alone.metrics:
            saved[key] = alone.metrics[key] - together
    return Sharing(tuple(_reused(situation)), once, tuple(situation.plan.skipped), alone, saved)


def plan_alone(situation: Situation) -> Plan:
    """The plan with every operator computed: what was reused or skipped runs where its equal does."""
    graph, network = situation.graph, situation.network
    nodes = situation.node_of.copy()
    # Consumers before those that feed them: a skipped operator follows the inputs of its consumer's provider.
    stands_for = {number: int(situation.provider[number]) for number in range(len(graph.operators))}
    for number in reversed(graph.operator_order):
        if graph.operators[number].name in situation.plan.skipped:
            stands_for[number] = _counterpart(situation, number, stands_for)
    for number, other in stands_for.items():
        if other == number:
            continue
        given = list(graph.operators[other].instances)
        for position, instance in enumerate(graph.operators[number].instances):
            nodes[instance] = situation.node_of[given[position % len(given)]]
    placed = np.flatnonzero(nodes >= 0).tolist()
    assignment = {graph.names[instance]: network.nodes[nodes[instance]].name for instance in placed}
    return replace(situation.plan, assignment=assignment, reuse={}, skipped=())


def _counterpart(situation: Situation, skipped: int, stands_for: dict[int, int]) -> int:
    """The computed operator whose result made a skipped one needless, or one near it."""
    graph, classes = situation.graph, situation.problem.sharing_keys.classes
    for consumer in graph.consumers[skipped]:
        above = [int(situation.provider[number]) for number in graph.inputs[stands_for[consumer]]]
        equal = [number for number in above if classes[number] == classes[skipped]]
        if equal:
            return equal[0]
    return stands_for[graph.consumers[skipped][0]]


def _once(situation: Situation) -> list[Once]:
    _, group = situation.computations
    members: dict[int, list[int]] = {}
    for number, its in zip(situation.running.tolist(), group.tolist(), strict=True):
        members.setdefault(its, []).append(number)
    names, nodes = situation.graph.names, situation.network.nodes
    return [
        Once(nodes[situation.node_of[numbers[0]]].name, tuple(names[number] for number in numbers))
        for numbers in members.values()
        if len(numbers) > 1
    ]


def _reused(situation: Situation) -> list[Reused]:
    graph, network = situation.graph, situation.network
    found = []
    for taker, provider in situation.plan.reuse.items():
        instances = graph.operators[graph.operator_index[provider]].instances
        places = [int(situation.node_of[number]) for number in instances if situation.node_of[number] >= 0]
        mine = graph.operators[graph.operator_index[taker]]
        throughput = situation.problem.applications[mine.application].throughput_per_s
        busy = None
        if throughput is not None and places:
            per_instance = throughput * mine.operator.work_ms / 1000.0 / len(places)
            busy = float(sum(per_instance / network.speed[node] for node in places))
        names = tuple(dict.fromkeys(network.nodes[node].name for node in places))
        found.append(Reused(taker, provider, names, busy))
    return found
