"""What survival takes: what every loss comes to, and what the same problem costs where nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from berth.evaluation import Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import Use
from berth.evaluation.losses import JudgedLoss, loss_violations
from berth.explanation.alternatives import Judge
from berth.explanation.binding import binding
from berth.explanation.what_if import Outcome, best_known, is_same
from berth.policies.failover import failover_of


@dataclass(frozen=True)
class LossExplained:
    """What becomes of a plan after a loss."""

    name: str
    moved: Mapping[str, tuple[str, str | None]]
    """From where to where every instance goes that has to; None: it has no node."""
    lost: tuple[str, ...]
    """The instances that could run nowhere else."""
    response_time_ms: float | None
    violations: tuple[str, ...]
    fullest: Use | None
    """Of what the loss makes fuller, that which is the fullest afterwards; None: nothing is."""


@dataclass(frozen=True)
class Survival:
    """Every loss that has to be survived, and what that costs."""

    losses: tuple[LossExplained, ...]
    """The slowest first; those that change nothing are left out."""
    count: int
    """How many losses there are."""
    goal: Goal | None
    """What plans with and without survival are compared by."""
    objective: float | None
    """Of this plan."""
    without: Outcome | None
    """The best that is known where nothing has to be survived; None: nobody asked."""
    cost: float | None
    """How much worse the plan is than that; above 0: worse. None where the placement can't survive."""
    failover: Mapping[str, Mapping[str, str]] | None = None
    """A failover that survives more than the plan's own; None: its own is fine, or none is better."""
    helpless: tuple[str, ...] = ()
    """The losses for which no failover was found that breaks nothing."""

    @property
    def most_moved(self) -> LossExplained | None:
        """The loss after which the most instances move."""
        return max(self.losses, key=lambda item: len(item.moved), default=None)

    @property
    def tightest(self) -> LossExplained | None:
        """The loss that leaves least of what it takes more of."""
        found = [item for item in self.losses if item.fullest is not None]
        return max(found, key=lambda item: item.fullest.share if item.fullest else 0.0, default=None)


def survival_of(judge: Judge, seconds: float) -> Survival | None:
    """What a plan survives and, by a solve of so many seconds, what that costs; None: nothing is ever lost.

    Losses are judged where the plan itself breaks nothing.
    """
    problem, situation = judge.setting.problem, judge.situation
    if problem.survive is None:
        return None
    explained = [_explained(situation, item) for item in situation.losses]
    touching = [item for item in explained if item.moved or item.lost or item.violations or item.fullest]
    slowest = sorted(touching, key=lambda item: -_time(item))
    failover, helpless = _better_failover(judge)
    goal = None if judge.goal is None else judge.goal.without_losses
    objective = Judge(judge.setting, judge.plan, goal).before.objective
    without = cost = None
    if goal is not None and seconds > 0:
        alone = Judge(replace(judge.setting, problem=replace(problem, survive=None)), judge.plan, goal)
        without = best_known(alone, goal, seconds)
        cost = None if helpless else _cost(goal, objective, without.objective)
    count = len(problem.losses)
    return Survival(tuple(slowest), count, goal, objective, without, cost, failover, helpless)


def _better_failover(judge: Judge) -> tuple[Mapping[str, Mapping[str, str]] | None, tuple[str, ...]]:
    """A failover that mends what the plan's own leaves broken, and the losses that stay broken."""
    broken = _broken_losses(judge.situation)
    if not broken:
        return None, ()
    own = judge.plan.failover
    found = failover_of(judge.setting, judge.plan, judge.plan.seed, broken=False)
    kept = {name: moves for name, moves in own.items() if name in broken and name not in found}
    left = _broken_losses(Situation(judge.setting, replace(judge.plan, failover={**found, **kept})))
    return (found if left < broken else None), tuple(sorted(left))


def _broken_losses(situation: Situation) -> set[str]:
    """The losses after which something is broken, needless entries of the failover among it."""
    lines = loss_violations(situation)
    return {line.removeprefix("loss of ").partition(":")[0] for line in lines}


def _time(item: LossExplained) -> float:
    return np.inf if item.response_time_ms is None else item.response_time_ms


def _cost(goal: Goal, objective: float | None, best: float | None) -> float | None:
    if objective is None or best is None:
        return None
    worse = best - objective if goal.maximise else objective - best
    return 0.0 if is_same(objective, best) else worse


def _explained(situation: Situation, judged: JudgedLoss) -> LossExplained:
    graph, nodes, loss = situation.graph, situation.network.nodes, judged.loss
    if judged.situation is situation:
        return LossExplained(loss.name, {}, (), judged.response_time_ms, judged.broken, None)
    moves = situation.plan.failover.get(loss.name, {})
    moving = np.flatnonzero(loss.moving(situation.node_of)).tolist()
    moved = {
        graph.names[number]: (nodes[situation.node_of[number]].name, moves.get(graph.names[number]))
        for number in moving
    }
    lost = tuple(graph.names[number] for number in np.flatnonzero(loss.lost).tolist())
    fullest = None if judged.situation is None else _fullest(situation, judged.situation)
    return LossExplained(loss.name, moved, lost, judged.response_time_ms, judged.broken, fullest)


def _fullest(before: Situation, after: Situation) -> Use | None:
    """The fullest of the limits that are fuller than before."""
    shares = {(use.kind, use.name): use.share for use in binding(before)}
    fuller = (use for use in binding(after) if use.share > shares.get((use.kind, use.name), 0.0) + 1e-12)
    return next(fuller, None)
