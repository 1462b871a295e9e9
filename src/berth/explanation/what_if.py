"""The problem with one thing more (a node, a faster link, more of what is scarce), solved again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import More, Use, amount, exceeded, exceeds
from berth.evaluation.losses import loss_violations
from berth.evaluation.situation import critical_path
from berth.explanation.alternatives import Alternative, Explained, Judge
from berth.explanation.binding import binding
from berth.model import BadInput, Link, Network, Operator, Plan, Problem
from berth.model.links import LINK_FIELDS
from berth.policies.registry import DEFAULT, policy_names
from berth.policies.solve import solve

COPY = "-2"


def changes_of(situation: Situation) -> Iterator[More]:
    """What could help, the most promising first: what is fullest, and what the slowest path goes over."""
    problem, full = situation.problem, binding(situation)
    if problem.network.max_utilisation is None and exceeds(_utilisation(situation) or 0.0, 1.0):
        keeping_up = replace(problem.network, max_utilisation=1.0)
        yield More(
            "utilisation",
            "only plans that keep up (max_utilisation: 1)",
            replace(problem, network=keeping_up),
        )
    offered = (use.of.more(problem, use) for use in full)
    scarce = list({more.words: more for more in offered if more is not None}.values())
    paths = list(_faster_links(situation))
    fullest = next((use.node for use in full if use.node is not None), None)
    if fullest is None and len(situation.used_nodes):
        fullest = _most_used(situation)
    nodes = [] if fullest is None else [with_copy_of(problem, fullest)]
    for turn in range(max(len(scarce), len(paths), len(nodes))):
        yield from (group[turn] for group in (nodes, scarce, paths) if turn < len(group))


def _most_used(situation: Situation) -> int:
    count = np.bincount(situation.node_of[situation.running], minlength=len(situation.network.nodes))
    return int(count.argmax())


def _faster_links(situation: Situation) -> Iterator[More]:
    """The links of the slowest path with half their delay, the longest first."""
    nodes = situation.node_of[critical_path(situation)]
    _, hops = situation.network.table.physical_hops(nodes[:-1], nodes[1:])
    size = len(situation.network.nodes)
    delay = {divmod(int(hop), size): 0.0 for hop in hops}
    for ends in delay:
        delay[ends] = float(situation.network.table.delay_ms[ends])
    for ends in sorted(delay, key=lambda ends: -delay[ends]):
        if delay[ends] > 0:
            faster = delay[ends] / 2.0
            sender, receiver = (situation.network.nodes[end].name for end in ends)
            arrow = "<->" if situation.network.symmetric else "->"
            words = f"{sender} {arrow} {receiver} with half the delay ({amount(faster)} ms)"
            yield More("delay", words, situation.problem.with_link(*ends, "delay_ms", faster))


def _link(sender: str, receiver: str, given: Mapping[str, float]) -> Link:
    """A link with the fields that are given."""
    return replace(Link(sender, receiver), **given)  # type: ignore[arg-type]


def with_copy_of(problem: Problem, number: int) -> More:
    """The problem with one more node like another: linked as that is, and to it as that is to its nearest."""
    network = problem.network
    original = network.nodes[number]
    name = original.name + COPY
    while name in network.index:
        name += COPY
    copy = replace(original, name=name)
    links = [*network.links]
    for link in network.links:
        if original.name in (link.sender, link.receiver):
            ends = (name if end == original.name else end for end in (link.sender, link.receiver))
            links.append(replace(link, **dict(zip(("sender", "receiver"), ends, strict=True))))  # type: ignore[arg-type]
    links += _between(network, number, name)
    matrices = {field: _extended(matrix, number) for field, matrix in network.matrices.items()}
    larger = replace(network, nodes=(*network.nodes, copy), links=tuple(links), matrices=matrices)
    applications = tuple(
        replace(item, operators=tuple(_may_use(operator, original.name, name) for operator in item.operators))
        for item in problem.applications
    )
    changed = replace(problem, network=larger, applications=applications)
    return More("node", f"one more node like {original.name} ({name})", changed)


def _between(network: Network, number: int, name: str) -> list[Link]:
    """The links between a node and its copy: as to its nearest neighbour, unless coordinates tell."""
    original = network.nodes[number]
    if original.coordinates is not None:
        return []
    size, table = len(network.nodes), network.table
    others = np.delete(np.arange(size), number)
    links = []
    for forth in (True, False):
        here = np.full(len(others), number)
        ends = (here, others) if forth else (others, here)
        delay = np.asarray(table.delay_ms[ends])
        if not len(delay) or np.isnan(delay).all():
            continue
        nearest = int(others[np.nanargmin(delay)])
        way = (number, nearest) if forth else (nearest, number)
        fields = {field: float(getattr(table, field)[way]) for field in LINK_FIELDS}
        given = {field: value for field, value in fields.items() if np.isfinite(value)}
        names = (original.name, name) if forth else (name, original.name)
        links.append(_link(*names, given))
    return links


def _extended(matrix: np.ndarray, number: int) -> np.ndarray:
    """A matrix with a row and a column more, like those of a node."""
    order = [*range(len(matrix)), number]
    return matrix[np.ix_(order, order)]


def _may_use(operator: Operator, original: str, copy: str) -> Operator:
    """What may run on several nodes, and on the original, may run on its copy."""
    price = operator.placement_cost
    if original in price:
        operator = replace(operator, placement_cost={**price, copy: price[original]})
    candidates = operator.candidates
    if candidates is None or len(candidates) < 2 or original not in candidates:
        return operator
    return replace(operator, candidates=(*candidates, copy))


def room_elsewhere(judge: Judge, operators: Sequence[Explained]) -> Iterator[More]:
    """Problems in which something fits that would be better elsewhere, the largest gain first."""
    if judge.before.violations:
        return
    wanted = [(item, other) for item in operators for other in item.forbidden]
    wanted.sort(key=lambda pair: -abs(pair[1].change or 0.0))
    told = set()
    for item, other in wanted:
        change = _room_for(judge, item, other)
        if change is not None and change.words not in told:
            told.add(change.words)
            yield change


def _room_for(judge: Judge, item: Explained, other: Alternative) -> More | None:
    """The problem with all limits raised that a move exceeds; None where it breaks something else, too."""
    index, network = judge.situation.graph.index, judge.situation.network
    members = np.array([index[name] for name in item.instances], dtype=np.intp)
    moved = judge.moved(members, network.index[other.node])
    over = exceeded(moved)
    if len(over) != len(other.breaks):
        return None
    problem = judge.setting.problem
    for use in over:
        raised = use.of.raised(problem, use)
        if raised is None:
            return None
        problem = raised
    amounts = ", ".join(
        f"{_limit_name(use)} {amount(use.needed)} instead of {amount(use.limit)}" for use in over
    )
    return More("room", f"room for {item.name} on {other.node} ({amounts})", problem)


def _limit_name(use: Use) -> str:
    return use.name if use.kind == "capacity" else f"{use.kind} {use.name}"


Depth = Literal["none", "quick", "full"]
MOST = {"none": 0, "quick": 4, "full": 16}
"""How many changes are tried."""
SHORTEST = 0.2
"""Seconds that each of them gets at least."""


@dataclass(frozen=True)
class Outcome:
    """The best that is known of a problem."""

    objective: float | None
    """By the plan's goal; None: no plan that breaks nothing is known, or it has no value."""
    proved: bool
    """Whether nothing better exists."""
    kept: bool = False
    """Whether it is the plan as it is."""
    reason: str | None = None
    utilisation: float | None = None
    """Of the busiest node or instance in that plan; None: not known."""


