"""For everything that runs: the best other node, what that would cost, and what forbids better ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.evaluation.violations import missing_links
from berth.explanation.estimates import scores
from berth.explanation.judging import Judge, subject_of
from berth.explanation.moves import Common, Moves
from berth.explanation.obstacles import Obstacles
from berth.explanation.units import Unit

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

MOST_JUDGED = 24
"""Moves of a unit that go before the judge until one is found that breaks nothing."""
MOST_READERS = 64
"""The same where objects are read: then estimates leave out what other downloads would change."""
MOST_FORBIDDEN = 3
"""Better nodes that are told, with what forbids them."""
TIE = 1e-9
"""Scores that differ by less, relatively, are equally good: sums of floats are not exact."""


@dataclass(frozen=True)
class Alternative:
    """Another node for a unit, as the judge sees it."""

    node: str
    objective: float | None
    change: float | None
    """Of the objective, against the plan as it is."""
    better: bool
    breaks: tuple[str, ...] = ()
    """What the move would break, and what it would make worse."""
    mends: tuple[str, ...] = ()
    """What the plan breaks, and would no longer."""


@dataclass(frozen=True)
class Explained:
    """Why a unit is where it is."""

    instances: tuple[str, ...]
    node: str | None
    best: Alternative | None
    """The best other node that breaks nothing; None: there is none."""
    forbidden: tuple[Alternative, ...]
    """Nodes that would be better, if it were not for what they break."""
    obstacles: dict[str, int] = field(default_factory=dict)
    """How many other nodes each obstacle forbids; a node may have several."""
    refused: tuple[Alternative, ...] = ()
    """Where there is no best: the most promising nodes that no obstacle forbids, and what they break."""
    fixed: bool = False
    """Whether it may run nowhere else."""
    searched: bool = True
    """False: all promising nodes break something; there may be one among the others that doesn't."""

    @property
    def name(self) -> str:
        """The first instance, and how many move with it."""
        more = len(self.instances) - 1
        return self.instances[0] if not more else f"{self.instances[0]} (+{more})"


