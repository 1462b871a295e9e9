"""The master's page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from berth.model import BadInput, Node
from berth.runtime.cluster.access import page_at
from berth.runtime.cluster.nodes import (
    Worker,
    cluster_node,
    cores_of_workers,
    node_of,
    read_page,
    resource_name,
)


def units(*resources: tuple[str, int]) -> dict[str, Any]:
    return {
        name: {"name": name, "addresses": [str(unit) for unit in range(number)]} for name, number in resources
    }


def entry(resource: str = "node_rome", state: str = "ALIVE", port: int = 1, used: int = 1) -> dict[str, Any]:
    """A worker as Spark 4.3 lists it."""
    return {
        "id": f"worker-{port}",
        "host": "127.0.0.1",
        "port": port,
        "webuiaddress": "http://127.0.0.1:35083",
        "cores": 3,
        "coresused": 2,
        "coresfree": 1,
        "memory": 1024,
        "memoryused": 512,
        "memoryfree": 512,
        "resources": units((resource, 3)),
        "resourcesused": units((resource, used)),
        "resourcesfree": units((resource, 3 - used)),
        "state": state,
        "lastheartbeat": 1794753727314,
    }


def page(*workers: dict[str, Any]) -> dict[str, Any]:
    application = {"id": "app-1", "name": "count", "cores": 2, "state": "RUNNING", "user": "me"}
    return {"url": "spark://127.0.0.1:7077", "workers": list(workers), "activeapps": [application]}


@contextmanager
def served(text: bytes, status: int = 200) -> Iterator[str]:
    """A page at an address of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/json/" else 404)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_workers_of_a_master() -> None:
    """Every figure of a worker, from the address of the page, with or without a slash."""
    rome = Worker("rome", True, "127.0.0.1", 1, 3, 2, 1024, 512, 3, 1)
    with served(json.dumps(page(entry())).encode()) as address:
        assert page_at(address).workers == (rome,)
        assert page_at(address + "/", nodes=["rome"]).workers == (rome,)


def test_cores_for_operators() -> None:
    """One core of a worker is for the driver's own jobs; who doesn't answer as a master is no cluster."""
    with served(
        json.dumps(page(entry() | {"cores": 5}, entry("node_paris") | {"cores": 1})).encode()
    ) as address:
        assert cores_of_workers(address) == {"rome": 4.0, "paris": 1.0}
    with served(b"[]") as address, pytest.raises(BadInput, match="no master of Spark answers"):
        cores_of_workers(address)


def test_cores_are_slots_where_nothing_else_says() -> None:
    """A capacity comes first."""
    assert cluster_node(Node("x", cores=4.0)).slots == 4
    assert cluster_node(Node("x", capacity={"slots": 2}, cores=4.0)).slots == 2
    assert cluster_node(Node("x", cores=0.5)).slots == 1


def test_applications() -> None:
    """Those that run or wait."""
    (application,) = read_page(page(), {}).applications
    assert (application.id, application.name, application.cores, application.state) == (
        "app-1",
        "count",
        2,
        "RUNNING",
    )


@pytest.mark.parametrize("state", ["DEAD", "DECOMMISSIONED", "UNKNOWN"])
def test_who_is_not_alive_is_dead(state: str) -> None:
    """A node is listed once: as dead until another worker of it is there."""
    dead, revived = entry(state=state, port=1), entry(port=2)
    assert [worker.alive for worker in read_page(page(dead), {}).workers] == [False]
    both = read_page(page(revived, dead), {})
    assert [(worker.port, worker.alive) for worker in both.workers] == [(2, True)]
    assert both.alive == {"rome"}
    twice = read_page(page(entry(state=state, port=1), entry(state=state, port=2)), {})
    assert [worker.port for worker in twice.workers] == [2]


def test_other_resources() -> None:
    """Workers without a node's resource are not ours; one with two stands for both nodes."""
    gpu, both = entry("gpu"), entry()
    both["resources"] = units(("node_paris", 2), ("gpu", 4), ("node_rome", 3))
    both["resourcesused"] = {}
    workers = read_page(page(gpu, both), {}).workers
    assert [(worker.node, worker.slots, worker.slots_used) for worker in workers] == [
        ("paris", 2, 0),
        ("rome", 3, 0),
    ]


@pytest.mark.parametrize("name", ["rome", "paris.eu", "größe", "a_b-c", "x:1"])
def test_names_come_back(name: str) -> None:
    """A node's name can be read from that of its resource."""
    assert node_of(resource_name(name)) == name


def test_known_names_come_first() -> None:
    """A name that looks like an escape is right where it is known."""
    (worker,) = read_page(page(entry(resource_name("a_x2e_b"))), {"node_a_x2e_b": "a_x2e_b"}).workers
    assert worker.node == "a_x2e_b"


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        (b"{}", 200, "its page is not that of a master of Spark"),
        (b"[]", 200, "its page is not that of a master of Spark"),
        (b"hello", 200, "Expecting value: line 1 column 1 (char 0)"),
        (b"{}", 500, "it answers 500 Internal Server Error"),
    ],
)
def test_somebody_else_answers(text: bytes, status: int, reason: str) -> None:
    """Bad input in a line, with the address."""
    with served(text, status) as address:
        with pytest.raises(BadInput) as error:
            page_at(address)
        assert error.value.mistakes == (f"the master's page {address} doesn't answer: {reason}",)


def test_nobody_answers() -> None:
    """The same where no master is."""
    with served(b"") as address:
        pass
    with pytest.raises(BadInput, match="doesn't answer: connection refused"):
        page_at(address)
