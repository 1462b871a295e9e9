"""The master's page as JSON: which workers and applications there are."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from berth.runtime.cluster.nodes import RESOURCE_PREFIX, RunningApplication, Worker, node_of

ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class MasterPage:
    """What a master says at one moment."""

    workers: tuple[Worker, ...]
    applications: tuple[RunningApplication, ...]

    @property
    def alive(self) -> frozenset[str]:
        """The nodes whose worker is up."""
        return frozenset(worker.node for worker in self.workers if worker.alive)


def ask_master(ui_url: str, names: Mapping[str, str] | None = None) -> MasterPage:
    """Ask the master at this address of its web page.

    Args:
        ui_url: `http://host:port`.
        names: nodes by the name of their resource, where they are known.

    Raises:
        OSError: nobody answers.
        ValueError: somebody else answers.
    """
    address = urlsplit(ui_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", f"{address.path.rstrip('/')}/json/")
        answer = connection.getresponse()
        text = answer.read()
    except http.client.HTTPException as error:
        raise ValueError(str(error) or type(error).__name__) from error
    finally:
        connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise ValueError(f"it answers {answer.status} {answer.reason}")
    return read_page(json.loads(text), names or {})


def read_page(document: Any, names: Mapping[str, str]) -> MasterPage:
    """The page of a master of Spark.

    A worker is listed once for every node whose resource it offers; dead ones only while no other worker of
    their node is alive.

    Raises:
        ValueError: this is no such page.
    """
    try:
        workers = [worker for entry in document["workers"] for worker in _workers(entry, names)]
        applications = tuple(map(_application, document["activeapps"]))
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


def _application(entry: Mapping[str, Any]) -> RunningApplication:
    return RunningApplication(entry["id"], entry["name"], entry["cores"], entry["state"])
