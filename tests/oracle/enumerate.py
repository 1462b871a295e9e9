"""The optimum of a small problem, by trying every plan, and for each all ways to survive a loss."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from . import constraints, losses, metrics
from .losses import Scenario
from .metrics import METRIC_OF_OBJECTIVE
from .situation import Model, Situation
from .workload import Structure

Assignment = dict[str, str]
COMPUTED = "computed"
SKIPPED = "skipped"


def optimum(
    problem: dict[str, Any],
    metric_key: str,
    maximise: bool = False,
    previous: dict[str, Any] | None = None,
    with_reuse: bool = False,
) -> float | None:
    """Return the best value of a metric over all plans that keep all constraints; None: there is none.

    metric_key is a metric or an objective's key. Plans compute everything, unless with_reuse is true: then
    all ways to reuse and skip are tried as well. ValueError: a plan that keeps all constraints lacks the
    metric.
    """
    key = METRIC_OF_OBJECTIVE.get(metric_key, metric_key)
    best: float | None = None
    for situation in feasible_situations(problem, previous, with_reuse):
        value = metrics.metric(situation, key)
        if value is None:
            raise ValueError(f"{key} can't be computed")
        if best is None or (value > best if maximise else value < best):
            best = value
    return best


def feasible_situations(
    problem: dict[str, Any], previous: dict[str, Any] | None = None, with_reuse: bool = False
) -> Iterator[Situation]:
    """Go through all plans that keep all constraints, each with the best failover for every loss."""
    model = Model(problem)
    for structure in structures(model) if with_reuse else [model.structure({}, ())]:
        for plan in all_plans(model, structure):
            situation = model.situation(plan, previous)
            if next(constraints.violations(situation), None) is None:
                failover = best_failover(situation)
                if failover is not None:
                    yield replace(situation, failover=failover)


def best_failover(situation: Situation) -> dict[str, Assignment] | None:
    """Find the failover with the least response time after each loss; None: some loss can't be survived."""
    found = {}
    for scenario in losses.scenarios(situation.model):
        moves = best_moves(scenario, situation)
        if moves is None:
            return None
        found[scenario.name] = moves
    return found


def best_moves(scenario: Scenario, situation: Situation) -> Assignment | None:
    """Try all nodes for all instances that must move; None: no choice of them keeps all constraints."""
    movers = [instance.name for instance in scenario.movers(situation)]
    best: tuple[float, Assignment] | None = None
    for moves in all_moves(scenario, situation, movers):
        verdict = losses.judged(scenario, replace(situation, failover={scenario.name: moves}))
        time = verdict.response_time
        if not verdict.violations and time is not None and (best is None or time < best[0]):
            best = (time, moves)
    return None if best is None else best[1]


def all_moves(scenario: Scenario, situation: Situation, movers: list[str]) -> Iterator[Assignment]:
    """Go through all moves after a loss whose every first part could still be completed."""
    structure = scenario.model.structure({}, ())
    staying = {
        instance.name: situation.node_of(instance)["name"]
        for instance in structure.instances
        if instance.name not in movers
    }
    left = [node["name"] for node in scenario.model.network.nodes if node["name"] not in scenario.nodes]
    for after in extensions(scenario.model, structure, staying, [(name, left) for name in movers]):
        yield {name: after[name] for name in movers}


def structures(model: Model) -> Iterator[Structure]:
    """Go through all sound ways to compute, take or skip each operator."""
    keys = list(model.workload.operators)
    for choice in product(*(fates(model, key) for key in keys)):
        fate_of = dict(zip(keys, choice, strict=True))
        reuse = {key: fate for key, fate in fate_of.items() if fate not in (COMPUTED, SKIPPED)}
        structure = model.structure(reuse, [key for key, fate in fate_of.items() if fate == SKIPPED])
        if structure.sound:
            yield structure


def fates(model: Model, key: str) -> list[str]:
    """Return what may become of an operator: computed, skipped, or taken from an equal operator."""
    own = model.workload.equality_class(key)
    equal = [other for other in model.workload.operators if other != key and is_class(model, other, own)]
    skips = [SKIPPED] if model.workload.outputs[key] else []
    return [COMPUTED, *skips, *equal]


