"""A plan that breaks constraints: which moves would mend it, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.explanation.alternatives import Alternatives, Judge, Verdict
from berth.explanation.moves import Unit, units_of
from berth.model import Plan

MOST_MOVES = 10
MOST_UNITS = 30
"""Units that are looked at for every move: those that have to do with what is broken."""
MOST_NODES = 8
"""Nodes that each of them is tried on."""


@dataclass(frozen=True)
class Mend:
    """A move that mends something."""

    instances: tuple[str, ...]
    source: str | None
    target: str
    mends: tuple[str, ...]
    left: int
    """Violations that are left after it."""


@dataclass(frozen=True)
class Mending:
    """Moves in their order, and what stays broken after them."""

    moves: tuple[Mend, ...]
    left: tuple[str, ...]


def mending_of(judge: Judge) -> Mending | None:
    """Moves that each leave less broken than before; None where nothing is broken."""
    if not judge.before.violations:
        return None
    moves: list[Mend] = []
    while judge.before.violations and len(moves) < MOST_MOVES:
        found = _next_move(judge)
        if found is None:
            break
        judge, move = found
        moves.append(move)
    return Mending(tuple(moves), judge.before.violations)


def _next_move(judge: Judge) -> tuple[Judge, Mend] | None:
    """The move that leaves least broken, then is best for the goal; None where none leaves less."""
    alternatives = Alternatives(judge)
    best: tuple[tuple[float, ...], Judge, Unit, int] | None = None
    now = _badness(judge.before)
    for unit in _concerned(judge)[:MOST_UNITS]:
        order, _, obstacles = alternatives.ranked(unit)
        blocked = {int(k) for forbids in obstacles.values() for k in np.flatnonzero(forbids)}
        open_first = [k for k in order if k not in blocked] + [k for k in order if k in blocked]
        for node in open_first[:MOST_NODES]:
            situation = judge.moved(unit.members, node)
            after = _judge_of(judge, situation.plan)
            left = _badness(after.before)
            key = (*left, _cost(after))
            if left < now and (best is None or key < best[0]):
                best = key, after, unit, node
    if best is None:
        return None
    _, after, unit, node = best
    names, nodes = judge.situation.graph.names, judge.situation.network.nodes
    mended = after.before.mended(judge.before)
    source = None if unit.node < 0 else nodes[unit.node].name
    instances = tuple(names[number] for number in unit.members.tolist())
    return after, Mend(instances, source, nodes[node].name, mended, len(after.before.violations))


def _judge_of(judge: Judge, plan: Plan) -> Judge:
    """The same judge of another plan."""
    return Judge(judge.setting, plan, judge.goal)


def _badness(verdict: Verdict) -> tuple[float, float, float]:
    """How many constraints are broken, how many links lack, and how far beyond their limits things are."""
    shares = float(sum(use.share for use in verdict.exceeded))
    return float(len(verdict.violations)), float(verdict.unlinked), shares


def _cost(judge: Judge) -> float:
    objective = judge.before.objective
    if objective is None:
        return np.inf
    return -objective if judge.goal is not None and judge.goal.maximise else objective


def _concerned(judge: Judge) -> list[Unit]:
    """The units that what is broken names, or whose node or neighbours it names; else all of them."""
    situation = judge.situation
    named = " ".join(judge.before.violations).replace(":", " ").replace(",", " ").split()
    words = set(named)
    graph, nodes = situation.graph, situation.network.nodes
    units = units_of(situation)

    def closeness(unit: Unit) -> int:
        names = {graph.names[number] for number in unit.members.tolist()}
        applications = {name.partition("/")[0] for name in names}
        if names & words:
            return 0
        if unit.node >= 0 and nodes[unit.node].name in words:
            return 1
        return 2 if applications & words else 3

    ranks = [closeness(unit) for unit in units]
    order = np.argsort(ranks, kind="stable").tolist()
    return [units[k] for k in order if ranks[k] < 3]
