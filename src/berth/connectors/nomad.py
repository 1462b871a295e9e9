"""Jobs of HashiCorp Nomad, written: every container, or else every server's instances, a group on its server.

The JSON that `nomad job run -json` and the HTTP API take. What Nomad has no field for is in `Meta`, so that
the plan can be read back; tasks see it as NOMAD_META_berth_... in their environment.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from berth.connectors.amounts import UNITS, Amounts, amounts_of, whole, without_place
from berth.connectors.groups import Group, container_name, groups_of
from berth.connectors.names import safe_names
from berth.connectors.written import Written
from berth.files import plan_document
from berth.model import Application, Plan, Problem

NODE_NAME = "node.unique.name"
DATACENTERS = ("*",)
HERON_IMAGE = "apache/heron:latest"
"""What Heron's own scheduler for Nomad starts unless told otherwise."""
WITH_IMAGES = ("docker", "podman")
"""Drivers that start an image; others need a command."""
LEAST_MEMORY_MB = 10
ANYWHERE = "anywhere"


@dataclass(frozen=True)
class JobOptions:
    """What a plan doesn't say and Nomad wants to know."""

    driver: str = "docker"
    image: str = HERON_IMAGE
    command: str | None = None
    """Run by /bin/sh; None: what the image starts."""
    datacenters: tuple[str, ...] = DATACENTERS
    node_attribute: str = NODE_NAME
    """What of a Nomad client equals the node's name in the problem."""
    mhz_per_core: float | None = None
    """None: whole cores are reserved."""


def job(problem: Problem, plan: Plan, number: int, unit: str, options: JobOptions) -> Written:
    """An application's job.

    Args:
        problem: the problem.
        plan: a plan for it.
        number: the application's.
        unit: what memory and disk of the problem are counted in.
        options: driver, command and the like.

    Raises:
        BadInput: an amount is too large, or a container isn't one of the application's.
    """
    application = problem.applications[number]
    groups = groups_of(problem, plan, number)
    writer = _Writer(problem, number, unit, options)
    names = safe_names(_labels(groups))
    name = safe_names(item.name for item in problem.applications)[number]
    document = {
        "ID": name,
        "Name": name,
        "Type": "service",
        "Datacenters": list(options.datacenters),
        "Meta": {
            "berth_problem": problem.name,
            "berth_application": application.name,
            **(
                {}
                if options.node_attribute == NODE_NAME
                else {"berth_node_attribute": options.node_attribute}
            ),
            **_more(plan),
        },
        "TaskGroups": [writer.group(group, label) for group, label in zip(groups, names, strict=True)],
    }
    return Written({"Job": document}, tuple(_warnings(application, groups, writer)))