def is_class(model: Model, key: str, wanted: Hashable | None) -> bool:
    """Tell whether an operator is of a class."""
    return wanted is not None and model.workload.equality_class(key) == wanted


def all_plans(model: Model, structure: Structure) -> Iterator[dict[str, Any]]:
    """Go through all plans: assignments, and for each the downloads and containers that could go with it."""
    for assignment in assignments(model, structure):
        plan = {**fixed_part(structure), "assignment": assignment}
        for downloads in download_choices(model, plan):
            for containers in container_choices(model, assignment):
                yield {**plan, "downloads": downloads, "containers": containers}


def fixed_part(structure: Structure) -> dict[str, Any]:
    """Return the part of a plan that says what is reused and skipped."""
    return {"reuse": structure.reuse, "skipped": list(structure.skipped)}


PLACING_CHECKS = (
    constraints.check_hosts,
    constraints.check_candidates,
    constraints.check_rules,
    constraints.check_throughput,
    constraints.check_utilisation,
    constraints.check_capacity,
)


def placing_breaks(model: Model, structure: Structure, partial: Assignment) -> bool:
    """Tell whether a partial assignment already breaks a constraint that more instances can't mend."""
    situation = model.situation({**fixed_part(structure), "assignment": partial})
    checks = PLACING_CHECKS if not any_containers(model) else PLACING_CHECKS[:-1]
    return any(next(check(situation), None) is not None for check in checks)


def any_containers(model: Model) -> bool:
    """Tell whether an application has containers."""
    return any("containers" in application for application in model.workload.applications.values())


def assignments(model: Model, structure: Structure) -> Iterator[Assignment]:
    """Go through all assignments whose every first part could still be completed."""
    nodes = [node["name"] for node in model.network.nodes]
    choices = []
    for instance in structure.instances:
        allowed = [node for node in nodes if not placing_breaks(model, structure, {instance.name: node})]
        choices.append((instance.name, allowed))
    return extensions(model, structure, {}, choices)


def extensions(
    model: Model, structure: Structure, partial: Assignment, choices: list[tuple[str, list[str]]]
) -> Iterator[Assignment]:
    """Go through all ways to complete a partial assignment."""
    if not choices:
        yield partial
        return
    (name, nodes), rest = choices[0], choices[1:]
    for node in nodes:
        longer = {**partial, name: node}
        if not rest or not placing_breaks(model, structure, longer):
            yield from extensions(model, structure, longer, rest)


def download_choices(model: Model, plan: dict[str, Any]) -> Iterator[list[dict[str, str]]]:
    """Go through all choices of a holder for each download that a plan needs."""
    options = [
        [
            {"object": name, "from": holder["name"], "to": model.network.nodes[number]["name"]}
            for holder in model.network.nodes
            if name in holder.get("holds", [])
        ]
        for name, number in sorted(model.situation(plan).wanted_downloads)
    ]
    return (list(choice) for choice in product(*options))


def container_choices(model: Model, assignment: Assignment) -> Iterator[dict[str, str]]:
    """Go through all ways to fill containers, those that differ only in the containers' numbers once."""
    per_application = []
    for name, application in model.workload.applications.items():
        if "containers" in application:
            instances = [entry for entry in assignment if entry.startswith(f"{name}/")]
            per_application.append(
                list(fillings(name, application["containers"]["count"], instances, assignment))
            )
    for choice in product(*per_application):
        yield {instance: container for filling in choice for instance, container in filling.items()}


def fillings(
    application: str, count: int, instances: list[str], assignment: Assignment
) -> Iterator[dict[str, str]]:
    """Go through all ways to put an application's instances into `count` containers, each on one node."""
    if not instances:
        yield {}
        return
    *first, last = instances
    for filling in fillings(application, count, first, assignment):
        used = len(set(filling.values()))
        for number in range(min(used + 1, count)):
            container = f"{application}/c{number}"
            inside = [entry for entry, place in filling.items() if place == container]
            if all(assignment[entry] == assignment[last] for entry in inside):
                yield {**filling, last: container}
