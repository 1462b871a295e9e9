"""A CP-SAT model in which results of equal operators may be taken instead of computed (card 1.16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from berth.evaluation.limits import (
    TOLERANCE,
    LeastAvailability,
    LongestResponse,
    PlaceLimit,
    Processor,
    exceeds,
    one_core,
    place_limits,
)
from berth.exact.cpsat.limits import LimitedModel
from berth.exact.sharing.choices import Fates, Highest, Terms
from berth.exact.sharing.flows import add_flows
from berth.exact.sharing.shared import Shared
from berth.model.instances import pairs_of

FINEST = 2.0**40
"""Units of time up to an application's limit."""


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
        self._require_work()
        self.work.build()
        self._add_candidates()
        self._add_place_limits()
        self._add_cores()
        self._add_together()
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

    def _loads(self, number: int) -> list[tuple[float, list[Any]]]:
        """What an instance keeps busy of processors, with what must hold for it beside its being computed."""
        shared, graph = self.shared, self.shared.graph
        operator = int(graph.operator_of[number])
        each = float(graph.work_ms[number]) / 1000.0 / shared.parallelism(operator)
        loads: list[tuple[float, list[Any]]] = [(float(shared.own_load[number]), [])]
        loads += [
            (float(shared.throughput[taker]) * each, [lift]) for taker, lift in self.fates.lifted(operator)
        ]
        return [(load, conditions) for load, conditions in loads if load > 0]

    def _require_work(self) -> None:
        for number, key in enumerate(self.computation_keys()):
            for load, conditions in self._loads(number):
                for node, literal in self.x[number].items():
                    self.work.require((key, node), load, literal, *conditions)

    def _add_cores(self) -> None:
        """No instance is where one core can't keep up with it."""
        limit = one_core(self.shared.setting)
        if limit is None:
            return
        several = self.shared.network.cores > 1.0
        for number, places in enumerate(self.x):
            for load, conditions in self._loads(number):
                for node, literal in places.items():
                    if several[node] and exceeds(load, float(limit.room[node])):
                        kept = sum([literal, *conditions]) <= len(conditions)
                        self.add(limit.family, limit.asked(number, node), kept)

    def _add_place_limits(self) -> None:
        """Capacities, processors, rules: whatever computed instances need of the places that they are in."""
        for limit in place_limits(self.shared.setting):
            amounts = self.work if isinstance(limit, Processor) else self._needed(limit)
            at: dict[int, list[Any]] = {}
            for key in amounts.keys:
                at.setdefault(int(limit.place_of[key[1]]), []).append(key)
            for place, keys in at.items():
                most = float(limit.room[place])
                # One amount beyond breaks the limit alone; how far beyond does not matter.
                terms = [term for key in keys for term in amounts.terms(key, 2.0 * most if most > 0 else 1.0)]
                where = self.used(place) if limit.of_nodes else 1
                self.sum_at_most(limit.family, limit.asked(place), terms, most, where)

    def _needed(self, limit: PlaceLimit) -> Highest:
        """By computation and node, what is needed of a limit; rules count every instance."""
        needed = Highest(self.cp)
        keys = self.computation_keys() if limit.once else range(len(self.x))
        for key, places, each in zip(keys, self.x, limit.needed.tolist(), strict=True):
            for node, literal in places.items() if each > 0 else ():
                needed.require((key, node), each, literal)
        needed.build()
        return needed

    def sum_at_most(self, family: str, text: str, terms: Terms, most: float, where: Any = 1) -> None:
        """A sum is at most `most`; where nothing is there, nothing fits, however small."""
        if most > 0:
            self.limit(family, text, terms, most, where)
        elif terms:
            self.add(family, text, cp_model.LinearExpr.sum([literal for literal, _ in terms]) == 0)

    def _add_together(self) -> None:
        for application, rule, instances in self.shared.problem.together:
            text = f"application {application}: {', '.join(rule.operators)} together"
            home: dict[int, Any] = {}
            for number in instances:
                for node, literal in self.x[number].items():
                    if node not in home:
                        home[node] = self.cp.new_bool_var("")
                    self.add("rules", text, literal <= home[node])
            self.cp.add_at_most_one(home.values())


def add_requirements(model: SharingModel) -> None:
    """`max_response_time_ms` and `min_availability` of every application.

    Paths run through what an application takes from others.
    """
    setting = model.shared.setting
    for number, application in enumerate(model.shared.problem.applications):
        latest, least = application.max_response_time_ms, application.min_availability
        if latest is None and not least:
            continue
        inside = _inside(model, number)
        if latest is not None:
            _add_response_time(model, inside, LongestResponse(setting).asked(number, latest), latest)
        if least:
            text = LeastAvailability(setting).asked(number, least)
            _add_availability(model, inside, text, -float(np.log(least)))


