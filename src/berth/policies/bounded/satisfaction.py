"""Constraint satisfaction (card 1.8; paper 002, algorithm 1): moves off the longest path until a bound holds.

Each operator on the path has a list of candidates, made once. The next move is the one, of the lists'
heads that make the path faster, that puts least onto the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.feasibility import exceeds
from berth.policies.bounded.bounds import Bound
from berth.policies.bounded.candidates import CandidateList, CandidateSearch, Question
from berth.policies.bounded.delays import DelayModel, Path
from berth.policies.bounded.loads import Loads
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.hosts import Hosts

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

LEAST_GAIN = 1e-9
"""A move must make the path faster by more than this share: sums of floats are not exact."""
FIRST_LOOK = 8
"""So many candidates of a list are judged at once, then twice as many."""


@dataclass(eq=False)
class Counters:
    """What it took."""

    moves: int = 0
    restarts: int = 0
    candidate_sets: int = 0
    contacts: int = 0
    kept: int = 0
    ellipses: list[int] = field(default_factory=list)

    def add(self, found: CandidateList) -> None:
        """Count a search."""
        self.candidate_sets += 1
        self.contacts += found.contacts
        self.kept += len(found.hosts)
        self.ellipses.append(found.in_ellipse)


@dataclass(frozen=True)
class Move:
    """A head that makes the path faster."""

    usage_change: float
    latency_ms: float
    unit: int
    host: int


@dataclass(eq=False)
class Satisfaction:
    """One problem's state while bounds are brought to hold: where units are, and what hosts have to do."""

    graph: UnitGraph
    hosts: Hosts
    model: DelayModel
    loads: Loads
    search: CandidateSearch
    places: FloatArray
    """x* of every unit."""
    restarts: int = 0
    """How often lists are made anew at their end, if they have made the path faster."""
    revalidate: bool = True
    """Whether a head must still make the path faster when its turn comes (erratum E2.5)."""
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        self._sizes = np.bincount(self.graph.unit_of, minlength=len(self.graph))
        self._everywhere = None if self.hosts.hosting.all() else self.hosts.hosting

    @property
    def nodes(self) -> IndexArray:
        """Where every instance is."""
        return self.hosts.node[self.graph.unit_of]

    def broken(self, application: int, bound: Bound) -> Path | None:
        """The path that breaks an application's bound most; None: the bound holds."""
        nodes = self.nodes
        path = self.model.longest(application, nodes, self.loads.known)
        if exceeds(path.latency_ms, bound.loaded_ms):
            return path
        if bound.plain_ms is not None:
            path = self.model.longest(application, nodes, self.loads.known, loaded=False)
            if exceeds(path.latency_ms, bound.plain_ms):
                return path
        return None

    def satisfy(self, application: int, bound: Bound, over: Callable[[], bool]) -> bool:
        """Move one application's units until its bound holds; if it can't, leave the best mapping there.

        At the end of all lists it starts again from there with new ones, as long as that has made it
        faster. A bound of 0 can't hold: then it stops at the first end.
        """
        for attempt in range(self.restarts + 1):
            first_ms = self._worst_ms(application)
            if self._attempt(application, bound, over):
                return True
            gained = self._worst_ms(application) < first_ms * (1.0 - LEAST_GAIN)
            if over() or bound.loaded_ms <= 0.0 or not gained or attempt == self.restarts:
                break
            self.counters.restarts += 1
        return False

    def _worst_ms(self, application: int) -> float:
        return self.model.longest(application, self.nodes, self.loads.known).latency_ms

    def _attempt(self, application: int, bound: Bound, over: Callable[[], bool]) -> bool:
        """One pass through lists of candidates; each move takes one off: there are at most k for a unit."""
        lists: dict[int, CandidateList] = {}
        best_so_far, best = (True, np.inf), self.hosts.node.copy()
        while (path := self.broken(application, bound)) is not None and not over():
            if (path.loaded, path.latency_ms) < best_so_far:
                best_so_far, best = (path.loaded, path.latency_ms), self.hosts.node.copy()
            move = self._next_move(path, lists)
            if move is None:
                break
            self._move(move.unit, move.host)
            self.counters.moves += 1
        if path is None:
            return True
        if self.revalidate:
            for unit in np.flatnonzero(self.hosts.node != best).tolist():
                self._move(unit, int(best[unit]))
        return False

    def _next_move(self, path: Path, lists: dict[int, CandidateList]) -> Move | None:
        """The head that changes network usage least; ties: the faster path, then the first unit."""
        units = self.graph.unit_of[path.instances]
        free = [unit for unit in dict.fromkeys(units.tolist()) if self.graph.fixed[unit] < 0]
        for unit in free:
            if unit not in lists:
                lists[unit] = self._candidates(path, units == unit, unit)
        heads = [self._head(path, units == unit, unit, lists[unit]) for unit in free]
        moves = [move for move in heads if move is not None]
        if not moves:
            return None
        chosen = min(moves, key=lambda move: (move.usage_change, move.latency_ms, move.unit))
        lists[chosen.unit].next += 1
        return chosen

    def _head(self, path: Path, moved: BoolArray, unit: int, candidates: CandidateList) -> Move | None:
        """A list's first candidate that makes the path faster; those before it are dropped."""
        look = FIRST_LOOK
        while len(candidates.left):
            hosts = candidates.left[:look]
            good, after = self._faster(path, moved, unit, hosts)
            found = np.flatnonzero(good)
            if len(found):
                candidates.next += int(found[0])
                host = int(hosts[found[0]])
                return Move(self._usage_change(unit, host), float(after[found[0]]), unit, host)
            candidates.next += len(hosts)
            look *= 2
        return None

    def _faster(
        self, path: Path, moved: BoolArray, unit: int, hosts: IndexArray
    ) -> tuple[BoolArray, FloatArray]:
        """Which hosts take a unit and make its path faster, and what the path takes with each."""
        size = self._size(unit)
        here = self.hosts.node[unit]
        after = self.model.elsewhere(path, moved, size, self.nodes, self.loads.known, np.append(hosts, here))
        now, after = after[-1], after[:-1]
        good = self.hosts.fits(unit, hosts) & self.hosts.reaches(unit, hosts) & (hosts != here)
        if self.revalidate:
            good &= after < (now * (1.0 - LEAST_GAIN) if np.isfinite(now) else now)
        return good, after

    def _candidates(self, path: Path, moved: BoolArray, unit: int) -> CandidateList:
        found = self.search.find(self._question(path, moved, unit))
        self.counters.add(found)
        if not self.revalidate and len(found.hosts):
            # As printed: what is no gain now is no candidate; later nobody looks again.
            here = self.hosts.node[unit]
            hosts = np.append(found.hosts, here)
            after = self.model.elsewhere(path, moved, self._size(unit), self.nodes, self.loads.known, hosts)
            found.hosts = found.hosts[after[:-1] < after[-1]]
        return found

    def _question(self, path: Path, moved: BoolArray, unit: int) -> Question:
        """What a unit costs its path now, and between which hosts it is."""
        nodes = self.nodes
        on_path = np.flatnonzero(moved)
        first, last = int(on_path[0]), int(on_path[-1])
        node = nodes[path.instances]
        work = self.model.inner_work if path.loaded else self.model.work
        span = max(first - 1, 0), min(last + 1, len(node) - 1)
        return Question(
            here=int(self.hosts.node[unit]),
            size=self._size(unit),
            work_ms=float(work[path.instances[moved]].sum()),
            loaded=path.loaded,
            before=int(node[first - 1]) if first > 0 else -1,
            after=int(node[last + 1]) if last + 1 < len(node) else -1,
            costs_ms=self.model.costs(path, span, moved, nodes, self.loads.known),
            place=self.places[unit],
            may_host=self._may_host(unit),
        )

    def _may_host(self, unit: int) -> BoolArray | None:
        allowed = self.graph.allowed[unit]
        if allowed is None:
            return self._everywhere
        may_host = np.zeros(len(self.hosts.hosting), dtype=bool)
        may_host[allowed] = self.hosts.hosting[allowed]
        return may_host

    def _size(self, unit: int) -> int:
        return int(self._sizes[unit])

    def _usage_change(self, unit: int, host: int) -> float:
        graph = self.graph
        span = slice(graph.offsets[unit], graph.offsets[unit + 1])
        others = self.hosts.node[graph.neighbours[span]]
        here = int(self.hosts.node[unit])
        return self.model.usage_change(here, host, others, graph.forward[span], graph.backward[span])

    def _move(self, unit: int, host: int) -> None:
        self.loads.move(int(self.hosts.node[unit]), host, self._size(unit))
        self.hosts.put(unit, host)
