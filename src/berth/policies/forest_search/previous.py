"""What is left of a plan when applications have come and gone: everything stays where it was.

An application that is gone leaves results that others take. The first of these takers computes them from now
on, on the node where they were computed before; so do the operators that feed it, as far as the plan before
says who did their work (`stand_ins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from berth.model import Plan, Problem
from berth.policies.forest_search.changes import placed, reuse_any, set_source
from berth.policies.many.case import Case
from berth.policies.many.engine import can_reuse, move, reuse
from berth.policies.many.lifting import match_cell
from berth.policies.many.orders import breadth_first
from berth.policies.many.state import SKIPPED, WANTED, State, keep

STAND_INS = "stand_ins"
"""In a plan's trace: for skipped operators the one of another application that does their work."""


@dataclass(eq=False)
class Recalled:
    """Brings a new state to where a previous plan was."""

    problem: Problem
    case: Case
    state: State
    plan: Plan
    heirs: dict[str, int] = field(default_factory=dict)
    """Who computes now what an operator computed that is gone."""

    def recall(self) -> None:
        """Place what had a place, reuse what was reused, and take over what others need of those gone."""
        graph, nodes = self.problem.instances, self.problem.network.index
        for name, node in self.plan.assignment.items():
            if name in graph.index and node in nodes:
                unit = graph.index[name]
                if self._may(int(graph.operator_of[unit]), nodes[node]):
                    move(self.case, self.state, unit, nodes[node])
        height = self._heights()
        known = [taker for taker in self.plan.reuse if taker in graph.operator_index]
        # From below: a provider whose consumers are reused first would look as if nobody needed it.
        for taker in sorted(known, key=lambda name: height[graph.operator_index[name]]):
            self._follow(graph.operator_index[taker], self.plan.reuse[taker])
        recorded = self.plan.trace.get(STAND_INS)
        before = {name.partition("/")[0] for name in (*self.plan.assignment, *self.plan.reuse)}
        for operator in breadth_first(self.problem).tolist():
            item = graph.operators[operator]
            if self.state.status[operator] != WANTED or placed(self.case, self.state, operator):
                continue
            worker = recorded.get(item.name) if isinstance(recorded, Mapping) else None
            if isinstance(worker, str):
                self._follow(operator, worker)
            elif item.name.partition("/")[0] in before and self.case.operators.shareable[operator]:
                reuse_any(self.case, self.state, operator)
        self._fetch()
        keep(self.state)

    def _fetch(self) -> None:
        """Download objects from where they were downloaded before."""
        nodes, objects = self.problem.network.index, self.case.objects
        items = {item.name: number for number, item in enumerate(self.problem.objects)}
        for download in self.plan.downloads:
            item = items.get(download.object, -1)
            source, target = nodes.get(download.source, -1), nodes.get(download.target, -1)
            known = min(item, source, target) >= 0
            if known and objects.holds[item, source] and self.case.nodes.connected[source, target]:
                set_source(self.case, self.state, item, target, source)

    def _heights(self) -> list[int]:
        """Of every operator, the longest way to it; equal ones have the same."""
        heights = [0] * len(self.problem.instances.operators)
        for operator in reversed(breadth_first(self.problem).tolist()):
            inputs = self.problem.instances.inputs[operator]
            heights[operator] = 1 + max((heights[child] for child in inputs), default=0)
        return heights

    def _follow(self, operator: int, giver: str) -> None:
        """Take the result that an operator took before, whoever computes it now."""
        index = self.problem.instances.operator_index
        if giver in index:
            self._take(operator, index[giver])
        else:
            self._inherit(operator, giver)

    def _may(self, operator: int, node: int) -> bool:
        """Whether a node may host an operator."""
        rules = self.case.rules
        return bool(rules.allowed[rules.home[operator], node])

    def _take(self, taker: int, giver: int) -> None:
        if can_reuse(self.case, self.state, taker, giver):
            reuse(self.case, self.state, taker, giver)

    def _inherit(self, operator: int, giver: str) -> None:
        """Take what an heir computes, or become the heir: on the same nodes, if they may host this one."""
        case, first = self.case, self.case.operators.first_unit
        if giver in self.heirs:
            self._take(operator, self.heirs[giver])
            return
        if self.state.status[operator] != WANTED:
            return
        units = range(first[operator], first[operator + 1])
        names = [giver] if len(units) == 1 else [f"{giver}#{number}" for number in range(len(units))]
        index = self.problem.network.index
        nodes = [index.get(self.plan.assignment.get(name, ""), -1) for name in names]
        if all(node >= 0 and self._may(operator, node) for node in nodes):
            for unit, node in zip(units, nodes, strict=True):
                move(case, self.state, unit, node)
            self.heirs[giver] = operator

    @property
    def settled(self) -> np.ndarray:
        """Operators that have their place or take a result."""
        return np.array(
            [
                self.state.status[operator] != WANTED or placed(self.case, self.state, operator)
                for operator in range(len(self.case.operators.kind))
            ],
            dtype=bool,
        )


def stand_ins(problem: Problem, case: Case, state: State) -> dict[str, str]:
    """For skipped operators the computed one of another application that does their work."""
    graph, operators, found = problem.instances, case.operators, {}
    for skipped in np.flatnonzero(state.status == SKIPPED).tolist():
        kind = operators.kind[skipped]
        for giver in operators.kind_operators[operators.kind_first[kind] : operators.kind_first[kind + 1]]:
            if state.status[giver] == WANTED and state.matches[match_cell(case, skipped, giver)] > 0:
                ends = graph.operators[skipped], graph.operators[giver]
                if ends[0].application != ends[1].application:
                    found[ends[0].name] = ends[1].name
                break
    return found
