"""A plan in the engine's hands: what it would be worth with some instances elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.core import engine
from berth.engine.case import case_of
from berth.evaluation import Setting, Situation
from berth.evaluation.goal import Goal
from berth.exact.placement import Placement
from berth.model import Problem

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class HeldPlan:
    """A plan whose instances are moved about by their numbers; instances that are nowhere may come later.

    What the engine doesn't know is left out: containers, downloads, and that equal results count once. Rules
    that keep instances together are left out, too, because a plan may break them.
    """

    def __init__(self, situation: Situation, goal: Goal) -> None:
        """Take a plan over.

        Raises:
            BadInput: the goal has a metric that the engine doesn't know.
        """
        setting = situation.setting
        bare = Setting(_bare(setting.problem), setting.previous, setting.occupied)
        self._plan = engine.Plan(case_of(Placement(bare, prune=False), goal))
        self._nodes = np.maximum(situation.node_of, 0).astype(np.int64)

    def values_on(self, instances: IndexArray, nodes: IndexArray) -> FloatArray:
        """What the goal is worth, but for a constant, with some instances together on each of some nodes."""
        self._plan.place(self._nodes)  # anew: the sums of many moves and moves back drift
        values, _ = self._plan.outcomes_on(instances.tolist(), nodes.astype(np.int64))
        return values


def _bare(problem: Problem) -> Problem:
    """The problem without what is left out: each instance is a block of its own."""
    applications = tuple(
        replace(
            application,
            rules=(),
            containers=None,
            operators=tuple(replace(operator, reads=()) for operator in application.operators),
        )
        for application in problem.applications
    )
    return replace(problem, applications=applications, sharing=False)
