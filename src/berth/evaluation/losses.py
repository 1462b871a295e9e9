"""What becomes of a plan when nodes are lost: its failover, judged loss by loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from berth.evaluation.situation import Setting, Situation
from berth.model import Loss, Plan


@dataclass(frozen=True, eq=False)
class JudgedLoss:
    """A loss, and what the plan with its failover is worth after it."""

    loss: Loss
    situation: Situation | None
    """What runs where afterwards; None where something that should move has no node."""
    moved: int
    """The instances that move."""
    response_time_ms: float | None
    """None where it can't be known."""
    broken: tuple[str, ...]
    """A line for each constraint that is broken afterwards."""


def judged_losses(situation: Situation) -> list[JudgedLoss]:
    """Every loss that the problem wants survived; none where the plan itself breaks something."""
    losses = situation.problem.losses
    if not losses or situation.broken:
        return []
    return [judged_loss(situation, loss) for loss in losses]


def judged_loss(situation: Situation, loss: Loss) -> JudgedLoss:
    """What a plan that breaks nothing comes to after a loss."""
    if not loss.touches(situation.node_of):
        needless = tuple(_needless(situation, loss, np.zeros(len(situation.graph), dtype=bool)))
        return JudgedLoss(loss, situation, 0, _response_time(situation), needless)
    moving = loss.moving(situation.node_of)
    wrong = list(_needless(situation, loss, moving))
    moves = situation.plan.failover.get(loss.name, {})
    names, gone = situation.graph.names, {situation.network.nodes[node].name for node in loss.nodes.tolist()}
    numbers = np.flatnonzero(moving).tolist()
    homeless = [names[k] for k in numbers if moves.get(names[k]) is None or moves[names[k]] in gone]
    if homeless:
        # the rest of it is not judged then
        return JudgedLoss(loss, None, len(numbers), None, tuple(f"{name} has no node" for name in homeless))
    after = situation_after(situation, loss, {names[k]: moves[names[k]] for k in numbers})
    return JudgedLoss(loss, after, len(numbers), _response_time(after), (*wrong, *after.broken))


def _response_time(situation: Situation) -> float | None:
    finish = situation.finish_ms
    return None if finish is None else float(finish.max(initial=0.0))


def situation_after(situation: Situation, loss: Loss, moves: dict[str, str]) -> Situation:
    """What runs where after a loss: what stays, what moves, and nothing of what is lost."""
    names = situation.graph.names
    left = {
        names[k]: node
        for k, node in (
            (situation.graph.index[name], node) for name, node in situation.plan.assignment.items()
        )
        if not loss.lost[k]
    }
    plan: Plan = replace(situation.plan, assignment={**left, **moves}, failover={})
    setting = situation.setting
    return Situation(Setting(loss.problem, setting.previous, setting.occupied), plan, loss.lost)


def _needless(situation: Situation, loss: Loss, moving: np.ndarray) -> Iterator[str]:
    """Entries of the failover for what is lost, or stays where it is."""
    for name in situation.plan.failover.get(loss.name, {}):
        number = situation.graph.index[name]
        if loss.lost[number]:
            yield f"{name} is lost, but the failover moves it"
        elif not moving[number]:
            yield f"{name} stays where it is, but the failover moves it"


def loss_violations(situation: Situation) -> Iterator[str]:
    """A line for each constraint that breaks after a loss, with the loss before it."""
    for judged in situation.losses:
        yield from (f"loss of {judged.loss.name}: {line}" for line in judged.broken)
    # a node that hosts nothing is never lost: nothing has to move
    if situation.problem.survive is not None and not situation.broken:
        known = {loss.name for loss in situation.problem.losses}
        for name in sorted(situation.plan.failover.keys() - known):
            for instance in situation.plan.failover[name]:
                yield f"loss of {name}: {instance} stays where it is, but the failover moves it"
