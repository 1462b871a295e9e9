"""Packing plans of Apache Heron: which instances share a container.

Written after heron/proto/packing_plan.proto, in protobuf's JSON: the fields by their names there, 64-bit
integers as strings. Container ids and task ids start with 1, component indexes with 0, memory and disk are in
bytes. Three forms of one content can be read: that JSON (names as there or in camel case, numbers
or strings), what Heron's tracker answers, and what a dry run prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import TypedDict

from berth.connectors.documents import Written, amounts_of, without_place
from berth.connectors.placements import Group, Share, container_name, groups_of, operators_of
from berth.files.format import Format, Whole, open_ended, refuse, shown
from berth.model import BadInput, Plan, Problem
from berth.model.errors import did_you_mean

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
        raise BadInput(f"{path}: is needed: Heron packs instances into containers (Nomad needs none)")
    groups = groups_of(problem, plan, number)
    packed: dict[int, list[int]] = {}
    for group in groups:
        if group.container is not None:
            packed.setdefault(group.container, []).extend(group.instances)
    if any(container >= LARGEST_ID for container in packed):
        raise BadInput(f"applications[{number}].containers.count: more than Heron can count")
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


TOPOLOGY = ("id", "topology")
CONTAINERS = ("container_plans", "containerPlans", "containers")
INSTANCES = ("instance_plans", "instancePlans", "instances", "components")
COMPONENT = ("component_name", "componentName", "component")
INDEX = ("component_index", "componentIndex", "index")

_RANDOM_PART = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""Heron's ids of topologies are names with such an end."""


@open_ended
class _Instance(TypedDict, total=False):
    component_name: str
    componentName: str
    component: str
    component_index: Whole | str
    componentIndex: Whole | str
    index: Whole | str


@open_ended
class _Container(TypedDict, total=False):
    id: Whole | str
    instance_plans: list[_Instance]
    instancePlans: list[_Instance]
    instances: list[_Instance]
    components: list[_Instance]


@open_ended
class _PackingPlan(TypedDict, total=False):
    id: str
    topology: str
    container_plans: list[_Container]
    containerPlans: list[_Container]
    containers: list[_Container]


_PACKING_PLAN = Format(_PackingPlan)


def is_packing_plan(document: Any) -> bool:
    """Whether a file's data looks like a packing plan."""
    plan = _inner(document)[0]
    if not isinstance(plan, dict):
        return False
    dry_run = isinstance(plan.get("containers"), list) and "topology" in plan
    return dry_run or any(name in plan for name in CONTAINERS[:2])


def packed_shares(problem: Problem, document: Any, prefix: str = "") -> list[Share]:
    """Which container every instance of the packing plan is in.

    Args:
        problem: what the plan is for.
        document: the file's data.
        prefix: what every path starts with.

    Raises:
        BadInput: it has fields of a wrong kind, or names what the problem doesn't have.
    """
    plan, path = _inner(document)
    refuse(f"{prefix}{line}" for line in _PACKING_PLAN.mistakes(plan, path))
    reader = _Reader(problem)
    shares = list(reader.shares(plan, f"{prefix}{path}." if path else prefix))
    if reader.mistakes:
        raise BadInput(reader.mistakes)
    return shares


def _inner(document: Any) -> tuple[Any, str]:
    """The plan itself, with its path: the tracker puts it into an answer."""
    if isinstance(document, dict) and isinstance(document.get("result"), dict):
        return document["result"], "result"
    return document, ""


class _Reader:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.mistakes: list[str] = []

    def shares(self, plan: dict[str, Any], path: str) -> Iterator[Share]:
        number = self._topology(plan, path)
        if number is None:
            return
        self._application = self._problem.applications[number]
        self._operators = {item.operator.name: item for item in operators_of(self._problem, number)}
        key, containers = self._field(plan, path, CONTAINERS)
        for place, container in enumerate(containers or ()):
            yield from self._container(container, f"{path}{key}[{place}].")

    def _topology(self, plan: dict[str, Any], path: str) -> int | None:
        """The number of the application that the plan is about."""
        key, topology = self._field(plan, path, TOPOLOGY)
        if topology is None:
            return None
        names = [application.name for application in self._problem.applications]
        for name in (topology, _RANDOM_PART.sub("", topology)):
            if name in names:
                number = names.index(name)
                if self._problem.applications[number].containers is not None:
                    return number
                self.mistakes.append(f"{path}{key}: application {name!r} has no containers in the problem")
                return None
        self.mistakes.append(f"{path}{key}: no application {did_you_mean(topology, names)}")
        return None

    def _container(self, container: dict[str, Any], path: str) -> Iterator[Share]:
        application = self._application
        count = 0 if application.containers is None else application.containers.count
        key, identity = self._whole(container, path, ("id",))
        if identity is not None and not 1 <= identity <= count:
            has = f"{application.name} has 1 to {count}"
            self.mistakes.append(f"{path}{key}: no container {identity} ({has})")
            identity = None
        key, instances = self._field(container, path, INSTANCES)
        for place, instance in enumerate(instances or ()):
            where = f"{path}{key}[{place}]"
            name = self._instance(instance, f"{where}.")
            if name is not None and identity is not None:
                yield Share(where, (name,), container_name(application, identity - 1))

    def _instance(self, instance: dict[str, Any], path: str) -> str | None:
        """The instance's name in the problem."""
        key, component = self._field(instance, path, COMPONENT)
        index_key, index = self._whole(instance, path, INDEX)
        if component is None or index is None:
            return None
        if component not in self._operators:
            self.mistakes.append(f"{path}{key}: no operator {did_you_mean(component, self._operators)}")
            return None
        item = self._operators[component]
        if not 0 <= index < item.operator.parallelism:
            has = f"{component} has 0 to {item.operator.parallelism - 1}"
            self.mistakes.append(f"{path}{index_key}: no instance {index} ({has})")
            return None
        return self._problem.instances.names[item.first + index]

    def _field(self, entry: dict[str, Any], path: str, names: tuple[str, ...]) -> tuple[str, Any]:
        """A field by the first of its names that is there, with that name; None where none is."""
        for name in names:
            if entry.get(name) is not None:
                return name, entry[name]
        self.mistakes.append(f"{path}{names[0]}: is needed")
        return names[0], None

    def _whole(self, entry: dict[str, Any], path: str, names: tuple[str, ...]) -> tuple[str, int | None]:
        """A whole number, which may be written as a string."""
        key, value = self._field(entry, path, names)
        if value is None:
            return key, None
        if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,10}", value):
            self.mistakes.append(f"{path}{key}: expected a whole number, found {shown(value)}")
            return key, None
        return key, int(value)
