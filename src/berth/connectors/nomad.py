"""Jobs of HashiCorp Nomad: every container, or else every server's instances, a group on its server.

Jobs are written in the JSON that `nomad job run -json` and the HTTP API take. What Nomad has no field for is
in `Meta`, so that the plan can be read back; tasks see it as NOMAD_META_berth_... in their environment.
Besides berth's own jobs, those can be read that Heron's scheduler makes of a packing plan.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Required

from typing_extensions import TypedDict

from berth.connectors.documents import UNITS, Amounts, Written, amounts_of, safe_names, whole, without_place
from berth.connectors.placements import (
    Group,
    Share,
    container_name,
    container_number,
    groups_of,
    no_container,
)
from berth.files import plan_document, plan_from
from berth.files.format import Format, Whole, open_ended, refuse, shown
from berth.model import Application, BadInput, Plan, Problem
from berth.model.errors import did_you_mean

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


EQUALS = ("=", "==", "is", "", None)
"""Operands that mean the same; Nomad's default is equality."""
HERON_TOPOLOGY, HERON_CONTAINER = "topology.name", "container.index"
"""What Heron's scheduler writes into a job's Meta; container 0 is the topology master's."""

_Meta = dict[str, str | None] | None


@open_ended
class _Constraint(TypedDict, total=False):
    LTarget: str | None
    RTarget: str | None
    Operand: str | None


@open_ended
class _Group(TypedDict, total=False):
    Count: Whole | None
    Meta: _Meta
    Constraints: list[_Constraint] | None


@open_ended
class _Job(TypedDict, total=False):
    Meta: _Meta
    TaskGroups: Required[list[_Group]]


_JOB = Format(_Job)


@dataclass(frozen=True)
class ReadJob:
    """What a job says: shares, and a plan with what else is in its Meta."""

    shares: tuple[Share, ...]
    more: Plan


def is_job(document: Any) -> bool:
    """Whether a file's data looks like a job: what the API takes, or what it answers."""
    return isinstance(document, dict) and ("Job" in document or "TaskGroups" in document)


def read_job(problem: Problem, document: Any, prefix: str = "") -> ReadJob:
    """What a job says about instances, containers and servers.

    Args:
        problem: what the job's plan is for.
        document: the file's data.
        prefix: what every path starts with.

    Raises:
        BadInput: it has fields of a wrong kind, or names what the problem doesn't have.
    """
    job, path = (document["Job"], "Job") if "Job" in document else (document, "")
    refuse(f"{prefix}{line}" for line in _JOB.mistakes(job, path))
    reader = _Reader(problem, job, f"{prefix}{path}." if path else prefix)
    shares = tuple(reader.shares())
    more = reader.more()
    if reader.mistakes:
        raise BadInput(reader.mistakes)
    return ReadJob(shares, more)


class _Reader:
    def __init__(self, problem: Problem, job: dict[str, Any], path: str) -> None:
        self._problem = problem
        self._job = job
        self._meta: dict[str, str | None] = job.get("Meta") or {}
        self._path = path
        self.mistakes: list[str] = []

    def shares(self) -> Iterator[Share]:
        """One for each group of tasks."""
        for place, group in enumerate(self._job["TaskGroups"]):
            path = f"{self._path}TaskGroups[{place}]"
            if group.get("Count") not in (None, 1):
                self.mistakes.append(f"{path}.Count: expected 1, found {shown(group['Count'])}")
            node = self._node(group, path)
            meta = group.get("Meta") or {}
            if meta.get("berth_instances") is not None:
                instances = self._instances(meta["berth_instances"], f"{path}.Meta.berth_instances")
                container = self._container(meta.get("berth_container"), f"{path}.Meta.berth_container")
                yield Share(path, instances, container, node)
            elif self._meta.get(HERON_TOPOLOGY) is not None:
                yield from self._heron_share(path, node)
            else:
                self.mistakes.append(f"{path}.Meta.berth_instances: is needed: which instances are these?")

    def more(self) -> Plan:
        """What is reused, skipped and downloaded."""
        text = self._meta.get("berth_plan")
        path = f"{self._path}Meta.berth_plan"
        try:
            document = json.loads(text) if text is not None else {}
            return plan_from({"assignment": {}, **document})
        except BadInput as error:
            self.mistakes += [f"{path}.{line}" for line in error.mistakes]
        except (ValueError, TypeError, RecursionError):
            self.mistakes.append(f"{path}: not valid JSON of a mapping")
        return Plan()

    def _node(self, group: dict[str, Any], path: str) -> str | None:
        """The server that the group is bound to; None: Nomad chooses."""
        attribute = target_of(self._meta.get("berth_node_attribute") or NODE_NAME)
        bound = [
            (place, item)
            for place, item in enumerate(group.get("Constraints") or ())
            if item.get("LTarget") == attribute and item.get("Operand") in EQUALS
        ]
        nodes = [item.get("RTarget") or "" for _, item in bound]
        for (place, _), node in zip(bound, nodes, strict=True):
            where = f"{path}.Constraints[{place}].RTarget"
            if node not in self._problem.network.index:
                self.mistakes.append(f"{where}: no node {did_you_mean(node, self._problem.network.index)}")
            elif node != nodes[0]:
                self.mistakes.append(f"{where}: {node}, but {nodes[0]} before: expected one server")
        return nodes[0] if nodes else None

    def _instances(self, text: str, path: str) -> tuple[str, ...]:
        index = self._problem.instances.index
        self.mistakes += [
            f"{path}: no instance {did_you_mean(name, index)}" for name in text.split() if name not in index
        ]
        return tuple(name for name in text.split() if name in index)

    def _container(self, name: str | None, path: str) -> str | None:
        if name is None:
            return None
        application = self._application(name.partition("/")[0], path)
        if application is not None and container_number(name, application) is None:
            self.mistakes.append(f"{path}: {no_container(name, application)}")
        return name

    def _application(self, name: str, path: str) -> Application | None:
        found = {application.name: application for application in self._problem.applications}
        if name not in found:
            self.mistakes.append(f"{path}: no application {did_you_mean(name, found)}")
        return found.get(name)

    def _heron_share(self, path: str, node: str | None) -> Iterator[Share]:
        """A container of Heron's: its instances are in the packing plan."""
        topology, text = self._meta[HERON_TOPOLOGY] or "", self._meta.get(HERON_CONTAINER) or ""
        application = self._application(topology, f"{self._path}Meta.{HERON_TOPOLOGY}")
        if application is None or text == "0":
            return
        count = 0 if application.containers is None else application.containers.count
        if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= count):
            has = f"{application.name} has 1 to {count}"
            self.mistakes.append(f"{self._path}Meta.{HERON_CONTAINER}: no container {shown(text)} ({has})")
            return
        yield Share(path, None, container_name(application, int(text) - 1), node)
