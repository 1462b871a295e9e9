"""Single moves before the judge: what a plan is worth with something elsewhere, and what that breaks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import exceeded, exceeds
from berth.evaluation.violations import violations
from berth.model import Download, Plan

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a plan."""

    objective: float | None
    violations: tuple[str, ...]
    needed: dict[tuple[str, str], float]
    """What is needed of everything of which there is not enough, by kind and name."""

    @property
    def subjects(self) -> set[str]:
        """What is broken, without amounts."""
        return {subject_of(line) for line in self.violations}

    def new_trouble(self, before: Verdict) -> tuple[str, ...]:
        """What is broken here and was not before, or is worse than before."""
        known = before.subjects
        found = [line for line in self.violations if subject_of(line) not in known]
        for (kind, name), needed in self.needed.items():
            if (kind, name) in before.needed and exceeds(needed, before.needed[kind, name]):
                found += [
                    line for line in self.violations if _is_about(line, kind, name) and line not in found
                ]
        return tuple(found)


class Judge:
    """The judge of plans for one problem by one goal."""

    def __init__(self, setting: Setting, plan: Plan, goal: Goal | None) -> None:
        self.setting = setting
        self.plan = plan
        self.goal = goal

    @cached_property
    def situation(self) -> Situation:
        """The plan as it is."""
        return Situation(self.setting, self.plan)

    @cached_property
    def before(self) -> Verdict:
        """What the plan is worth as it is."""
        return self.verdict(self.situation)

    def verdict(self, situation: Situation) -> Verdict:
        """The objective and all that is broken."""
        with np.errstate(over="ignore", invalid="ignore"):
            broken = tuple(violations(situation))
            needed = {(use.kind, use.name): use.needed for use in exceeded(situation)} if broken else {}
            return Verdict(self.objective(situation), broken, needed)

    def objective(self, situation: Situation) -> float | None:
        """The goal's value; None where it can't be computed."""
        if self.goal is None:
            return None
        metrics = {}
        for name in self.goal.weights:
            value = METRIC_BY_NAME[name].value(situation)
            if value is None or not math.isfinite(value):
                return None
            metrics[METRIC_BY_NAME[name].key] = value
        return self.goal.value(metrics)

    def moved(self, members: IndexArray, node: int) -> Situation:
        """The plan with some instances on a node; downloads from and to the nodes concerned follow."""
        graph, nodes = self.setting.graph, self.setting.problem.network.nodes
        assignment = {**self.plan.assignment, **{graph.names[k]: nodes[node].name for k in members.tolist()}}
        situation = Situation(self.setting, replace(self.plan, assignment=assignment))
        if not self.setting.problem.objects:
            return situation
        touched = {node, *self.situation.node_of[members].tolist()}
        downloads = tuple(_downloads(situation, touched))
        if downloads == self.plan.downloads:
            return situation
        return Situation(self.setting, replace(situation.plan, downloads=downloads))


def _downloads(situation: Situation, touched: set[int]) -> Iterable[Download]:
    """The plan's downloads without those that some nodes no longer need, and with those that they lack."""
    network, wanted = situation.network, situation.object_rates
    index = network.index
    for item in situation.plan.downloads:
        if index[item.target] not in touched or (item.object, index[item.target]) in wanted:
            yield item
    listed = {(item.object, index[item.target]) for item in situation.plan.downloads}
    for name, node in wanted:
        if node in touched and (name, node) not in listed:
            holders = np.array(network.holders.get(name, []), dtype=np.intp)
            delay = network.table.delay_ms[holders, np.full(len(holders), node)]
            if not np.isnan(delay).all():
                yield Download(
                    name, network.nodes[holders[np.nanargmin(delay)]].name, network.nodes[node].name
                )


def subject_of(line: str) -> str:
    """What a violation is about, without its amounts."""
    subject, _, rest = line.partition(": ")
    words = [word for word in rest.split() if not word[0].isdigit()]
    return " ".join([subject, *words[:3]])


def _is_about(line: str, kind: str, name: str) -> bool:
    """Whether a violation is that of an exceeded limit."""
    subject = line.partition(": ")[0]
    if kind == "link":
        return subject == f"link {name}"
    if kind in ("response time", "availability"):
        return line.startswith(f"application {name}: {kind}")
    if kind == "capacity":
        node, _, resource = name.partition(" ")
        return line.startswith(f"node {node}: {resource} ")
    words = {"processor": "processor ", "card": "network card "}.get(kind, "one port, ")
    return line.startswith(f"node {name}: {words}")
