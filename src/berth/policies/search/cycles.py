"""The search itself: a first plan, repair, then cycles of annealing until steps or time are over."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import engine
from berth.engine import (
    blocks_along_streams,
    case_of,
    likeness_case,
    previous_nodes_of_blocks,
    sizes_of_blocks,
)
from berth.evaluation.goal import Goal
from berth.exact.placement import Placement
from berth.model.randomness import generator_for

IndexArray = NDArray[np.int64]

TIMES = ("response_time", "response_time_sum", "loaded_response_time")
"""What depends on paths."""
SLICE = 0.05
"""Seconds of steps between two looks at the clock."""
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
AGAIN_QUADRATIC, COLD_QUADRATIC, LONGEST_QUADRATIC = (1.0, 0.2, 0.12, 0.3), 0.02, 60_000
"""The same for quadratic assignment: steps are cheap, and it is of little use to be colder or hotter."""
QUENCH = 40
"""Steps for each block on the way down from the first plan."""
NEARER = 200
"""Steps for each block in which delays are drawn together, before response times are searched."""
SHARE = 0.2
"""The share of what is left that a cycle takes, within these."""
SMALLEST_CEILING, CEILING_ROUNDING, CEILING_UNIT = 1e-6, 1e-12, 0.1
"""Of ceilings: units for those near 0, the share that is rounding, and the share that is one broken limit."""
LIKENESS_ROUNDING = 1e-6
"""Shares of operators are added up: so much is no operator."""
REPAIRS = (0.3, 1.0, 0.1, 3.0)
"""How hot one repair after the other begins: so many units too many are taken lightly."""


class LocalSearch:
    """One search; `nodes` has the best plan so far, by block."""

    def __init__(
        self, placement: Placement, goal: Goal, seed: int, rate: NDArray[np.float64] | None = None
    ) -> None:
        self.placement, self._goal, self._seed = placement, goal, seed
        self.case = case_of(placement, goal, rate)
        kept, unlike = placement.setting.ceilings, placement.setting.unlike
        operators = len(placement.graph.operators)
        scales = [max(abs(item.costs), SMALLEST_CEILING) for item in kept]
        self._search = engine.Search(
            self.case,
            int(generator_for(seed).integers(2**62)),
            ceilings=[
                *(case_of(placement, item.goal, rate, limited=False) for item in kept),
                *(likeness_case(placement, item) for item in unlike),
            ],
            most=[
                *(item.costs + CEILING_ROUNDING * scale for item, scale in zip(kept, scales, strict=True)),
                *(operators - item.least + LIKENESS_ROUNDING for item in unlike),
            ],
            unit=[*(CEILING_UNIT * scale for scale in scales), *(1.0 for _ in unlike)],
        )
        self._free = self.case.movable
        self._pace = 0.0
        self._cold, self._growth = COLD, 1.0
        self._again: tuple[float, ...] = AGAIN
        self._longest = float(LONGEST)
        if self.case.is_quadratic:
            self._again, self._longest = AGAIN_QUADRATIC, float(LONGEST_QUADRATIC)
            self._cold, self._growth = COLD_QUADRATIC, GROWTH
        elif self.case.only_sums:
            self._again, self._longest, self._growth = AGAIN_SUMS, float(LONGEST_SUMS), GROWTH
        self.steps = 0
        self.cycles = 0

    @property
    def nodes(self) -> IndexArray:
        """The best plan."""
        return self._search.best_nodes

    @property
    def value(self) -> float:
        """What is minimised, of the best plan."""
        return self._search.best_value

    @property
    def whole(self) -> bool:
        """Whether the best plan breaks nothing, as far as the search can see."""
        return self._search.best_whole

    @property
    def evaluated(self) -> int:
        """Moves that were evaluated."""
        return self._search.evaluated

    @property
    def current(self) -> tuple[IndexArray, float, float]:
        """The plan of the moment, its value and what it breaks: for tests."""
        return self._search.nodes, self._search.value, self._search.broken

    def forget(self) -> None:
        """The judge doesn't take the best plan: any other one is as good."""
        self._search.forget_best()

    def start(self) -> None:
        """The first plan: along the streams, or the largest first where that breaks less."""
        wanted = previous_nodes_of_blocks(self.placement)
        along = blocks_along_streams(self.placement)
        choices = self.case.choices
        order = np.concatenate([along[choices[along] == 1], along[choices[along] > 1]])
        self._search.place_in_order(order, wanted)
        if not self.whole:
            size = sizes_of_blocks(self.placement)
            size[choices == 1] = np.inf
            self._search.place_in_order(np.argsort(-size, kind="stable"), np.full_like(wanted, -1))

    def offer(self, nodes: NDArray[np.intp]) -> None:
        """A plan that is known already, by instance: the best one so far where it is better."""
        wanted = nodes[[block[0] for block in self.placement.blocks]].astype(np.int64)
        if all(node in each for node, each in zip(wanted, self.placement.candidates, strict=True)):
            self._search.go_to(wanted)

    def run(self, budget: Budget, steps: int | None, tell: Callable[[], None]) -> None:
        """Search until the budget or the steps are over; `tell` is called whenever something may be new."""
        if self._free == 0:
            return
        self._tell, self._budget, self._limit = tell, budget, steps
        tell()
        if any(self._goal.coefficient(name) for name in TIMES if name in self._goal.weights):
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
        equal = np.ones(len(self.placement.graph.pair_sender))
        nearer = LocalSearch(self.placement, Goal({"network_usage": 1.0}), self._seed, equal)
        nearer.start()
        steps = NEARER * self._free
        if self._limit is not None:
            steps = min(steps, (self._limit - self.steps) // 5)
        nearer.run(self._budget.part(0.2), steps, lambda: None)
        self.steps += nearer.steps
        self._search.go_to(nearer.nodes)
        self._search.go_to_best()
        self._tell()

    @property
    def _over(self) -> bool:
        return self._budget.over or (self._limit is not None and self.steps >= self._limit)

    def _repair(self, hot: float) -> None:
        """Costs don't count: whatever breaks less is better, until nothing is broken."""
        self._search.go_to_best()
        self._cycle(hot, 0.02, self._length() << min(self.cycles, 8), until_whole=True)

    def _quench(self) -> None:
        """Straight down from the first plan: soon better, and it shows how fast the steps are."""
        if not self._over:
            mean = self._typical_change()
            length = QUENCH * self._free
            if self._limit is not None:
                length = min(length, 1 + (self._limit - self.steps) // 10)
            self._cycle(COLD * mean, COLD * mean, length, mean)

    def _typical_change(self) -> float:
        return self._search.typical_change(SAMPLE) or 1.0

    def _optimise(self, heat: float) -> None:
        if heat < 1.0 or self.cycles == 0:
            self._search.go_to_best()
        mean, length = self._typical_change(), self._length()
        # With few steps for each block, what is hot for long never cools down.
        heat *= min(1.0, length / (SHORTEST * self._free))
        self._cycle(max(heat * HOT, self._cold) * mean, self._cold * mean, length, mean)

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

    def _cycle(
        self, hot: float, cold: float, length: int, mean: float = 0.0, until_whole: bool = False
    ) -> None:
        """One cycle, cut short when time is over; `mean` is what a move changes on average."""
        self.cycles += 1
        period = min(max(len(self.placement.blocks) // 4, 50), 2_000)
        value, price, least, most = (0.0, 1.0, 1.0, 1.0) if until_whole else (1.0, 2.0, 0.01, 1e6)
        self._search.begin_cycle(
            hot=hot,
            cold=cold,
            length=length,
            period=period,
            until_whole=until_whole,
            value_price=value,
            broken_price=price * (mean or 1.0),
            least_price=least * (mean or 1.0),
            most_price=most * (mean or 1.0),
        )
        while not self._search.cycle_over and not self._over:
            planned = int(self._pace * SLICE) or FIRST_SLICE
            if self._limit is not None:
                planned = min(planned, self._limit - self.steps)
            began = time.perf_counter()
            done = self._search.run(planned)
            seconds = time.perf_counter() - began
            self.steps += done
            if done and seconds > 0.0:
                self._pace = min(done / seconds, 1e8)
            self._tell()
            if until_whole and self.whole:
                return
