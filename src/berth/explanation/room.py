"""Room where something would be better off: the limits that forbid it, raised until they don't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from berth.evaluation import Situation
from berth.evaluation.bottleneck import Use, exceeded
from berth.evaluation.feasibility import amount
from berth.explanation.alternatives import Alternative, Explained
from berth.explanation.changes import Change, ends_of, node_of, with_link, with_node
from berth.explanation.judging import Judge
from berth.model import Problem

RAISED = ("capacity", "processor", "card", "link")
"""Kinds of limits that a change can raise."""


def room_elsewhere(judge: Judge, operators: Sequence[Explained]) -> Iterator[Change]:
    """Problems in which something fits that would be better elsewhere, the largest gain first."""
    if judge.before.violations:
        return
    wanted = [(item, other) for item in operators for other in item.forbidden]
    wanted.sort(key=lambda pair: -abs(pair[1].change or 0.0))
    told = set()
    for item, other in wanted:
        change = _room_for(judge, item, other)
        if change is not None and change.words not in told:
            told.add(change.words)
            yield change


def _room_for(judge: Judge, item: Explained, other: Alternative) -> Change | None:
    """The problem with all limits raised that a move exceeds; None where it breaks something else, too."""
    index, network = judge.situation.graph.index, judge.situation.network
    members = np.array([index[name] for name in item.instances], dtype=np.intp)
    moved = judge.moved(members, network.index[other.node])
    over = exceeded(moved)
    if len(over) != len(other.breaks) or not all(use.kind in RAISED for use in over):
        return None
    problem = judge.setting.problem
    for use in over:
        problem = _raised(moved, problem, use)
    amounts = ", ".join(
        f"{_limit_name(use)} {amount(use.needed)} instead of {amount(use.limit)}" for use in over
    )
    return Change("room", f"room for {item.name} on {other.node} ({amounts})", problem)


def _limit_name(use: Use) -> str:
    return use.name if use.kind == "capacity" else f"{use.kind} {use.name}"


def _raised(situation: Situation, problem: Problem, use: Use) -> Problem:
    """The problem with a limit as high as what is needed."""
    if use.kind == "link":
        return with_link(problem, *ends_of(situation, use), "bandwidth_bytes_per_s", use.needed).problem
    number = node_of(situation, use)
    assert number is not None
    node = problem.network.nodes[number]
    if use.kind == "processor":
        return with_node(problem, number, replace(node, speed=node.speed * use.share))
    if use.kind == "card":
        return with_node(problem, number, replace(node, nic_bytes_per_s=use.needed))
    resource = use.name.partition(" ")[2]
    size = use.needed / (1.0 - problem.network.headroom)
    return with_node(problem, number, replace(node, capacity={**node.capacity, resource: size}))
