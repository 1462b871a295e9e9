"""All ways to place a forest: six heuristics, four strategies, with and without reuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import sharing as core
from berth.evaluation import Setting
from berth.generators.forest import Forest, ForestParameters
from berth.model import Problem
from berth.model.randomness import generator_for
from berth.policies.sharing.case import case_of
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


def forest(seed: int, parameters: ForestParameters) -> Problem:
    """A random problem."""
    chance, generator = generator_for(seed), Forest()
    return generator.problem(parameters, chance, generator.network(parameters, chance, None))


def costs(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Speed enrolled by each way, by reuse, strategy and heuristic; infinite where it is stuck."""
    case = case_of(Setting(problem))
    empty = core.State(case).snapshot()
    state, budget = core.State(case), Budget()
    cost = np.full((2, len(STRATEGIES), len(HEURISTICS)), np.inf)
    for column, heuristic in enumerate(HEURISTICS.values()):
        order = heuristic.order(problem, seed)
        for reusing in (NO_REUSE, REUSE):
            reuse = bool(reusing) and heuristic.parameters().reuse
            for strategy, processors in enumerate(STRATEGIES):
                state.resume(empty)
                run = heuristic.start(state, order, HeuristicParameters(processors, reuse))
                if ran_through(run, budget) and run.stuck_at < 0:
                    cost[reusing, strategy, column] = case.network.speed[state.hosted > 0].sum()
    return cost
