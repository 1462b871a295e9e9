"""Where an operator might go so that its path gets faster (card 1.7; paper 002, algorithm 2).

Only hosts in an ellipse of the latency space can help: its foci are the hosts of the operator's neighbours
on the path, its length is what the operator costs the path now. Which of these are contacted is the
strategy; a contact is a request and an answer.

A host's queue is what already waits there (`run_queue`) and the instances that it hosts. Applications are
placed one after the other, each by a coordinator of its own. With `stale` above 0 it hears of other
applications' placements late: it takes its time to ask many hosts, and when it comes to the i-th answer
this is floor(stale x i) placements old. What it has placed itself it knows (`Loads`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.space.network_space import Space

Strategy = Literal["el", "knn", "krand", "cknn"]
MESSAGES_PER_CONTACT = 2
FIRST_LOOK = 8
"""Of k times as many hosts the order is worked out first, and of as many times more if these are too few."""


class Loads:
    """The queues as they are, and as the coordinator at work knows them."""

    def __init__(self, run_queue: FloatArray, stale: float = 0.0) -> None:
        self.present = run_queue.astype(np.float64)
        """The true queues."""
        self._stale = stale
        self.known = self.present if stale == 0 else self.present.copy()
        """The queues by which the coordinator decides; without staleness the true ones."""
        self._placed: list[tuple[int, int]] = []
        """Placements so far: from where (-1: new) to where."""

    def host(self, nodes: IndexArray) -> None:
        """Instances appear on these nodes."""
        np.add.at(self.present, nodes, 1.0)
        if self._stale:
            np.add.at(self.known, nodes, 1.0)

    def move(self, here: int, host: int, size: int) -> None:
        """The coordinator at work moves some instances."""
        for queues in (self.present, self.known) if self._stale else (self.present,):
            queues[here] -= size
            queues[host] += size

    def begin(self) -> None:
        """Another coordinator starts; what it doesn't ask for it knows as it is."""
        if self._stale:
            self.known[:] = self.present

    def end(self, before: IndexArray, after: IndexArray) -> None:
        """A coordinator is done: its instances went from these nodes (-1: none) to those."""
        if self._stale:
            changed = before != after
            self._placed += zip(before[changed].tolist(), after[changed].tolist(), strict=True)

    def answers(self, hosts: IndexArray) -> FloatArray:
        """What hosts say of their queues if they are contacted in this order."""
        queue = self.present[hosts]
        if self._stale and len(hosts):
            age = np.floor(self._stale * np.arange(1, len(hosts) + 1))
            position = {host: number for number, host in enumerate(hosts.tolist())}
            oldest = min(len(self._placed), int(age[-1]))
            for ago, (left, entered) in enumerate(reversed(self._placed[len(self._placed) - oldest :]), 1):
                for host, change in ((entered, -1.0), (left, 1.0)):
                    if host in position and age[position[host]] >= ago:
                        queue[position[host]] += change
        return queue

    def learn(self, hosts: IndexArray, queue: FloatArray) -> None:
        """The coordinator has contacted these hosts and heard this."""
        if self._stale:
            self.known[hosts] = queue


@dataclass(frozen=True, eq=False)
class Question:
    """An operator on a path (or some that move as one) that looks for another host."""

    here: int
    size: int
    """How many instances move."""
    work_ms: float
    """Of those on the path, on the reference processor."""
    loaded: bool
    before: int
    after: int
    """The hosts of its neighbours on the path; -1: it is an end."""
    costs_ms: float
    """N + T + P of it now."""
    place: FloatArray
    """x*: where it would be for the least network usage."""
    may_host: BoolArray | None
    """Whether each node may ever host it; None: all."""


@dataclass(eq=False)
class CandidateList:
    """Hosts by distance from x*, taken from the front."""

    hosts: IndexArray
    contacts: int
    in_ellipse: int
    next: int = 0

    @property
    def left(self) -> IndexArray:
        """Those that were not tried yet."""
        return self.hosts[self.next :]