class _Writer:
    """Groups and tasks of one job."""

    def __init__(self, problem: Problem, number: int, unit: str, options: JobOptions) -> None:
        self._problem = problem
        self._number = number
        self._application = problem.applications[number]
        self._unit = unit
        self._options = options
        self.rounded: set[float] = set()
        """Amounts of cores that are not whole."""

    def group(self, group: Group, label: str) -> dict[str, Any]:
        """A group of tasks that Nomad keeps on one server."""
        instances = [self._problem.instances.names[number] for number in group.instances]
        meta = {"berth_instances": " ".join(instances)}
        if group.container is not None:
            meta["berth_container"] = container_name(self._application, group.container)
            tasks, disk = self._container_task(label)
        else:
            tasks, disk = self._instance_tasks(group, instances)
        attribute = target_of(self._options.node_attribute)
        constraint = {"LTarget": attribute, "RTarget": group.node, "Operand": "="}
        written: dict[str, Any] = {
            "Name": label,
            "Count": 1,
            "Constraints": [] if group.node is None else [constraint],
            "Meta": meta,
            "Tasks": tasks,
        }
        if disk:
            # Nomad refuses disk space that a task asks for.
            written["EphemeralDisk"] = {"SizeMB": _mebibytes(disk)}
        return written

    def _container_task(self, name: str) -> tuple[list[dict[str, Any]], int]:
        """One task for the container, which takes its whole capacity."""
        assert self._application.containers is not None
        path = f"applications[{self._number}].containers.capacity"
        amounts = amounts_of(self._application.containers.capacity, self._unit, path)
        return [self._task(name, amounts)], amounts.disk

    def _instance_tasks(self, group: Group, instances: list[str]) -> tuple[list[dict[str, Any]], int]:
        graph = self._problem.instances
        tasks, disk = [], 0
        names = safe_names(name.partition("/")[2] for name in instances)
        for name, instance, number in zip(names, instances, group.instances, strict=True):
            item = graph.operators[graph.operator_of[number]]
            amounts = amounts_of(item.operator.demand, self._unit, f"{item.name}: demand")
            tasks.append(self._task(name, amounts, {"berth_instance": instance}))
            disk += amounts.disk
        return tasks, disk

    def _task(self, name: str, amounts: Amounts, meta: Mapping[str, str] | None = None) -> dict[str, Any]:
        options = self._options
        settings: dict[str, Any] = {"image": options.image} if options.driver in WITH_IMAGES else {}
        if options.command is not None:
            settings |= {"command": "/bin/sh", "args": ["-c", options.command]}
        task = {"Name": name, "Driver": options.driver, "Config": settings}
        if meta:
            task["Meta"] = dict(meta)
        return {**task, "Resources": self._resources(amounts)}

    def _resources(self, amounts: Amounts) -> dict[str, int]:
        """What is not said is left to Nomad's defaults."""
        resources = {}
        if amounts.cpu > 0 and self._options.mhz_per_core is not None:
            resources["CPU"] = whole(amounts.cpu * self._options.mhz_per_core)
        elif amounts.cpu > 0:
            resources["Cores"] = whole(amounts.cpu)
            if resources["Cores"] - amounts.cpu > 1e-6:
                self.rounded.add(amounts.cpu)
        if amounts.memory > 0:
            resources["MemoryMB"] = max(LEAST_MEMORY_MB, _mebibytes(amounts.memory))
        return resources


def target_of(attribute: str) -> str:
    """An attribute of a Nomad client as constraints name it."""
    return f"${{{attribute}}}"


def _mebibytes(size: int) -> int:
    return -(-size // UNITS["MiB"])


def _labels(groups: list[Group]) -> list[str]:
    """Names of groups: the container's, with the server's where it is on several, or the server's alone."""
    parts = Counter(group.container for group in groups)
    labels = []
    for group in groups:
        node = ANYWHERE if group.node is None else group.node
        alone = group.container is not None and parts[group.container] == 1
        prefix = "" if group.container is None else f"c{group.container}"
        labels.append(prefix if alone else f"{prefix}-{node}".removeprefix("-"))
    return labels


def _more(plan: Plan) -> dict[str, str]:
    """What else a plan says, as in plan files."""
    document = plan_document(plan)
    more = {key: document[key] for key in ("downloads", "reuse", "skipped") if key in document}
    return {"berth_plan": json.dumps(more, ensure_ascii=False)} if more else {}


def _warnings(application: Application, groups: list[Group], writer: _Writer) -> list[str]:
    lines = [
        f"{application.name}: Nomad has no place for the resource {name!r}: left out"
        for name in without_place(application)
    ]
    if writer.rounded:
        amounts = ", ".join(f"{amount:g}" for amount in sorted(writer.rounded))
        lines.append(
            f"{application.name}: cpu {amounts}: rounded up to whole cores; or count MHz (--mhz-per-core)"
        )
    homeless = sum(len(group.instances) for group in groups if group.node is None)
    if homeless:
        lines.append(f"{application.name}: {homeless} instances have no server: Nomad chooses it")
    return lines
