"""Response time and availability of an application, whose paths run through what it takes from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from berth.evaluation.limits import TOLERANCE, amount
from berth.exact.sharing.highest import Terms
from berth.model.instances import pairs_of

if TYPE_CHECKING:
    from berth.exact.sharing.model import SharingModel

FINEST = 2.0**40
"""Units of time up to an application's limit."""


def add_requirements(model: SharingModel) -> None:
    """`max_response_time_ms` and `min_availability` of every application."""
    for number, application in enumerate(model.shared.problem.applications):
        if application.max_response_time_ms is None and not application.min_availability:
            continue
        inside = _inside(model, number)
        if application.max_response_time_ms is not None:
            most = application.max_response_time_ms
            text = f"application {application.name}: response time at most {amount(most)} ms"
            _add_response_time(model, inside, text, most)
        if application.min_availability:
            least = application.min_availability
            text = f"application {application.name}: availability at least {amount(least)}"
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
    switch = [model.switch("latency", text)] if model.relaxable else []
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
    model.sum_at_most("availability", text, terms, most + TOLERANCE)


def _all(model: SharingModel, conditions: tuple[Any, ...]) -> Any:
    """A literal that is true where all conditions hold."""
    if len(conditions) == 1:
        return conditions[0]
    literal = model.cp.new_bool_var("")
    model.cp.add_bool_or([literal, *(condition.negated() for condition in conditions)])
    return literal
