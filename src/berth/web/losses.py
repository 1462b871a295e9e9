"""What if a node goes: a plan after the loss of a node or of its zone, as the judge sees it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from berth.engine.failovers import search_failover
from berth.evaluation import Setting, Situation
from berth.evaluation.losses import JudgedLoss, judged_loss
from berth.model import BadInput, Loss, Plan, Problem, Survive
from berth.model.errors import did_you_mean
from berth.web.documents import finite
from berth.web.plans import judged


def loss_of(problem: Problem, plan: Plan, node: str) -> dict[str, Any]:
    """What becomes of a plan when a node goes, with its zone where zones are what the problem survives.

    Where the plan's own failover doesn't do, one is found by a short search.

    Raises:
        BadInput: there is no such node, the plan leaves something open, or losses can't be judged.
    """
    losing = problem if problem.survive is not None else replace(problem, survive=Survive())
    _check(problem, plan, node)
    situation = Situation(Setting(losing), plan)
    if not situation.complete:
        raise BadInput("plan: something has no node; a loss can be judged once everything has one")
    loss = _loss(losing, node)
    found = judged_loss(situation, loss)
    stored = not found.broken
    if not stored:
        other = search_failover(situation.setting, loss, situation.node_of, plan.seed)
        moves = {} if other is None else other.moves
        situation = Situation(situation.setting, replace(plan, failover={loss.name: moves}))
        found = judged_loss(situation, loss)
    return _document(situation, found, stored)


def _check(problem: Problem, plan: Plan, node: str) -> None:
    if node not in problem.network.index:
        raise BadInput(f"node: no node {did_you_mean(node, problem.network.index)}")
    packs = any(application.containers is not None for application in problem.applications)
    if packs or problem.objects or plan.reuse or plan.skipped:
        raise BadInput("problem: losses can't be judged with containers, objects or reuse")


def _loss(problem: Problem, node: str) -> Loss:
    """The loss that a node is part of; alone where the problem names none."""
    number = problem.network.index[node]
    known = (loss for loss in problem.losses if number in loss.nodes)
    return next(known, Loss(node, np.array([number], dtype=np.intp), problem))


def _document(situation: Situation, found: JudgedLoss, stored: bool) -> dict[str, Any]:
    graph, nodes, loss = situation.graph, situation.network.nodes, found.loss
    moves = situation.plan.failover.get(loss.name, {})
    moving = np.flatnonzero(loss.moving(situation.node_of)).tolist()
    finish, after = situation.finish_ms, found.situation
    return {
        "loss": loss.name,
        "nodes": [nodes[number].name for number in loss.nodes.tolist()],
        "moved": [
            {
                "instance": graph.names[number],
                "from": nodes[situation.node_of[number]].name,
                "to": moves.get(graph.names[number]),
            }
            for number in moving
        ],
        "lost": [graph.names[number] for number in np.flatnonzero(loss.lost).tolist()],
        "stored": stored,
        "response_time_ms": None if found.response_time_ms is None else finite(found.response_time_ms),
        "response_time_before_ms": None if finish is None else finite(float(finish.max(initial=0.0))),
        "violations": list(found.broken),
        "after": None if after is None else judged(loss.left, replace(after.plan, failover={})),
    }
