"""What binds: how full everything is that has a limit, where the time goes, and how much more would fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from berth.evaluation import Setting, Situation
from berth.evaluation.limits import TOLERANCE, OneCore, Use, growing_uses, uses
from berth.evaluation.situation import critical_path
from berth.explanation.shared_results import plan_alone
from berth.model import Application, Plan


@dataclass(frozen=True)
class Step:
    """An instance on the slowest path."""

    instance: str
    node: str
    work_ms: float
    delay_ms: float
    """Of the link to the next one; 0 at the end."""


@dataclass(frozen=True)
class SlowestPath:
    """The critical path, with what it is made of."""

    steps: tuple[Step, ...]

    @property
    def work_ms(self) -> float:
        """Time spent computing."""
        return sum(step.work_ms for step in self.steps)

    @property
    def delay_ms(self) -> float:
        """Time spent on links."""
        return sum(step.delay_ms for step in self.steps)

    @property
    def total_ms(self) -> float:
        """The response time."""
        return self.work_ms + self.delay_ms

    def share(self, part: float) -> float:
        """A part of the whole; 0 where the path takes no time."""
        return part / self.total_ms if self.total_ms > 0 else 0.0


def binding(situation: Situation) -> list[Use]:
    """Every limit that is used, requirements included, the fullest first; rules only where they are full."""
    found = uses(situation)
    full = {use.name: use for use in found if not use.of.grows and use.share >= 1.0}
    return sorted([*(use for use in found if use.of.grows), *full.values()], key=lambda use: -use.share)


@dataclass(frozen=True)
class Bound:
    """A limit as people look at it: the cores of all instances of an operator on a node are one."""

    use: Use
    """The fullest of them."""
    name: str
    count: int
    """How many limits it stands for."""

    @property
    def title(self) -> str:
        """What is limited, and where."""
        return f"{self.use.kind} {self.name}"

    def document(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**self.use.document(), "name": self.name, "count": self.count}


def grouped(situation: Situation, limits: Iterable[Use]) -> list[Bound]:
    """Limits with one row for each operator on a node; nodes that are exceeded first, then the fullest."""
    found: dict[tuple[str, str], list[Use]] = {}
    for use in limits:
        found.setdefault((use.kind, _group_of(situation, use)), []).append(use)
    rows = [
        Bound(max(same, key=lambda use: use.share), same[0].name if len(same) == 1 else name, len(same))
        for (_, group), same in found.items()
        for name in [group.replace(" on ", f"×{len(same)} on ", 1)]
    ]
    # a node that can't keep up says more than each of the instances on it
    return sorted(
        rows,
        key=lambda row: (not row.use.exceeded, row.use.exceeded and row.use.node is None, -row.use.share),
    )


def _group_of(situation: Situation, use: Use) -> str:
    """What a limit is put together with: the operator and the node, for the core of an instance."""
    if not isinstance(use.of, OneCore):
        return use.name
    graph = situation.graph
    instance, node = use.of.instance_and_node(use.place)
    return f"{graph.operators[graph.operator_of[instance]].name} on {situation.network.nodes[node].name}"


def slowest_path(situation: Situation) -> SlowestPath:
    """The path of the latest result; without steps where the response time can't be computed."""
    graph, network, nodes = situation.graph, situation.network, situation.node_of
    path = critical_path(situation)
    steps = []
    for position, number in enumerate(path):
        node = int(nodes[number])
        work = float(graph.work_ms[number] / network.speed[node])
        last = position == len(path) - 1
        delay = 0.0 if last else float(network.table.delay_ms[node, nodes[path[position + 1]]])
        steps.append(Step(graph.names[number], network.nodes[node].name, work, delay))
    return SlowestPath(tuple(steps))


COPY = "-copy"
MOST_APPLICATIONS = 40
"""Applications that are looked at; one costs about as much as judging a plan of them all."""


@dataclass(frozen=True)
class Room:
    """How many more copies of an application fit, and what would break first."""

    application: str
    copies: int | None
    """None: nothing that has a limit would be used any more."""
    limit: Use | None
    """What one more would exceed; with what it has to bear now."""
    added: float
    """What each copy adds to that."""


@dataclass(frozen=True)
class Growth:
    """Room for one application."""

    shared: Room
    """Where copies share what they can."""
    alone: Room | None
    """Where every copy computes everything for itself; None where that is the same."""


def growth_of(situation: Situation) -> list[Growth]:
    """For every application, how many more copies at the same places the loads leave room for."""
    if not situation.complete:
        return []
    shares = situation.problem.sharing_keys.possible
    found = []
    for application in situation.problem.applications[:MOST_APPLICATIONS]:
        shared = _room(situation, application, application)
        alone = _room(situation, application, _untyped(application)) if shares else None
        found.append(Growth(shared, None if alone == shared else alone))
    return found


def _untyped(application: Application) -> Application:
    """An application that equals nothing: all its operators are its own."""
    return replace(application, operators=tuple(replace(item, type=None) for item in application.operators))


def _room(situation: Situation, application: Application, copied: Application) -> Room:
    problem, plan = situation.problem, situation.plan
    name = application.name + COPY
    while any(other.name == name for other in problem.applications):
        name += COPY
    larger = replace(problem, applications=(*problem.applications, replace(copied, name=name)))
    alone = copied is not application
    after = Situation(Setting(larger), _with_copy(plan, situation, application.name, name, alone))
    before = {(use.kind, use.name): use for use in growing_uses(situation)}
    best = Room(application.name, None, None, 0.0)
    for use in growing_uses(after):
        if isinstance(use.of, OneCore):
            # an instance of a copy has a core of its own
            continue
        old = before.get((use.kind, use.name))
        base = replace(use, needed=0.0) if old is None else old
        added = use.needed - base.needed
        if added <= TOLERANCE * max(use.needed, base.needed):
            continue
        # The tolerance that constraints are judged with.
        copies = max(0, math.floor((base.slack + TOLERANCE * base.limit) / added))
        if best.copies is None or copies < best.copies:
            best = Room(application.name, copies, base, added)
    return best


def _with_copy(plan: Plan, situation: Situation, name: str, copy: str, alone: bool) -> Plan:
    """The plan with a copy of an application where the original runs; alone: it reuses nothing."""

    def renamed(item: str) -> str:
        return f"{copy}/{item.removeprefix(f'{name}/')}" if item.startswith(f"{name}/") else item

    source = plan
    reuse, skipped = dict(plan.reuse), list(plan.skipped)
    assignment, containers = dict(plan.assignment), dict(plan.containers)
    if alone:
        source = plan_alone(situation)
    else:
        reuse |= {
            renamed(taker): giver for taker, giver in plan.reuse.items() if taker.startswith(f"{name}/")
        }
        skipped += [renamed(item) for item in plan.skipped if item.startswith(f"{name}/")]
    for instance, node in source.assignment.items():
        if instance.startswith(f"{name}/"):
            assignment[renamed(instance)] = node
    for instance, container in plan.containers.items():
        if instance.startswith(f"{name}/"):
            containers[renamed(instance)] = renamed(container)
    return replace(plan, assignment=assignment, containers=containers, reuse=reuse, skipped=tuple(skipped))
