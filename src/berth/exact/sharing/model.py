"""A CP-SAT model in which results of equal operators may be taken instead of computed (card 1.16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from berth.evaluation.limits import amount
from berth.evaluation.limits.places import place_of as apart_place_of
from berth.exact.cpsat.limits import LimitedModel
from berth.exact.sharing.fates import Fates
from berth.exact.sharing.flows import add_flows
from berth.exact.sharing.highest import Highest, Terms
from berth.exact.sharing.requirements import add_requirements
from berth.exact.sharing.shared import Shared
from berth.model import Apart, Together


@dataclass
class SharingModel(LimitedModel):
    """`x[instance][node]` is true where a computed instance runs on a node."""

    shared: Shared

    def __post_init__(self) -> None:
        super().__post_init__()
        self.fates = Fates(self.cp, self.shared)
        self.x = [self._choice(int(operator)) for operator in self.shared.graph.operator_of]
        self._used: dict[int, Any] = {}
        self._supply: dict[int, dict[tuple[int, int, int], Any]] = {}
        self.work = Highest(self.cp)
        """By computation and node: throughput x work, in busy reference processors."""
        self._ask_for_work()
        self.work.build()
        self._add_candidates()
        self._add_processors()
        self._add_capacities()
        self._add_rules()
        self.flows = Highest(self.cp)
        """By result and two nodes: bytes per second."""
        self.downloads = Highest(self.cp)
        """By object and two nodes: bytes per second."""
        self.fetched: dict[tuple[str, int, int], Any] = {}
        """By object, holder and reading node: whether it is downloaded from there."""
        add_flows(self)
        add_requirements(self)

    def _choice(self, operator: int) -> dict[int, Any]:
        return {node: self.cp.new_bool_var("") for node in self.shared.allowed(operator)}

    def _add_candidates(self) -> None:
        for number, places in enumerate(self.x):
            operator = int(self.shared.graph.operator_of[number])
            computed = self.fates.computed(operator)
            if places:
                self.cp.add(sum(places.values()) == computed)
            else:
                text = f"operator {self.shared.name(operator)}: no node is allowed by candidates and rules"
                self.add("candidates", text, computed == 0)

    def used(self, node: int) -> Any:
        """True where a node hosts anything."""
        if node not in self._used:
            self._used[node] = literal = self.cp.new_bool_var("")
            for places in self.x:
                if node in places:
                    self.cp.add_implication(places[node], literal)
        return self._used[node]

    def supply(self, operator: int) -> dict[tuple[int, int, int], Any]:
        """Where the parts of an operator's result come from.

        Literals by the number of the parts, a part's number and the node.
        """
        if operator not in self._supply:
            self._supply[operator] = self._make_supply(operator)
        return self._supply[operator]

    def _make_supply(self, operator: int) -> dict[tuple[int, int, int], Any]:
        shared, cp = self.shared, self.cp
        by = self.fates.by[operator]
        supply: dict[tuple[int, int, int], Any] = {}
        parts: dict[tuple[int, int], list[Any]] = {}
        for source, fate in by.items():
            count = shared.parallelism(source)
            for part, number in enumerate(shared.graph.operators[source].instances):
                parts.setdefault((count, part), []).append(fate)
                for node, literal in self.x[number].items():
                    key = count, part, node
                    if len(by) == 1:
                        supply[key] = literal
                        continue
                    if key not in supply:
                        supply[key] = cp.new_bool_var("")
                    # An instance of the operator itself runs only if its fate is to be computed.
                    also = [] if source == operator else [fate.negated()]
                    cp.add_bool_or([supply[key], literal.negated(), *also])
        if len(by) > 1 and not self.relaxable:
            for (count, part), fates in parts.items():
                here = [literal for key, literal in supply.items() if key[:2] == (count, part)]
                cp.add(sum(here) == sum(fates))
        return supply

    def computation_keys(self) -> list[int]:
        """A number for every instance; two of them compute the same if it is the same."""
        numbers = np.arange(len(self.shared.graph))
        if not self.shared.keys.possible:
            return (-1 - numbers).tolist()
        keys: list[int] = self.shared.keys.computation_keys(numbers).tolist()
        return keys

    def _ask_for_work(self) -> None:
        shared, graph = self.shared, self.shared.graph
        for number, key in enumerate(self.computation_keys()):
            operator = int(graph.operator_of[number])
            each = float(graph.work_ms[number]) / 1000.0 / shared.parallelism(operator)
            for node, literal in self.x[number].items():
                asked = [(float(shared.throughput[operator]), [literal])]
                asked += [
                    (float(shared.throughput[taker]), [literal, lift])
                    for taker, lift in self.fates.lifted(operator)
                ]
                for throughput, conditions in asked:
                    if throughput * each > 0:
                        self.work.ask((key, node), throughput * each, *conditions)

    def _add_processors(self) -> None:
        speed, free = self.shared.network.speed, self.shared.setting.processors
        for node, keys in _by_node(self.work).items():
            text = f"node {self.shared.node(node)}: its processor keeps up"
            most = float(speed[node] * free[node])
            self._node_bears(node, "processors", text, self.work, keys, most)

    def _add_capacities(self) -> None:
        graph = self.shared.graph
        for resource in graph.resources:
            asked = Highest(self.cp)
            demand = graph.demand(resource)
            for number, key in enumerate(self.computation_keys()):
                for node, literal in self.x[number].items() if demand[number] > 0 else ():
                    asked.ask((key, node), float(demand[number]), literal)
            asked.build()
            there = self.shared.setting.capacity(resource)
            for node, keys in _by_node(asked).items():
                text = f"node {self.shared.node(node)}: at most {resource} {amount(there[node])}"
                self._node_bears(node, f"{resource} of the nodes", text, asked, keys, float(there[node]))

    def _node_bears(
        self, node: int, family: str, text: str, amounts: Highest, keys: list[Any], most: float
    ) -> None:
        # One amount beyond breaks the limit alone; how far beyond does not matter.
        terms = [term for key in keys for term in amounts.terms(key, 2.0 * most if most > 0 else 1.0)]
        self.sum_at_most(family, text, terms, most, self.used(node))

    def sum_at_most(self, family: str, text: str, terms: Terms, most: float, where: Any = 1) -> None:
        """A sum is at most `most`; where nothing is there, nothing fits, however small."""
        if most > 0:
            self.limit(family, text, terms, most, where)
        elif terms:
            self.add(family, text, cp_model.LinearExpr.sum([literal for literal, _ in terms]) == 0)

    def _add_rules(self) -> None:
        graph = self.shared.graph
        for application in self.shared.problem.applications:
            for rule in application.rules:
                if not isinstance(rule, Together | Apart):
                    continue
                names = [f"{application.name}/{name}" for name in rule.operators]
                numbers = [k for name in names for k in graph.operators[graph.operator_index[name]].instances]
                what = ", ".join(rule.operators)
                if isinstance(rule, Together):
                    self._add_together(f"application {application.name}: {what} together", numbers)
                else:
                    self._add_apart(f"application {application.name}: {what} apart", numbers, rule.by)

    def _add_together(self, text: str, numbers: list[int]) -> None:
        nodes = sorted({node for number in numbers for node in self.x[number]})
        home = {node: self.cp.new_bool_var("") for node in nodes}
        self.cp.add_at_most_one(home.values())
        for number in numbers:
            for node, literal in self.x[number].items():
                self.add("rules", text, literal <= home[node])

    def _add_apart(self, text: str, numbers: list[int], by: str | None) -> None:
        shared: dict[tuple[str, str], Terms] = {}
        for number in numbers:
            for node, literal in self.x[number].items():
                place = apart_place_of(self.shared.network.nodes[node], by)
                shared.setdefault(place, []).append((literal, 1.0))
        for terms in shared.values():
            self.limit("rules", text, terms, 1.0)


def _by_node(amounts: Highest) -> dict[int, list[Any]]:
    keys: dict[int, list[Any]] = {}
    for key in amounts.keys:
        keys.setdefault(key[1], []).append(key)
    return keys
