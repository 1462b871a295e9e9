"""What is left of a plan when applications have come and gone: everything stays where it was.

An application that is gone leaves results that others take. The first of these takers computes them from now
on, on the node where they were computed before; so do the operators that feed it, as far as the plan before
says who did their work (`stand_ins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.model import Plan
from berth.policies.sharing.case import Case
from berth.policies.sharing.heuristics import breadth_first

STAND_INS = "stand_ins"
"""In a plan's trace: for skipped operators the one of another application that does their work."""


@dataclass(eq=False)
class PreviousPlan:
    """Brings a new state to where a previous plan was."""

    case: Case
    state: core.State
    plan: Plan
    heirs: dict[str, int] = field(default_factory=dict)
    """Who computes now what an operator computed that is gone."""

    def restore(self) -> None:
        """Place what had a place, reuse what was reused, and take over what others need of those gone."""
        graph, nodes = self.case.problem.instances, self.case.problem.network.index
        for name, node in self.plan.assignment.items():
            if name in graph.index and node in nodes:
                instance = graph.index[name]
                if self.case.allowed[graph.operator_of[instance], nodes[node]]:
                    self.state.move(instance, nodes[node])
        height = self._heights()
        known = [taker for taker in self.plan.reuse if taker in graph.operator_index]
        # From below: a provider whose consumers are reused first would look as if nobody needed it.
        for taker in sorted(known, key=lambda name: height[graph.operator_index[name]]):
            self._follow(graph.operator_index[taker], self.plan.reuse[taker])
        recorded = self.plan.trace.get(STAND_INS)
        before = {name.partition("/")[0] for name in (*self.plan.assignment, *self.plan.reuse)}
        for operator in breadth_first(self.case.problem).tolist():
            if self._settled(operator):
                continue
            name = graph.operators[operator].name
            worker = recorded.get(name) if isinstance(recorded, Mapping) else None
            if isinstance(worker, str):
                self._follow(operator, worker)
            elif name.partition("/")[0] in before and self.case.shareable[operator]:
                self.state.reuse_any(operator)
        self._fetch()
        self.state.keep()

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Operators that have their place or take a result."""
        return np.array([self._settled(operator) for operator in range(self.case.operators)], dtype=bool)

    def _settled(self, operator: int) -> bool:
        return self.state.status(operator) != core.Status.WANTED or self.state.placed(operator)

    def _heights(self) -> list[int]:
        """Of every operator, the longest way to it; equal ones have the same."""
        heights = [0] * len(self.case.problem.instances.operators)
        for operator in reversed(breadth_first(self.case.problem).tolist()):
            inputs = self.case.problem.instances.inputs[operator]
            heights[operator] = 1 + max((heights[child] for child in inputs), default=0)
        return heights

    def _follow(self, operator: int, giver: str) -> None:
        """Take the result that an operator took before, whoever computes it now."""
        index = self.case.problem.instances.operator_index
        if giver in index:
            self._take(operator, index[giver])
        else:
            self._inherit(operator, giver)

    def _take(self, taker: int, giver: int) -> None:
        if self.state.can_reuse(taker, giver):
            self.state.reuse(taker, giver)

    def _inherit(self, operator: int, giver: str) -> None:
        """Take what an heir computes, or become the heir: on the same nodes, if they may host this one."""
        if giver in self.heirs:
            self._take(operator, self.heirs[giver])
            return
        if self.state.status(operator) != core.Status.WANTED:
            return
        instances = self.case.problem.instances.operators[operator].instances
        names = [giver] if len(instances) == 1 else [f"{giver}#{number}" for number in range(len(instances))]
        index = self.case.problem.network.index
        nodes = [index.get(self.plan.assignment.get(name, ""), -1) for name in names]
        if all(node >= 0 and self.case.allowed[operator, node] for node in nodes):
            for instance, node in zip(instances, nodes, strict=True):
                self.state.move(instance, node)
            self.heirs[giver] = operator

    def _fetch(self) -> None:
        """Download objects from where they were downloaded before."""
        nodes, held = self.case.problem.network.index, self.case.held
        items = {item.name: number for number, item in enumerate(self.case.problem.objects)}
        for download in self.plan.downloads:
            item = items.get(download.object, -1)
            source, target = nodes.get(download.source, -1), nodes.get(download.target, -1)
            known = min(item, source, target) >= 0
            if known and held[item, source] and self.case.connected[source, target]:
                self.state.set_source(item, target, source)


def stand_ins(case: Case, state: core.State) -> dict[str, str]:
    """For skipped operators the computed one of another application that does their work."""
    operators, found = case.problem.instances.operators, {}
    for skipped in np.flatnonzero(state.statuses == core.Status.SKIPPED.value).tolist():
        for giver in np.flatnonzero(case.kind == case.kind[skipped]).tolist():
            if state.status(giver) == core.Status.WANTED and state.matched(skipped, giver):
                if operators[skipped].application != operators[giver].application:
                    found[operators[skipped].name] = operators[giver].name
                break
    return found