def _inside(model: SharingModel, application: int) -> dict[int, list[Any]]:
    """The operators that an application may depend on, with what must hold for it beside being computed."""
    shared, cp, graph = model.shared, model.cp, model.shared.graph
    inside: dict[int, list[Any]] = {
        k: [] for k, item in enumerate(graph.operators) if item.application == application
    }
    waiting = []

    def depends(source: int, *conditions: Any) -> None:
        if source not in inside:
            inside[source] = [cp.new_bool_var("")]
            waiting.append(source)
        for literal in inside[source]:
            cp.add_bool_or([literal, *(condition.negated() for condition in conditions)])

    for operator in list(inside):
        for source in shared.others(operator):
            depends(source, model.fates.by[operator][source])
    while waiting:
        receiver = waiting.pop()
        for above in graph.inputs[receiver]:
            for source, fate in model.fates.by[above].items():
                depends(source, fate, *inside[receiver])
    return inside


def _meetings(model: SharingModel, inside: dict[int, list[Any]]) -> Iterator[tuple[int, int, list[Any]]]:
    """Instances that communicate if the conditions hold, as far as an application depends on them."""
    graph = model.shared.graph
    for number, (sender, receiver) in enumerate(graph.stream_ends.tolist()):
        for source, fate in model.fates.by[sender].items() if receiver in inside else ():
            sending, receiving, _ = pairs_of(
                graph.streams[number], graph.operators[source], graph.operators[receiver]
            )
            conditions = [*inside[receiver], *([] if source == sender else [fate])]
            for one, other in zip(sending.tolist(), receiving.tolist(), strict=True):
                yield one, other, conditions


def _add_response_time(model: SharingModel, inside: dict[int, list[Any]], text: str, most: float) -> None:
    shared, graph, cp = model.shared, model.shared.graph, model.cp
    factor = FINEST / max(most, 1e-9)
    latest = int(np.floor(most * (1 + TOLERANCE) * factor))
    speed, delay = shared.network.speed, shared.network.table.delay_ms
    switch = [model.switch(LongestResponse.family, text)] if model.relaxable else []
    done = {
        number: cp.new_int_var(0, latest, "")
        for operator in inside
        for number in graph.operators[operator].instances
    }

    def units(time: float) -> int:
        # Rounded down: no plan that keeps the limit is lost, and the judge has the last word.
        return int(min(np.floor(time * factor), latest + 1))

    for operator, conditions in inside.items():
        for number in graph.operators[operator].instances:
            for node, literal in model.x[number].items():
                least = units(float(graph.work_ms[number] / speed[node]))
                cp.add(done[number] >= least).only_enforce_if([literal, *conditions, *switch])
    for one, other, conditions in _meetings(model, inside):
        for sender, sends in model.x[one].items():
            for receiver, receives in model.x[other].items():
                if shared.network.table.connected[sender, receiver]:
                    own = float(graph.work_ms[other] / speed[receiver])
                    passing = units(own + float(delay[sender, receiver]))
                    cp.add(done[other] >= done[one] + passing).only_enforce_if(
                        [sends, receives, *conditions, *switch]
                    )


def _add_availability(model: SharingModel, inside: dict[int, list[Any]], text: str, most: float) -> None:
    """The sum of minus the logarithms is at most `most`; factors beyond break it alone."""
    network, graph = model.shared.network, model.shared.graph
    terms: Terms = []
    beyond = 2.0 * most + 1e-6

    def weigh(availability: float, *conditions: Any) -> None:
        weight = min(-float(np.log(availability)), beyond) if availability > 0 else beyond
        if weight > 0:
            terms.append((_all(model, conditions), weight))

    for operator, conditions in inside.items():
        for number in graph.operators[operator].instances:
            for node, literal in model.x[number].items():
                weigh(float(network.availability[node]), literal, *conditions)
    for one, other, conditions in _meetings(model, inside):
        for sender, sends in model.x[one].items():
            for receiver, receives in model.x[other].items():
                if sender != receiver and network.table.connected[sender, receiver]:
                    between = float(network.table.availability[sender, receiver])
                    weigh(between, sends, receives, *conditions)
    # Logarithms near 0 have no relative tolerance: what the availability itself may miss counts.
    model.sum_at_most(LeastAvailability.family, text, terms, most + TOLERANCE)


def _all(model: SharingModel, conditions: tuple[Any, ...]) -> Any:
    """A literal that is true where all conditions hold."""
    if len(conditions) == 1:
        return conditions[0]
    literal = model.cp.new_bool_var("")
    model.cp.add_bool_or([literal, *(condition.negated() for condition in conditions)])
    return literal