@dataclass(frozen=True)
class WhatIf:
    """A change and what it brings."""

    kind: str
    words: str
    outcome: Outcome
    gain: float | None
    """How much better the objective gets than without the change, above 0: better."""
    proved: bool
    """Whether both are proved, so that the gain is exactly what the change is worth."""


@dataclass(frozen=True)
class WhatIfs:
    """The problem as it is, solved again, and every change."""

    policy: str
    unchanged: Outcome
    changes: tuple[WhatIf, ...]


def changes_tried(judge: Judge, operators: Sequence[Explained], depth: Depth) -> list[More]:
    """Room for what would be better elsewhere, then more of what is scarce; as many as are asked for."""
    most = MOST[depth]
    return [*islice(room_elsewhere(judge, operators), most // 2), *changes_of(judge.situation)][:most]


def what_ifs(judge: Judge, operators: Sequence[Explained], depth: Depth, seconds: float) -> WhatIfs | None:
    """Solve the problem, and the problem with each change, in equal shares of the time; None for `none`."""
    goal = judge.goal
    if goal is None or depth == "none":
        return None
    tried = changes_tried(judge, operators, depth)
    policy = _policy_of(judge.plan)
    share = max(SHORTEST, seconds / (len(tried) + 1))
    unchanged = _best(judge, judge.setting.problem, goal, policy, share)
    found = tuple(_tried(judge, change, goal, policy, share, unchanged) for change in tried)
    return WhatIfs(policy, unchanged, found)


def best_known(judge: Judge, goal: Goal, seconds: float) -> Outcome:
    """The best that is known of a judge's problem: its plan, or what the plan's policy finds in time."""
    return _best(judge, judge.setting.problem, goal, _policy_of(judge.plan), seconds)


def _policy_of(plan: Plan) -> str:
    return plan.policy if plan.policy in policy_names() else DEFAULT


def _tried(judge: Judge, change: More, goal: Goal, policy: str, share: float, unchanged: Outcome) -> WhatIf:
    outcome = _best(judge, change.problem, goal, policy, share)
    gain = None
    if outcome.objective is not None and unchanged.objective is not None:
        gain = unchanged.objective - outcome.objective
        gain = 0.0 if is_same(unchanged.objective, outcome.objective) else -gain if goal.maximise else gain
    return WhatIf(change.kind, change.words, outcome, gain, outcome.proved and unchanged.proved)


def _best(judge: Judge, problem: Problem, goal: Goal, policy: str, share: float) -> Outcome:
    """The better one of the plan as it is and what the policy finds."""
    asked = replace(problem.for_goal(goal.weights), objective_bounds=goal.bounds or problem.objective_bounds)
    found = list(_outcomes(judge, asked, goal, policy, share))
    known = [outcome for outcome in found if outcome.objective is not None]
    if not known:
        return found[-1]
    values = [outcome.objective for outcome in known if outcome.objective is not None]
    best = max(values) if goal.maximise else min(values)
    equal = [item for item in known if item.objective is not None and is_same(item.objective, best)]
    return replace(equal[0], objective=best, proved=any(item.proved for item in equal))


def is_same(one: float, other: float) -> bool:
    """Equal but for the last digits of sums."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _outcomes(judge: Judge, problem: Problem, goal: Goal, policy: str, share: float) -> Iterator[Outcome]:
    setting = Setting(problem)
    as_it_is = Situation(setting, judge.plan)
    kept = judge.verdict(as_it_is)
    if not kept.violations and not any(loss_violations(as_it_is)):
        yield Outcome(kept.objective, False, kept=True, utilisation=_utilisation(as_it_is))
    try:
        plan = solve(problem, policy, budget=Budget(share), seed=judge.plan.seed)
    except BadInput as error:
        yield Outcome(None, False, reason=error.mistakes[0])
        return
    if not plan.found or plan.violations:
        yield Outcome(None, plan.status == "infeasible", reason=plan.reason or "no plan that breaks nothing")
        return
    proved = plan.status == "optimal" and dict(plan.first_goal) == dict(goal.weights)
    found = Situation(setting, plan)
    yield Outcome(judge.objective(found), proved, utilisation=_utilisation(found))


def _utilisation(situation: Situation) -> float | None:
    return METRIC_BY_NAME["utilisation_max"].value(situation)
