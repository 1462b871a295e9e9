"""Six heuristics, four strategies, with and without reuse: run on a forest, and what came out as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import sharing as core
from berth.evaluation import Setting
from berth.generators.forest import Forest
from berth.model import Problem
from berth.model.randomness import generator_for
from berth.policies.sharing.case import Case
from berth.policies.sharing.heuristics import HEURISTICS as POLICIES
from berth.policies.sharing.heuristics import (
    STRATEGIES,
    Heuristic,
    HeuristicParameters,
    ran_through,
)

_NAMES = ("RandomNoReuse", "Random", "TopDownBFS", "TopDownDFS", "BottomUpBFS", "BottomUpDFS")
HEURISTICS: dict[str, Heuristic] = dict(zip(_NAMES, POLICIES, strict=True))
"""By the paper's names, H1 to H6."""
H1, H2, H3, H4, H5, H6 = range(len(HEURISTICS))
FASTEST, CARD, FASTEST_LEFT, CARD_LEFT = range(len(STRATEGIES))
"""The paper's strategies 1, 2, 4 and 3: its results call the biggest remaining card number 3 (E4.1)."""
BLOCKING, OPEN = (FASTEST, CARD), (FASTEST_LEFT, CARD_LEFT)
REUSERS = (H2, H3, H4, H5, H6)
GOOD = (H3, H4, H5)
"""The three that the paper compares most."""
NO_REUSE, REUSE = 0, 1
USUAL: dict[str, Any] = {"replicas": 1}
"""The paper's objects are "randomly distributed over the processors": one copy of each."""
Shares = NDArray[np.float64]
"""By run and strategy: means over values of what is varied."""
SHAPE = (2, len(STRATEGIES), len(HEURISTICS))


def forest(seed: int, generator: Forest) -> Problem:
    """A random problem."""
    chance = generator_for(seed)
    return generator.problem(chance, generator.network(chance, None))


def costs(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Speed enrolled, by reuse, strategy and heuristic; infinite where a heuristic is stuck."""
    case = Case(Setting(problem))
    empty = core.State(case.core).snapshot()
    state, budget = core.State(case.core), Budget()
    cost = np.full((2, len(STRATEGIES), len(HEURISTICS)), np.inf)
    for column, heuristic in enumerate(HEURISTICS.values()):
        order = heuristic.order(problem, seed)
        for reusing in (NO_REUSE, REUSE):
            reuse = bool(reusing) and heuristic.parameters().reuse
            for strategy, processors in enumerate(STRATEGIES):
                state.resume(empty)
                run = heuristic.start(state, order, HeuristicParameters(processors, reuse))
                if ran_through(run, budget) and run.stuck_at < 0:
                    cost[reusing, strategy, column] = case.speed[state.hosted > 0].sum()
    return cost


@dataclass(frozen=True)
class Outcome:
    """By value, run, reuse, strategy and heuristic.

    Attributes:
        values: of what is varied.
        found: 1 where there is a plan, 0 where there is none.
        quality: the least cost of any of them for this forest over the own one; 0 where it found no plan.
    """

    values: NDArray[np.float64]
    found: NDArray[np.float64]
    quality: NDArray[np.float64]

    def mean(
        self,
        table: NDArray[np.float64],
        heuristics: int | Sequence[int],
        low: float = -np.inf,
        high: float = np.inf,
        reuse: int = REUSE,
    ) -> Shares:
        """The mean of `found` or `quality` over heuristics and over values from `low` to `high`."""
        chosen = [heuristics] if isinstance(heuristics, int) else list(heuristics)
        part = table[(self.values >= low) & (self.values <= high)][:, :, reuse]
        return np.asarray(part[..., chosen].mean(axis=(0, -1)))


def outcome_of(table: pd.DataFrame) -> Outcome:
    """The outcome of a table of one variant, with every heuristic, strategy and reuse of each forest."""
    places = {
        "strategy": pd.Categorical(table["strategy"], STRATEGIES).codes,
        "heuristic": pd.Categorical(table["heuristic"], list(HEURISTICS)).codes,
    }
    ordered = table.assign(**places).sort_values(["value", "forest", "reuse", "strategy", "heuristic"])
    values = np.unique(ordered["value"].to_numpy(dtype=np.float64))
    found = ordered["found"].to_numpy(dtype=bool).reshape(len(values), -1, *SHAPE)
    speed = ordered["enrolled_speed"].to_numpy(dtype=np.float64).reshape(found.shape)
    least = np.where(found, speed, np.inf).min(axis=(2, 3, 4), keepdims=True)
    quality = np.divide(least, speed, out=np.zeros(found.shape), where=found)
    return Outcome(values, found.astype(np.float64), quality)
