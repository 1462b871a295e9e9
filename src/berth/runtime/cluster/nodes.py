"""What a cluster is: a master, and nodes that each offer a resource of their own and room for tasks."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from berth.model import BadInput
from berth.runtime.cluster.secret import FILE, FILE_VARIABLE, Secret, read_secret

if TYPE_CHECKING:
    from berth.model import Node


NODE_VARIABLE = "BERTH_NODE"
"""The environment variable of a worker, and of all that it starts, that has the node's name."""

EXECUTOR_MB = 512
"""An executor's memory where the problem says nothing; below about 450 MB Spark refuses to start one."""

RESOURCE_PREFIX = "node_"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(r"_x([0-9a-f]+)_")
ANSWER_SECONDS = 5.0


def resource_name(node: str) -> str:
    """The resource that only this node's worker offers: `node_rome`.

    Names of resources are parts of Spark's settings: a character that breaks those is written as its code.
    """
    return RESOURCE_PREFIX + _UNSAFE.sub(lambda found: f"_x{ord(found[0]):x}_", node)


def node_of(resource: str) -> str:
    """The node that a resource stands for: `rome` for `node_rome`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), resource.removeprefix(RESOURCE_PREFIX))


@dataclass(frozen=True)
class ClusterNode:
    """A node and its room for operators: so many tasks at a time, so much memory."""

    name: str
    slots: int
    memory_mb: int


def cluster_node(node: Node) -> ClusterNode:
    """The room that a capacity of `cpu` (or else `slots`, or its `cores`) and `memory` means.

    It is enough for an executor.
    """
    slots = node.capacity.get("cpu", node.capacity.get("slots", node.cores))
    memory = node.capacity.get("memory", 0.0)
    return ClusterNode(node.name, max(1, int(slots)), max(EXECUTOR_MB, int(memory / 2**20)))


@dataclass(frozen=True)
class Cluster:
    """A cluster on this machine that was started by berth."""

    name: str
    master_url: str
    ui_url: str
    folder: Path
    nodes: tuple[ClusterNode, ...]
    temporary: bool = False
    """Whether it belongs to one command and ends with it."""
    encrypted: bool = False
    """Whether its processes encrypt what they say to each other."""

    @property
    def node_names(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return tuple(node.name for node in self.nodes)

    def secret(self) -> Secret:
        """What opens it.

        Raises:
            BadInput: its file is gone: it has ended.
        """
        return read_secret(self.folder / FILE, encrypts=self.encrypted, ours=True)


@dataclass(frozen=True)
class Worker:
    """What a master says about the worker of a node; slots are units of the node's resource."""

    node: str
    alive: bool
    host: str
    port: int
    cores: int
    cores_used: int
    memory_mb: int
    memory_used_mb: int
    slots: int
    slots_used: int


@dataclass(frozen=True)
class RunningApplication:
    """An application of Spark that the master knows as running or waiting."""

    id: str
    name: str
    cores: int
    state: str


@dataclass(frozen=True)
class MasterPage:
    """What a master says at one moment."""

    workers: tuple[Worker, ...]
    applications: tuple[RunningApplication, ...]

    @property
    def alive(self) -> frozenset[str]:
        """The nodes whose worker is up."""
        return frozenset(worker.node for worker in self.workers if worker.alive)


def ask_master(
    ui_url: str, names: Mapping[str, str] | None = None, secret: Secret | None = None
) -> MasterPage:
    """Ask the master at this address of its web page.

    Args:
        ui_url: `http://host:port`.
        names: nodes by the name of their resource, where they are known.
        secret: the cluster's, where there is one.

    Raises:
        OSError: nobody answers.
        ValueError: somebody else answers, or the master doesn't answer us.
    """
    return read_page(master_document(ui_url, secret), names or {})


def master_document(ui_url: str, secret: Secret | None, seconds: float = ANSWER_SECONDS) -> Any:
    """What a master's page says as JSON; the errors are those of `ask_master`."""
    address = urlsplit(ui_url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=seconds)
    headers = {} if secret is None else {"Authorization": f"Bearer {secret.page_token()}"}
    try:
        connection.request("GET", f"{address.path.rstrip('/')}/json/", headers=headers)
        answer = connection.getresponse()
        text = answer.read()
    except http.client.HTTPException as error:
        raise ValueError(str(error) or type(error).__name__) from error
    finally:
        connection.close()
    if answer.status == http.HTTPStatus.FORBIDDEN:
        lacking = "it asks for a secret" if secret is None else "its cluster has another secret"
        raise ValueError(f"{lacking}: give the file that has it with --secret-file or {FILE_VARIABLE}")
    if answer.status != http.HTTPStatus.OK:
        raise ValueError(f"it answers {answer.status} {answer.reason}")
    return json.loads(text)


def cores_of_workers(ui_url: str, secret: Secret | None = None) -> dict[str, float]:
    """The cores that every node's worker has for operators: one of them is for the driver's own jobs.

    Raises:
        BadInput: there is no master of Spark at this address.
    """
    try:
        page = ask_master(ui_url, secret=secret)
    except (OSError, ValueError) as error:
        raise BadInput(f"--master-ui {ui_url}: no master of Spark answers: {error}") from None
    return {worker.node: float(max(1, worker.cores - 1)) for worker in page.workers if worker.alive}


def read_page(document: Any, names: Mapping[str, str]) -> MasterPage:
    """The page of a master of Spark.

    A worker is listed once for every node whose resource it offers; dead ones only while no other worker of
    their node is alive.

    Raises:
        ValueError: this is no such page.
    """
    try:
        workers = [worker for entry in document["workers"] for worker in _workers(entry, names)]
        applications = tuple(
            RunningApplication(entry["id"], entry["name"], entry["cores"], entry["state"])
            for entry in document["activeapps"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("its page is not that of a master of Spark") from error
    alive = {worker.node for worker in workers if worker.alive}
    last_dead = {worker.node: worker for worker in workers if worker.node not in alive}
    kept = (worker for worker in workers if worker.alive or last_dead.get(worker.node) is worker)
    return MasterPage(tuple(kept), applications)


def _workers(entry: Mapping[str, Any], names: Mapping[str, str]) -> Iterable[Worker]:
    resources = entry.get("resources", {})
    used = entry.get("resourcesused", {})
    for resource in sorted(resources):
        if not resource.startswith(RESOURCE_PREFIX):
            continue
        yield Worker(
            node=names.get(resource) or node_of(resource),
            alive=entry["state"] == "ALIVE",
            host=entry["host"],
            port=entry["port"],
            cores=entry["cores"],
            cores_used=entry["coresused"],
            memory_mb=entry["memory"],
            memory_used_mb=entry["memoryused"],
            slots=len(resources[resource]["addresses"]),
            slots_used=len(used.get(resource, {}).get("addresses", ())),
        )