class Alternatives:
    """The alternatives in one plan."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._situation = judge.situation
        self._obstacles = Obstacles(self._situation)
        self._common = Common(self._situation)

    def explain(self, unit: Unit) -> Explained:
        """The best other node for a unit, and the better ones that are forbidden."""
        graph, nodes = self._situation.graph, self._situation.network.nodes
        names = tuple(graph.names[number] for number in unit.members.tolist())
        node = None if unit.node < 0 else nodes[unit.node].name
        allowed = [graph.allowed_nodes[graph.operator_of[number]] for number in unit.members.tolist()]
        if all(len(numbers) == 1 for numbers in allowed) and all(unit.node in numbers for numbers in allowed):
            return Explained(names, node, None, (), fixed=True)
        order, score, obstacles = self.ranked(unit)
        blocked = _any(obstacles, len(nodes))
        open_nodes = [number for number in order if not blocked[number]]
        best, refused = self._first_open(unit, open_nodes)
        here = score[unit.node] if unit.node >= 0 else np.inf
        limit = here if best is None else min(here, score[self._index(best)])
        margin = TIE * abs(limit) if np.isfinite(limit) else 0.0
        better = [number for number in order if score[number] < limit - margin]
        forbidden = list(self._forbidden(unit, [number for number in better if blocked[number]], refused))
        counts = {name: int(forbids.sum()) for name, forbids in obstacles.items()}
        searched = best is not None or len(refused) == len(open_nodes)
        shown = () if best is not None else tuple(refused[:MOST_FORBIDDEN])
        return Explained(names, node, best, tuple(forbidden), counts, shown, searched=searched)

    def ranked(self, unit: Unit) -> tuple[list[int], FloatArray, dict[str, BoolArray]]:
        """All other nodes, the most promising first; a score and what is in the way for every node."""
        size = len(self._situation.network.nodes)
        moves = Moves(self._common, unit, np.arange(size))
        score = None if self.judge.goal is None else scores(moves, self.judge.goal)
        rank = score
        if rank is None or not np.isfinite(rank).any():
            score, rank = np.full(size, np.inf), _nearness(moves)
        # Sums in another order differ in their last digits: equal scores go by the smallest index.
        scale = np.abs(rank[np.isfinite(rank)]).max(initial=0.0)
        steps = np.round(np.nan_to_num(rank / scale if scale else rank, posinf=np.inf), 12)
        order = [number for number in np.argsort(steps, kind="stable").tolist() if number != unit.node]
        return order, np.asarray(score), self._obstacles.of(moves)

    def judged(self, unit: Unit, node: int) -> Alternative:
        """A move as the judge sees it."""
        before = self.judge.before
        moved = self.judge.moved(unit.members, node)
        after = self.judge.verdict(moved)
        change = None
        if after.objective is not None and before.objective is not None:
            change = after.objective - before.objective
        goal = self.judge.goal
        better = change is not None and (change > 0 if goal is not None and goal.maximise else change < 0)
        if change is not None and abs(change) <= TIE * max(
            abs(after.objective or 0), abs(before.objective or 0)
        ):
            change, better = 0.0, False
        known = after.subjects
        mends = tuple(line for line in before.violations if subject_of(line) not in known)
        trouble = tuple(dict.fromkeys([*after.new_trouble(before), *_without_link(moved, unit)]))
        return Alternative(
            self._situation.network.nodes[node].name,
            after.objective,
            change,
            better,
            trouble,
            () if trouble else mends,
        )

    def _first_open(self, unit: Unit, nodes: list[int]) -> tuple[Alternative | None, list[Alternative]]:
        """The first of some nodes that breaks nothing, and those before it."""
        reads = any(self._reads(number) for number in unit.members.tolist())
        refused: list[Alternative] = []
        accepted: list[Alternative] = []
        for node in nodes[: MOST_READERS if reads else MOST_JUDGED]:
            found = self.judged(unit, node)
            if found.breaks:
                refused.append(found)
                continue
            accepted.append(found)
            if not reads:
                break
        return (min(accepted, key=self._cost) if accepted else None), refused

    def _cost(self, found: Alternative) -> float:
        if found.objective is None:
            return np.inf
        maximise = self.judge.goal is not None and self.judge.goal.maximise
        return -found.objective if maximise else found.objective

    def _forbidden(self, unit: Unit, better: list[int], refused: list[Alternative]) -> Iterator[Alternative]:
        """The best of the nodes that would be better and are forbidden."""
        judged = [self.judged(unit, node) for node in better[:MOST_FORBIDDEN]]
        candidates = [item for item in [*judged, *refused] if item.better and item.breaks]
        yield from sorted(candidates, key=self._cost)[:MOST_FORBIDDEN]

    def _index(self, found: Alternative) -> int:
        return self._situation.network.index[found.node]

    def _reads(self, instance: int) -> bool:
        graph = self._situation.graph
        return bool(graph.operators[graph.operator_of[instance]].operator.reads)


def _without_link(situation: Situation, unit: Unit) -> list[str]:
    """The links that a unit's streams need and that don't exist, whether or not others lack them, too."""
    pairs, nodes = situation.pairs, situation.node_of
    touched = np.isin(pairs.sender, unit.members) | np.isin(pairs.receiver, unit.members)
    ends = nodes[pairs.sender[touched]], nodes[pairs.receiver[touched]]
    placed = (ends[0] >= 0) & (ends[1] >= 0)
    sender, receiver = ends[0][placed], ends[1][placed]
    gone = ~situation.network.table.connected[sender, receiver]
    if not gone.any():
        return []
    names = situation.network.nodes
    lacking = {
        f"link {names[a].name} -> {names[b].name}" for a, b in zip(sender[gone], receiver[gone], strict=True)
    }
    lines = missing_links(situation)
    return [line for line in lines if line.partition(": ")[0] in lacking]


def _nearness(moves: Moves) -> FloatArray:
    """Where no score can be computed: the delays to all that the unit exchanges streams with."""
    sender, receiver = moves.touched_ends
    placed = (sender >= 0) & (receiver >= 0)
    delay = np.zeros(sender.shape)
    delay[placed] = moves.situation.network.table.delay_ms[sender[placed], receiver[placed]]
    return np.asarray(np.where(np.isnan(delay), np.inf, delay).sum(axis=0))


def _any(obstacles: dict[str, BoolArray], size: int) -> BoolArray:
    blocked = np.zeros(size, dtype=bool)
    for forbids in obstacles.values():
        blocked |= forbids
    return blocked
