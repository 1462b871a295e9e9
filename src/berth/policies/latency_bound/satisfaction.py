"""Constraint satisfaction (card 1.8; paper 002, algorithm 1): moves off the longest path until a bound holds.

Each operator on the path has a list of candidates, made once. The next move is the one, of the lists'
heads that make the path faster, that puts least onto the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from berth.evaluation.limits import exceeds
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_bound.candidates import CandidateList, CandidateSearch, Loads, Question
from berth.policies.latency_bound.delays import DelayModel, Path
from berth.policies.latency_space.hosts import Hosts

LEAST_GAIN = 1e-9
"""A move must make the path faster by more than this share: sums of floats are not exact."""
FIRST_LOOK = 8
"""So many candidates of a list are judged at once, then twice as many."""


@dataclass(frozen=True)
class Bound:
    """What an application asks for."""

    loaded_ms: float
    """The most that 002's model may come to."""
    plain_ms: float | None = None
    """The most that `response_time_ms` may come to: the judge's requirement."""


@dataclass(eq=False)
class Placement:
    """Units on hosts. On a path, `moved` tells which of its instances are those of a unit."""

    hosts: Hosts
    model: DelayModel
    loads: Loads
    places: FloatArray
    """x* of every unit."""

    def __post_init__(self) -> None:
        self.graph = self.hosts.graph
        self.application_of = self.hosts.setting.graph.application_of
        self._sizes = np.bincount(self.graph.unit_of, minlength=len(self.graph))

    @property
    def nodes(self) -> IndexArray:
        """Where every instance is; -1: it has not come yet."""
        return self.hosts.node[self.graph.unit_of]

    def longest(self, application: int, loaded: bool = True) -> Path:
        """The path of an application that takes longest, as far as loads are known."""
        return self.model.longest(application, self.nodes, self.loads.known, loaded)

    def move(self, unit: int, host: int) -> None:
        """Bring a unit to another host, and its load."""
        self.loads.move(int(self.hosts.node[unit]), host, int(self._sizes[unit]))
        self.hosts.put(unit, host)

    def takes(self, unit: int, hosts: IndexArray) -> BoolArray:
        """Which of some hosts have room for a unit, may host it and reach its neighbours."""
        return self.hosts.fits(unit, hosts) & self.hosts.reaches(unit, hosts)

    def latencies(
        self, path: Path, moved: BoolArray, unit: int, hosts: IndexArray
    ) -> tuple[FloatArray, float]:
        """What a path would take with a unit on each of some hosts, and what it takes now."""
        everywhere = np.append(hosts, self.hosts.node[unit])
        size = int(self._sizes[unit])
        found = self.model.elsewhere(path, moved, size, self.nodes, self.loads.known, everywhere)
        return found[:-1], float(found[-1])

    def others_on(self, host: int, unit: int) -> list[int]:
        """The applications, but for a unit's own, that have something to do on a host."""
        there = self.application_of[(self.nodes == host) & (self.model.inner_work > 0.0)]
        own = self.application_of[self.graph.first[unit]]
        return [application for application in np.unique(there).tolist() if application != own]

    @contextmanager
    def loaded(self, host: int, unit: int) -> Iterator[None]:
        """As if a host had a unit more to do."""
        self.loads.known[host] += self._sizes[unit]
        try:
            yield
        finally:
            self.loads.known[host] -= self._sizes[unit]

    def usage_change(self, unit: int, host: int) -> float:
        """How much more is in flight (bytes) with a unit on another host, by measured delays."""
        graph = self.graph
        span = graph.entries(unit)
        others = self.hosts.node[graph.neighbours[span]]
        here = int(self.hosts.node[unit])
        return self.model.usage_change(here, host, others, graph.forward[span], graph.backward[span])

    def question(self, path: Path, moved: BoolArray, unit: int) -> Question:
        """What a unit costs its path now, and between which hosts it is."""
        nodes, node = self.nodes, self.nodes[path.instances]
        on_path = np.flatnonzero(moved)
        first, last = int(on_path[0]), int(on_path[-1])
        work = self.model.inner_work if path.loaded else self.model.work
        span = max(first - 1, 0), min(last + 1, len(node) - 1)
        return Question(
            here=int(self.hosts.node[unit]),
            size=int(self._sizes[unit]),
            work_ms=float(work[path.instances[moved]].sum()),
            loaded=path.loaded,
            before=int(node[first - 1]) if first > 0 else -1,
            after=int(node[last + 1]) if last + 1 < len(node) else -1,
            costs_ms=self.model.costs(path, span, moved, nodes, self.loads.known),
            place=self.places[unit],
            may_host=self._may_host(unit),
        )

    def _may_host(self, unit: int) -> BoolArray | None:
        hosts, allowed = self.hosts.space.hosts, self.graph.allowed[unit]
        if allowed is None:
            return None if hosts.all() else hosts
        may_host = np.zeros(len(hosts), dtype=bool)
        may_host[allowed] = hosts[allowed]
        return may_host


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
    """Brings the bounds of applications to hold."""

    state: Placement
    search: CandidateSearch
    restarts: int = 0
    """How often lists are made anew at their end, if they have made the path faster."""
    revalidate: bool = True
    """Whether a head must still make the path faster when its turn comes (erratum E2.5)."""
    held: dict[int, Bound] = field(default_factory=dict)
    """Other applications whose bounds hold: no move may break them."""
    counters: Counters = field(default_factory=Counters)

    def broken(self, application: int, bound: Bound) -> Path | None:
        """The path that breaks an application's bound most; None: the bound holds."""
        path = self.state.longest(application)
        if exceeds(path.latency_ms, bound.loaded_ms):
            return path
        if bound.plain_ms is not None:
            path = self.state.longest(application, loaded=False)
            if exceeds(path.latency_ms, bound.plain_ms):
                return path
        return None

    def satisfy(self, application: int, bound: Bound, over: Callable[[], bool]) -> bool:
        """Move one application's units until its bound holds; if it can't, leave the best mapping there.

        At the end of all lists it starts again from there with new ones, as long as that has made it
        faster. A bound of 0 can't hold: then it stops at the first end.
        """
        for attempt in range(self.restarts + 1):
            first_ms = self.state.longest(application).latency_ms
            if self._attempt(application, bound, over):
                return True
            gained = self.state.longest(application).latency_ms < first_ms * (1.0 - LEAST_GAIN)
            if over() or bound.loaded_ms <= 0.0 or not gained or attempt == self.restarts:
                break
            self.counters.restarts += 1
        return False

    def _attempt(self, application: int, bound: Bound, over: Callable[[], bool]) -> bool:
        """One pass through lists of candidates; each move takes one off, so it ends."""
        lists: dict[int, CandidateList] = {}
        node = self.state.hosts.node
        best_so_far, best = (True, np.inf), node.copy()
        while (path := self.broken(application, bound)) is not None and not over():
            if (path.loaded, path.latency_ms) < best_so_far:
                best_so_far, best = (path.loaded, path.latency_ms), node.copy()
            move = self._next_move(path, lists)
            if move is None:
                break
            self.state.move(move.unit, move.host)
            self.counters.moves += 1
        if path is None:
            return True
        if self.revalidate:
            for unit in np.flatnonzero(node != best).tolist():
                self.state.move(unit, int(best[unit]))
        return False

    def _next_move(self, path: Path, lists: dict[int, CandidateList]) -> Move | None:
        """The head that changes network usage least; ties: the faster path, then the first unit."""
        graph = self.state.graph
        units = graph.unit_of[path.instances]
        free = [unit for unit in dict.fromkeys(units.tolist()) if graph.fixed[unit] < 0]
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

    def _candidates(self, path: Path, moved: BoolArray, unit: int) -> CandidateList:
        found = self.search.find(self.state.question(path, moved, unit))
        self.counters.add(found)
        if not self.revalidate:
            # As printed: what is no gain now is no candidate; later nobody looks again.
            after, now = self.state.latencies(path, moved, unit, found.hosts)
            found.hosts = found.hosts[after < now]
        return found

    def _head(self, path: Path, moved: BoolArray, unit: int, candidates: CandidateList) -> Move | None:
        """A list's first candidate that makes the path faster; those before it are dropped."""
        look = FIRST_LOOK
        while len(candidates.left):
            hosts = candidates.left[:look]
            after, now = self.state.latencies(path, moved, unit, hosts)
            good = self.state.takes(unit, hosts) & (hosts != self.state.hosts.node[unit])
            if self.revalidate:
                good &= after < (now * (1.0 - LEAST_GAIN) if np.isfinite(now) else now)
            for found in np.flatnonzero(good).tolist():
                host = int(hosts[found])
                if not self._harms(unit, host):
                    candidates.next += found
                    return Move(self.state.usage_change(unit, host), float(after[found]), unit, host)
            candidates.next += len(hosts)
            look *= 2
        return None

    def _harms(self, unit: int, host: int) -> bool:
        """Whether a unit on another host would break a bound that holds of an application there."""
        there = [number for number in self.state.others_on(host, unit) if number in self.held]
        holding = [number for number in there if self.broken(number, self.held[number]) is None]
        if not holding:
            return False
        with self.state.loaded(host, unit):
            return any(self.broken(number, self.held[number]) is not None for number in holding)
