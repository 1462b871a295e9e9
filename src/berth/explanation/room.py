"""Room where something would be better off: the limits that forbid it, raised until they don't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from berth.evaluation.limits import More, Use, amount, exceeded
from berth.explanation.alternatives import Alternative, Explained
from berth.explanation.judging import Judge


def room_elsewhere(judge: Judge, operators: Sequence[Explained]) -> Iterator[More]:
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


def _room_for(judge: Judge, item: Explained, other: Alternative) -> More | None:
    """The problem with all limits raised that a move exceeds; None where it breaks something else, too."""
    index, network = judge.situation.graph.index, judge.situation.network
    members = np.array([index[name] for name in item.instances], dtype=np.intp)
    moved = judge.moved(members, network.index[other.node])
    over = exceeded(moved)
    if len(over) != len(other.breaks):
        return None
    problem = judge.setting.problem
    for use in over:
        raised = use.of.raised(problem, use)
        if raised is None:
            return None
        problem = raised
    amounts = ", ".join(
        f"{_limit_name(use)} {amount(use.needed)} instead of {amount(use.limit)}" for use in over
    )
    return More("room", f"room for {item.name} on {other.node} ({amounts})", problem)


def _limit_name(use: Use) -> str:
    return use.name if use.kind == "capacity" else f"{use.kind} {use.name}"
