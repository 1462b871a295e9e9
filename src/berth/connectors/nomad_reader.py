"""Jobs of HashiCorp Nomad, read: berth's own, and those that Heron's scheduler makes of a packing plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from berth.connectors.groups import container_name, container_number, no_container
from berth.connectors.nomad import NODE_NAME, target_of
from berth.connectors.shares import Share
from berth.files import plan_from
from berth.files.check import mistakes_in, shown
from berth.model import Application, BadInput, Plan, Problem
from berth.model.suggest import did_you_mean

EQUALS = ("=", "==", "is", "", None)
"""Operands that mean the same; Nomad's default is equality."""
HERON_TOPOLOGY, HERON_CONTAINER = "topology.name", "container.index"
"""What Heron's scheduler writes into a job's Meta; container 0 is the topology master's."""

_TEXT = {"type": ["string", "null"]}
_META = {"type": ["object", "null"], "additionalProperties": _TEXT}
_CONSTRAINT = {"type": "object", "properties": dict.fromkeys(("LTarget", "RTarget", "Operand"), _TEXT)}
_GROUP = {
    "type": "object",
    "properties": {
        "Count": {"type": ["integer", "null"]},
        "Meta": _META,
        "Constraints": {"type": ["array", "null"], "items": _CONSTRAINT},
    },
}
_JOB = {
    "type": "object",
    "properties": {"Meta": _META, "TaskGroups": {"type": "array", "items": _GROUP}},
    "required": ["TaskGroups"],
}


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
    mistakes = [f"{prefix}{line}" for line in mistakes_in(job, _JOB, path)]
    if mistakes:
        raise BadInput(mistakes)
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
            self.mistakes.append(f"{path}: no valid JSON of a mapping")
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
