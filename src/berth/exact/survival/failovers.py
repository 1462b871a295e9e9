"""The best failover of a plan for every loss: a problem in which only what has to move is placed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.placement import Placement
from berth.exact.start import first_plan
from berth.model import Loss, Plan

IndexArray = NDArray[np.intp]

FASTEST = Goal({"response_time": 1.0})
"""Of all ways to survive a loss, the one with the least response time is the best."""


@dataclass(frozen=True, eq=False)
class Failover:
    """What becomes of a plan after a loss."""

    loss: Loss
    survived: bool
    """Whether there is a way to keep all constraints, as far as that is known."""
    moves: dict[str, str] = field(default_factory=dict)
    response_time_ms: float = np.inf
    """Afterwards."""


class Failovers:
    """Finds the best failovers of plans that keep all constraints as long as nothing is lost."""

    def __init__(self, setting: Setting, budget: Budget, seed: int = 0, fastest: bool = True) -> None:
        """Prepare for plans of a setting.

        Args:
            setting: what plans are judged in.
            budget: how long to go on.
            seed: of the solver.
            fastest: find the failover with the least response time, and not just a good one.
        """
        self._setting, self._budget, self._seed, self._fastest = setting, budget, seed, fastest
        self.losses = setting.problem.losses
        self._known: dict[bytes, list[Failover]] = {}

    def of(self, nodes: IndexArray) -> list[Failover]:
        """For every loss the best failover of a plan, which is given by the node of each instance."""
        key = nodes.tobytes()
        if key not in self._known:
            self._known[key] = [self._after(loss, nodes) for loss in self.losses]
        return self._known[key]

    def moves(self, nodes: IndexArray) -> dict[str, dict[str, str]] | None:
        """A plan's failover as it is written; None where some loss can't be survived."""
        found = self.of(nodes)
        if not all(item.survived for item in found):
            return None
        return {item.loss.name: item.moves for item in found if item.moves}

    def _after(self, loss: Loss, nodes: IndexArray) -> Failover:
        if not loss.touches(nodes):
            return Failover(loss, True, {}, self._response_time(nodes))
        after = _After(self._setting, loss, nodes)
        found = None if self._fastest else after.at_once()
        return found or after.best(self._budget, self._seed)

    def _response_time(self, nodes: IndexArray) -> float:
        plan = Plan(assignment_of(self._setting.problem, nodes))
        finish = Situation(self._setting, plan).finish_ms
        return np.inf if finish is None else float(finish.max(initial=0.0))


class _After:
    """A plan after a loss: what stays is where it is, what has to move is placed anew."""

    def __init__(self, setting: Setting, loss: Loss, nodes: IndexArray) -> None:
        self._loss, self._whole = loss, setting.graph
        self._setting = Setting(loss.left, occupied=setting.occupied)
        staying = nodes[loss.kept]
        self._moving = np.isin(staying, loss.nodes)
        self._staying = np.where(self._moving, -1, staying)

    def at_once(self) -> Failover | None:
        """By one greedy pass; None where that gets stuck."""
        placement = Placement(self._setting, staying=self._staying)
        if not placement.blocks:
            return Failover(self._loss, True, {}, 0.0)
        blocks = first_plan(placement, FASTEST)
        if blocks is None:
            return None
        nodes = placement.nodes_of_instances(blocks)
        evaluation = evaluate(
            self._setting.problem,
            Plan(assignment_of(self._setting.problem, nodes)),
            occupied=self._setting.occupied,
        )
        return None if evaluation.violations else self._found(nodes, evaluation.metrics["response_time_ms"])

    def best(self, budget: Budget, seed: int) -> Failover:
        """With the least response time."""
        from berth.exact.minimise import minimise  # which asks for failovers of its plans

        if len(self._staying) == 0:
            return Failover(self._loss, True, {}, 0.0)
        solution = minimise(self._setting, FASTEST, budget, seed, staying=self._staying)
        if solution.nodes is None or solution.objective is None:
            return Failover(self._loss, False)
        return self._found(solution.nodes, solution.objective)

    def _found(self, nodes: IndexArray, response_time_ms: float) -> Failover:
        kept, machines = self._loss.kept, self._loss.of.network.nodes
        moves = {
            self._whole.names[kept[number]]: machines[nodes[number]].name
            for number in np.flatnonzero(self._moving).tolist()
        }
        return Failover(self._loss, True, moves, response_time_ms)
