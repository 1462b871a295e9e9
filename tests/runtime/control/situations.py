"""Small problems that change, and an application that only pretends to run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Stream
from berth.runtime.placement import Placement
from berth.runtime.running import Migration

NODES = ("rome", "paris", "oslo")
EVEN = {("rome", "paris"): 10.0, ("paris", "oslo"): 10.0, ("rome", "oslo"): 20.0}


def chain(
    delays: Mapping[tuple[str, str], float] = EVEN,
    *,
    rate: float | None = 1000.0,
    objective: Mapping[str, float] | None = None,
    network: Mapping[str, Any] | None = None,
    work: Mapping[str, Any] | None = None,
    **application: Any,
) -> Problem:
    """A source pinned to rome, a worker anywhere, a sink pinned to oslo."""
    nodes = tuple(Node(name, capacity={"cpu": 4.0}) for name in NODES)
    links = tuple(Link(*ends, delay_ms=delay) for ends, delay in delays.items())
    operators = (
        Operator("source", ("rome",), {"cpu": 1.0}, 1.0, emits_bytes_per_s=rate),
        Operator("work", demand={"cpu": 1.0}, work_ms=1.0, **(work or {})),
        Operator("sink", ("oslo",), {"cpu": 1.0}, 1.0),
    )
    streams = (Stream("source", "work"), Stream("work", "sink"))
    return Problem(
        "chain",
        Network(nodes, links, **(network or {})),
        (Application("app", operators, streams, **application),),
        objective=dict(objective or {"response_time": 1.0}),
    )


def work_on(node: str, problem: Problem | None = None) -> Plan:
    """The plan with the worker on a node."""
    instances = (problem or chain()).instances.names
    homes = {"app/source": "rome", "app/sink": "oslo"}
    return Plan({name: homes.get(name, node) for name in instances})


def hub(delays: Mapping[str, float], objective: Mapping[str, float] | None = None) -> Problem:
    """A worker without neighbours' pull: on node x the response time is that node's work, 1 ms / speed."""
    nodes = tuple(Node(name, speed=1.0 / slowness) for name, slowness in delays.items())
    links = tuple(
        Link(one, other, delay_ms=0.0)
        for number, one in enumerate(delays)
        for other in list(delays)[number + 1 :]
    )
    application = Application("app", (Operator("work", work_ms=1.0),))
    return Problem(
        "hub", Network(nodes, links), (application,), objective=objective or {"response_time": 1.0}
    )


def at(node: str) -> Plan:
    """The plan of a hub."""
    return Plan({"app/work": node})


class Inline(Executor):
    """Does at once what it is given."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class FakeRun:
    """An application whose time only passes when somebody waits; `script` says what happens when."""

    def __init__(
        self, plan: Plan, script: Mapping[float, Callable[[FakeRun], str | None]] | None = None
    ) -> None:
        self.now = 1_000.0
        self.telemetry = Path("telemetry")
        self.applied: list[tuple[float, Plan]] = []
        self.flushed: list[float] = []
        self.plan = plan
        self.dead: set[str] = set()
        self.standing_by: set[str] = set()
        self.state: dict[str, float] = {}
        self.refused: list[BaseException] = []
        self._script = dict(sorted((script or {}).items()))

    @property
    def placement(self) -> Placement:
        nodes: dict[str, tuple[str, ...]] = {}
        for name, node in self.plan.assignment.items():
            operator = name.partition("/")[2].partition("#")[0]
            nodes[operator] = (*nodes.get(operator, ()), node)
        return Placement("app", nodes)

    def clock(self) -> float:
        return self.now

    def dead_nodes(self) -> set[str]:
        return set(self.dead)

    def stand_by(self, nodes: Collection[str]) -> None:
        self.standing_by = set(nodes)

    def state_bytes(self) -> dict[str, float]:
        return self.state

    def flush(self) -> None:
        self.flushed.append(self.now)

    def apply(self, plan: Plan) -> Migration:
        if self.refused:
            raise self.refused.pop(0)
        self.now += 2.0
        moved = {
            name: (self.plan.assignment[name], node)
            for name, node in plan.assignment.items()
            if self.plan.assignment[name] != node
        }
        self.applied.append((self.now, plan))
        self.plan = plan
        return Migration(moved, 2.0, 64.0)

    def wait(self, seconds: float) -> str:
        due = next((at for at in self._script if at <= self.now - 1_000.0 + seconds), None)
        if due is None:
            self.now += seconds
            return "running"
        happening = self._script.pop(due)
        self.now = max(self.now, 1_000.0 + due)
        return happening(self) or "running"


def with_objective(problem: Problem, **weights: float) -> Problem:
    return replace(problem, objective=weights)
