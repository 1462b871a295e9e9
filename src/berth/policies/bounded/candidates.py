"""Where an operator might go so that its path gets faster (card 1.7; paper 002, algorithm 2).

Only hosts in an ellipse of the latency space can help: its foci are the hosts of the operator's neighbours
on the path, its length is what the operator costs the path now. Which of these are contacted is the
strategy; a contact is a request and an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from berth.policies.bounded.loads import Loads
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

Strategy = Literal["el", "knn", "krand", "cknn"]
STRATEGIES = get_args(Strategy)
MESSAGES_PER_CONTACT = 2


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
    ) -> None:
        self._space = space
        self._speed = speed
        self._loads = loads
        self._strategy = strategy
        self._k = k
        self._generator = generator

    def find(self, question: Question) -> CandidateList:
        """The candidates of an operator; there may be none."""
        inside, nearest_ms = self._in_ellipse(question)
        inside = inside[self._order(inside, question.place)]
        if self._strategy == "krand":
            drawn = self._generator.choice(len(inside), min(self._k, len(inside)), replace=False)
            contacted = inside[np.sort(drawn)]
        elif self._strategy == "knn":
            contacted = inside[: self._k]
        else:
            contacted = inside
        queue = self._loads.answers(contacted)
        kept = np.arange(len(contacted))
        if self._strategy == "cknn":
            kept = self._useful(question, contacted, queue, question.costs_ms - nearest_ms)
            contacts = int(kept[-1]) + 1 if len(kept) == self._k else len(contacted)
            contacted, queue = contacted[:contacts], queue[:contacts]
        self._loads.learn(contacted, queue)
        return CandidateList(contacted[kept], len(contacted), len(inside))

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

    def _order(self, hosts: IndexArray, place: FloatArray) -> IndexArray:
        """By distance from a place, then by number: hosts come in the order of their numbers."""
        coordinates = self._space.coordinates
        away = np.sqrt(((coordinates.positions[hosts] - place) ** 2).sum(axis=1)) + coordinates.heights[hosts]
        return np.argsort(away, kind="stable")

    def _useful(
        self, question: Question, hosts: IndexArray, queue: FloatArray, allowance_ms: float
    ) -> IndexArray:
        """The positions of the first k hosts with P below P + T + N - N_min."""
        waiting = np.maximum(1.0, queue + question.size) if question.loaded else 1.0
        useful = question.work_ms / self._speed[hosts] * waiting < allowance_ms
        return np.flatnonzero(useful)[: self._k]
