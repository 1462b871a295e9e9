"""Packing plans of Apache Heron, written: which instances share a container.

After heron/proto/packing_plan.proto, in protobuf's JSON: the fields by their names there, 64-bit integers as
strings. Container ids and task ids start with 1, component indexes with 0, memory and disk are in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from berth.connectors.amounts import amounts_of, without_place
from berth.connectors.groups import Group, groups_of, operators_of
from berth.connectors.written import Written
from berth.model import BadInput, Plan, Problem

LARGEST_ID = 2**31 - 1


def packing_plan(problem: Problem, plan: Plan, number: int, unit: str) -> Written:
    """An application's packing plan.

    Args:
        problem: the problem.
        plan: a plan for it.
        number: the application's.
        unit: what memory and disk of the problem are counted in.

    Raises:
        BadInput: the application has no containers, or something is too large for Heron.
    """
    application = problem.applications[number]
    if application.containers is None:
        path = f"applications[{number}].containers"
        raise BadInput([f"{path}: is needed: Heron packs instances into containers (Nomad needs none)"])
    groups = groups_of(problem, plan, number)
    packed: dict[int, list[int]] = {}
    for group in groups:
        if group.container is not None:
            packed.setdefault(group.container, []).extend(group.instances)
    if any(container >= LARGEST_ID for container in packed):
        raise BadInput([f"applications[{number}].containers.count: more than Heron can count"])
    capacity = _resource(application.containers.capacity, unit, f"applications[{number}].containers.capacity")
    plans = _instance_plans(problem, number, unit)
    containers = [
        {
            "id": container + 1,
            "instance_plans": [plans[item] for item in sorted(instances)],
            "requiredResource": capacity,
        }
        for container, instances in packed.items()
    ]
    document = {"id": application.name, "container_plans": containers}
    return Written(document, tuple(_left_out(problem, plan, number, groups)))


def _instance_plans(problem: Problem, number: int, unit: str) -> dict[int, dict[str, Any]]:
    """Of every instance of the application, by its number."""
    operators = operators_of(problem, number)
    plans = {}
    for place, item in enumerate(operators):
        path = f"applications[{number}].operators[{place}].demand"
        resource = _resource(item.operator.demand, unit, path)
        for index, instance in enumerate(item.instances):
            plans[instance] = {
                "component_name": item.operator.name,
                "task_id": instance - operators[0].first + 1,
                "component_index": index,
                "resource": resource,
            }
    return plans


def _resource(resources: Mapping[str, float], unit: str, path: str) -> dict[str, Any]:
    amounts = amounts_of(resources, unit, path)
    return {"cpu": amounts.cpu, "ram": str(amounts.memory), "disk": str(amounts.disk)}


def _left_out(problem: Problem, plan: Plan, number: int, groups: list[Group]) -> list[str]:
    application = problem.applications[number]
    lines = [
        f"{application.name}: Heron has no place for the resource {name!r}: left out"
        for name in without_place(application)
    ]
    lines += [
        f"instance {problem.instances.names[instance]}: in no container: left out"
        for group in groups
        if group.container is None
        for instance in group.instances
    ]
    if plan.reuse or plan.skipped or plan.downloads:
        lines.append(
            f"{application.name}: Heron has no place for what is reused, skipped and downloaded: left out"
        )
    return lines