class CandidateSearch:
    """Finds candidates by one strategy."""

    def __init__(
        self,
        space: Space,
        speed: FloatArray,
        loads: Loads,
        strategy: Strategy,
        k: int,
        generator: np.random.Generator,
        neighbours: bool = False,
    ) -> None:
        self._space = space
        self._speed = speed
        self._loads = loads
        self._strategy = strategy
        self._k = k
        self._generator = generator
        self._neighbours = neighbours

    def find(self, question: Question) -> CandidateList:
        """The candidates of an operator; there may be none."""
        inside, least_ms = self._in_ellipse(question)
        allowance_ms = question.costs_ms - least_ms
        if self._strategy == "cknn":
            found = self._pruned(question, inside, allowance_ms)
        else:
            found = self._contacted(question, inside)
        if self._neighbours:
            # They run the same application: their loads are known without a contact.
            own = np.intersect1d(np.array([question.before, question.after]), inside)
            if self._strategy == "cknn":
                own = own[self._useful(question, own, self._loads.known[own], allowance_ms)]
            hosts = np.union1d(found.hosts, own)
            found.hosts = self._nearest(hosts, question.place, len(hosts))
        return found

    def _contacted(self, question: Question, inside: IndexArray) -> CandidateList:
        """All in the ellipse, the k nearest, or k at random, whatever they answer."""
        if self._strategy == "krand":
            drawn = self._generator.choice(len(inside), min(self._k, len(inside)), replace=False)
            hosts = self._nearest(inside[np.sort(drawn)], question.place, self._k)
        else:
            count = self._k if self._strategy == "knn" else len(inside)
            hosts = self._nearest(inside, question.place, count)
        self._loads.learn(hosts, self._loads.answers(hosts))
        return CandidateList(hosts, len(hosts), len(inside))

    def _in_ellipse(self, question: Question) -> tuple[IndexArray, float]:
        """The hosts in the ellipse without its own, and N_min, the least delay from focus to focus."""
        coordinates = self._space.coordinates
        foci = [node for node in (question.before, question.after) if node >= 0]
        if not foci:
            return np.zeros(0, dtype=np.intp), 0.0
        ends = np.array([foci[0]]), np.array([foci[-1]])
        least = float(coordinates.distances(*ends)[0])
        # An end has one neighbour: all hosts that are no farther from it, an ellipse with its foci in one.
        length = question.costs_ms * (2.0 if len(foci) == 1 else 1.0)
        heights = float(coordinates.heights[ends[0]][0] + coordinates.heights[ends[1]][0])
        if np.isfinite(length):
            first, second = coordinates.positions[foci[0]], coordinates.positions[foci[-1]]
            inside = np.asarray(self._space.index.in_ellipse(first, second, length - heights), dtype=np.intp)
        else:
            inside = np.arange(len(coordinates.positions))
        if heights and least <= question.costs_ms:
            # A neighbour's own host has no height to itself.
            inside = np.union1d(inside, foci)
        if question.may_host is not None:
            inside = inside[question.may_host[inside]]
        return inside[inside != question.here], least

    def _nearest(self, hosts: IndexArray, place: FloatArray, count: int) -> IndexArray:
        """So many of some hosts, by distance from a place, then by number: in that order they come."""
        away = self._space.coordinates.distances_from(place, hosts)
        if count < len(hosts):
            near = np.flatnonzero(away <= np.partition(away, count - 1)[count - 1])
            hosts, away = hosts[near], away[near]
        return hosts[np.argsort(away, kind="stable")[:count]]

    def _pruned(self, question: Question, inside: IndexArray, allowance_ms: float) -> CandidateList:
        """Contact one after the other until k are kept."""
        looked_at = FIRST_LOOK * self._k
        while True:
            hosts = self._nearest(inside, question.place, looked_at)
            queue = self._loads.answers(hosts)
            kept = np.flatnonzero(self._useful(question, hosts, queue, allowance_ms))[: self._k]
            if len(kept) == self._k or looked_at >= len(inside):
                break
            looked_at *= FIRST_LOOK
        contacts = int(kept[-1]) + 1 if len(kept) == self._k else len(inside)
        self._loads.learn(hosts[:contacts], queue[:contacts])
        return CandidateList(hosts[kept], contacts, len(inside))

    def _useful(
        self, question: Question, hosts: IndexArray, queue: FloatArray, allowance_ms: float
    ) -> BoolArray:
        """The pruning rule: whether P of each host is below P + T + N - N_min."""
        waiting = np.maximum(1.0, queue + question.size) if question.loaded else 1.0
        return np.asarray(question.work_ms / self._speed[hosts] * waiting < allowance_ms)
