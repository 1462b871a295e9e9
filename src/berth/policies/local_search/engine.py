"""The search from outside: a first plan, repair, then cycles of annealing until steps or time are over."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation.goal import Goal
from berth.exact.placement import Placement
from berth.model.randomness import generator_for
from berth.policies.local_search import fields
from berth.policies.local_search.anneal import anneal, typical_change
from berth.policies.local_search.build import build_case, previous_blocks
from berth.policies.local_search.case import IndexArray
from berth.policies.local_search.energy import WHOLE, current_value, note_best
from berth.policies.local_search.fields import field_of
from berth.policies.local_search.moves import rebuild
from berth.policies.local_search.plain import BEST, Walk, plain_of, walk_from
from berth.policies.local_search.plain import EVALUATED as WALKED
from berth.policies.local_search.plain_anneal import plain_anneal
from berth.policies.local_search.start import first_nodes
from berth.policies.local_search.state import (
    BEST_BROKEN,
    BEST_NODE,
    BEST_VALUE,
    BROKEN,
    COST_WEIGHT,
    EVALUATED,
    NODE,
    PENALTY,
    new_state,
)

SLICE = 0.15
"""Seconds of compiled steps between two looks at the clock."""
FIRST_SLICE = 2_000
SAMPLE = 2_000
"""Moves from which the temperatures are learnt."""
HOT, COLD = 0.4, 4e-3
"""Temperatures, as shares of what a move changes on average."""
AGAIN = (1.0, 0.08, 0.25, 0.04)
"""How hot one cycle after the other begins; all but the hottest begin at the best plan."""
AGAIN_SUMS = (1.0, 0.3, 0.6)
"""The same for sums: their valleys are many, and far from each other."""
SHORTEST, LONGEST = 400, 20_000
"""Steps of a cycle for each block, at least and at most."""
LONGEST_SUMS, GROWTH = 4_000, 1.5
"""The same for sums at the beginning: many short cycles first, longer ones round by round."""
AGAIN_PLAIN, COLD_PLAIN, LONGEST_PLAIN = (1.0, 0.2, 0.12, 0.3), 0.02, 60_000
"""The same for plain sums: their steps are cheap, and what is colder or hotter for long is of little use."""
PERIOD_PLAIN = 3
"""Steps for each block between two changes of the price of broken constraints, with plain sums."""
QUENCH = 40
"""Steps for each block on the way down from the first plan."""
NEARER = 200
"""Steps for each block in which delays are drawn together, before response times are searched."""
SHARE = 0.2
"""The share of what is left that a cycle takes, within these."""
REPAIRS = (0.3, 1.0, 0.1, 3.0)
"""How hot one repair after the other begins: so many units too many are taken lightly."""


class LocalSearch:
    """The state of one search; `nodes` has the best plan so far."""

    def __init__(self, placement: Placement, goal: Goal, seed: int) -> None:
        self.placement, self._seed = placement, seed
        self.case = build_case(placement, goal)
        self._plain = plain_of(self.case)
        self._free = int(self.case.ints[fields.FREE])
        self._state = new_state(self.case)
        self._random = np.array([generator_for(seed).integers(2**62)], dtype=np.uint64)
        self._sums = self._state.reals
        self._sums[[BEST_VALUE, BEST_BROKEN]] = np.inf
        self._pace = 0.0
        paths = bool(self.case.ints[fields.USES_TIME] or self.case.ints[fields.HEAVY])
        self._again = AGAIN if paths else AGAIN_SUMS
        self._longest = float(LONGEST if paths else LONGEST_SUMS)
        self._growth = 1.0 if paths else GROWTH
        self._cold = COLD
        if self._plain is not None:
            self._again, self._longest, self._cold = AGAIN_PLAIN, float(LONGEST_PLAIN), COLD_PLAIN
        self.nodes = self._blocks_at(BEST_NODE)
        self.steps = 0
        self.cycles = 0

    def _blocks_at(self, field: int) -> IndexArray:
        """A field of the state with a number for each block."""
        first = int(self._state.ints[field])
        return self._state.ints[first : first + len(self.placement.blocks)]

    @property
    def value(self) -> float:
        """What is minimised, of the best plan."""
        return float(self._sums[BEST_VALUE])

    @property
    def whole(self) -> bool:
        """Whether the best plan breaks nothing, as far as the search can see."""
        return bool(self._sums[BEST_BROKEN] <= WHOLE)

    @property
    def evaluated(self) -> int:
        """Moves that were evaluated."""
        return int(self._sums[EVALUATED])

    def forget(self) -> None:
        """The judge doesn't take the best plan: any other one is as good."""
        self._sums[BEST_VALUE] = np.inf

    def start(self) -> None:
        """The first plan: along the streams, or the largest first where that breaks less."""
        wanted = previous_blocks(self.placement)
        along = self.placement.block_of[field_of(self.case, fields.INSTANCE)]
        _, first = np.unique(along, return_index=True)
        along = along[np.sort(first)]
        choices = self.choices
        self._place(np.concatenate([along[choices[along] == 1], along[choices[along] > 1]]), wanted)
        resources = int(self.case.ints[fields.RESOURCES])
        if not self.whole and resources:
            need = field_of(self.case, fields.DEMAND).reshape(-1, resources)
            share = (need / field_of(self.case, fields.UNIT)).max(axis=1)
            share[choices == 1] = np.inf
            self._place(np.argsort(-share, kind="stable"), np.full_like(wanted, -1))

    def offer(self, nodes: NDArray[np.intp]) -> None:
        """A plan that is known already, by instance: the best one so far where it is better."""
        wanted = nodes[[block[0] for block in self.placement.blocks]].astype(np.int64)
        allowed = all(node in each for node, each in zip(wanted, self.placement.candidates, strict=True))
        if allowed:
            rebuild(self.case, self._state, wanted)
            note_best(self.case, self._state)

    @property
    def choices(self) -> IndexArray:
        """How many nodes each block could go to."""
        sizes = np.diff(field_of(self.case, fields.CANDIDATE_FIRST))
        found: IndexArray = sizes[field_of(self.case, fields.GROUP)]
        return found

    def _place(self, order: IndexArray, wanted: IndexArray) -> None:
        first_nodes(self.case, self._state, order.astype(np.int64), wanted, self._random)
        rebuild(self.case, self._state, self._blocks_at(NODE).copy())
        note_best(self.case, self._state)

    def run(self, budget: Budget, steps: int | None, tell: Callable[[], None]) -> None:
        """Search until the budget or the steps are over; `tell` is called whenever something may be new."""
        if self._free == 0:
            return
        self._tell, self._budget, self._limit = tell, budget, steps
        tell()
        if self.case.reals[fields.TIME_WEIGHT] + self.case.reals[fields.LOADED_WEIGHT] > 0.0:
            self._draw_near()
        while not self._over and not self.whole:
            self._repair(REPAIRS[self.cycles % len(REPAIRS)])
        self._quench()
        round_number = 0
        while not self._over:
            self._optimise(self._again[round_number % len(self._again)])
            round_number += 1
            if round_number % len(self._again) == 0:
                self._longest *= self._growth

    def _draw_near(self) -> None:
        """A start for response times: the longest path alone shows few ways down, the sum of delays many."""
        placement = Placement(self.placement.setting, prune=False)
        vars(placement)["rate"] = np.ones(len(placement.graph.pair_sender))
        nearer = LocalSearch(placement, Goal({"network_usage": 1.0}), self._seed)
        nearer.start()
        steps = NEARER * self._free
        if self._limit is not None:
            steps = min(steps, (self._limit - self.steps) // 5)
        nearer.run(self._budget.part(0.2), steps, lambda: None)
        self.steps += nearer.steps
        rebuild(self.case, self._state, nearer.nodes.copy())
        note_best(self.case, self._state)
        rebuild(self.case, self._state, self.nodes.copy())
        self._tell()

    @property
    def _over(self) -> bool:
        return self._budget.over or (self._limit is not None and self.steps >= self._limit)

    def _repair(self, hot: float) -> None:
        """Costs don't count: whatever breaks less is better, until nothing is broken."""
        rebuild(self.case, self._state, self.nodes.copy())
        self._sums[PENALTY : COST_WEIGHT + 1] = 1.0, 1.0, 1.0, 0.0
        self._cycle(hot, 0.02, self._length() << min(self.cycles, 8), until_whole=True)

    def _quench(self) -> None:
        """Straight down from the first plan: soon better, and it shows how fast the steps are."""
        if not self._over:
            mean = self._typical_change()
            self._sums[PENALTY : COST_WEIGHT + 1] = 2.0 * mean, 0.01 * mean, 1e6 * mean, 1.0
            length = QUENCH * self._free
            if self._limit is not None:
                length = min(length, 1 + (self._limit - self.steps) // 10)
            self._cycle(COLD * mean, COLD * mean, length, until_whole=False)

    def _typical_change(self) -> float:
        self._sums[PENALTY : COST_WEIGHT + 1] = 1.0
        return typical_change(self.case, self._state, self._random, SAMPLE) or 1.0

    def _optimise(self, heat: float) -> None:
        if heat < 1.0 or self.cycles == 0:
            rebuild(self.case, self._state, self.nodes.copy())
        mean = self._typical_change()
        self._sums[PENALTY : COST_WEIGHT + 1] = 2.0 * mean, 0.01 * mean, 1e6 * mean, 1.0
        length = self._length()
        # With few steps for each block, what is hot for long never cools down.
        heat *= min(1.0, length / (SHORTEST * self._free))
        self._cycle(max(heat * HOT, self._cold) * mean, self._cold * mean, length, until_whole=False)

    def _length(self) -> int:
        """The length of the next cycle, so that several fit into what is left."""
        count = self._free
        left = self._longest * count
        if self._limit is not None:
            left = float(self._limit - self.steps)
        elif self._pace:
            left = min(self._budget.remaining, 1e9) * self._pace
        enough = min(SHORTEST * count + 5_000, 0.9 * left)
        return int(min(max(SHARE * left, enough, 1), self._longest * count + 20_000))

    def _cycle(self, hot: float, cold: float, length: int, until_whole: bool) -> None:
        """One cycle, cut short when it is over."""
        self.cycles += 1
        period = min(max(len(self.nodes) // 4, 50), 2_000)
        steps = np.array([0, 0, length, period, int(until_whole), 0], dtype=np.int64)
        if self._plain is not None:
            period = PERIOD_PLAIN * self._free
        walk = None if self._plain is None or until_whole else walk_from(self._plain, self._state)
        while steps[0] < length and not self._over:
            first = int(steps[0])
            planned = int(self._pace * SLICE) or FIRST_SLICE
            steps[1] = min(first + planned, length)
            if self._limit is not None:
                steps[1] = min(steps[1], first + self._limit - self.steps)
            began = time.perf_counter()
            if self._plain is None or walk is None:
                anneal(self.case, self._state, self._random, steps, hot, cold)
            else:
                plain_anneal(self._plain, walk, self._random, steps, hot, cold)
                self._take(walk)
            seconds = time.perf_counter() - began
            done = int(steps[0]) - first
            self.steps += done
            if done and seconds > 0.0:
                # The first slice may have been compiled: it says little.
                self._pace = min(done / seconds, 1e8) if self._pace else 1e4
            self._tell()
            if until_whole and self.whole:
                return

    def _take(self, walk: Walk) -> None:
        """What a walk over plain sums has found; the plan of the moment is where it is."""
        self._sums[EVALUATED] += walk.numbers[WALKED]
        walk.numbers[WALKED] = 0.0
        if walk.numbers[BEST] < self._sums[BEST_VALUE]:
            rebuild(self.case, self._state, walk.best.copy())
            note_best(self.case, self._state)
        rebuild(self.case, self._state, walk.node.copy())

    @property
    def current(self) -> tuple[IndexArray, float, float]:
        """The plan of the moment, its value and what it breaks: for tests."""
        value, broken = current_value(self.case, self._state), self._sums[BROKEN]
        return self._blocks_at(NODE).copy(), float(value), float(broken)
