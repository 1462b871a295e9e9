"""Small problems with containers that the tests of both stages share."""

from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.policies.two_stage.stage_inputs import Cluster, Request, requests
from berth.policies.two_stage.stages import StageOne, StageTwo
from tests.oracle.problems import Dice, problems, sharing_problems, solvable_problems

Entry = dict[str, Any]

solve = partial(berth.solve, time_limit=None)
"""Without a limit: the machine may have other things to do."""
BASELINES = [
    ("ffd", {}),
    ("ffd", {"variant": "heron"}),
    ("r-heron", {}),
    ("t-heron", {}),
    ("t-heron", {"ties": "empty"}),
]
"""Every baseline with the parameters that make it another one."""


def case(
    operators: dict[str, Any],
    streams: dict[str, float],
    containers: Any = (4, 4.0),
    servers: Any = (4.0, 4.0, 4.0, 4.0),
    **more: Any,
) -> Entry:
    """A problem of one application, 'a', and servers s0, s1, ... that are 1 apart.

    Args:
        operators: by name what each instance demands: a number of cpu, or all of the operator's fields.
        streams: bytes per second by the two ends, such as 'xy'.
        containers: how many, and their cpu or all of their resources.
        servers: the cpu, or all resources, of each.
        more: fields of the application.
    """
    count, size = containers
    application = {
        "name": "a",
        "operators": [{"name": name, **_fields(entry)} for name, entry in operators.items()],
        "streams": [{"from": ends[0], "to": ends[1], "bytes_per_s": rate} for ends, rate in streams.items()],
        "containers": {"count": count, "capacity": _resources(size)},
        **more,
    }
    return cluster([application], servers)


def cluster(applications: list[Entry], servers: Any) -> Entry:
    """Applications on servers that are 1 apart."""
    nodes = [{"name": f"s{number}", "capacity": _resources(size)} for number, size in enumerate(servers)]
    delays = (1.0 - np.eye(len(nodes))).tolist()
    network = {"nodes": nodes, "delay_ms": delays}
    return {"format": "berth/v1", "name": "packed", "network": network, "applications": applications}


def _resources(size: Any) -> Entry:
    return dict(size) if isinstance(size, dict) else {"cpu": size}


def _fields(entry: Any) -> Entry:
    return entry if isinstance(entry, dict) else {"demand": {"cpu": entry}}


def packed(plan: Plan) -> list[str]:
    """What is in the containers of 'a', in the order of their numbers: texts such as 'x#0 y'."""
    names: dict[int, list[str]] = {}
    for instance, container in plan.containers.items():
        names.setdefault(int(container.removeprefix("a/c")), []).append(instance.removeprefix("a/"))
    return [" ".join(names[number]) for number in sorted(names)]


def stage_one(raw: Entry) -> StageOne:
    """The first stage of a problem's first application."""
    request, servers = _request(problem_from(raw))
    return request.first(servers)


def stage_two(raw: Entry, containers: list[int]) -> StageTwo:
    """The second stage of a problem's first application, whose instances are in these containers."""
    request, servers = _request(problem_from(raw))
    used, position = np.unique(containers, return_inverse=True)
    return request.second(servers, used, position)


def _request(problem: Problem) -> tuple[Request, Cluster]:
    setting = Setting(problem)
    return requests(setting)[0], Cluster(setting)


def no_limit() -> Budget:
    """As much time as it takes."""
    return Budget(None)


@strategies.composite
def any_problems(draw: strategies.DrawFn) -> Entry:
    """Problems with all that the contract knows, and containers in every application."""
    dice = Dice(draw)
    raw = draw(dice.pick((problems(), solvable_problems(), sharing_problems())))
    raw.pop("objective", None)
    for application in raw["applications"]:
        capacity = {name: dice.number((2, 1, 4, 0.3, 0.5)) for name in ("cpu", "memory", "gpu")}
        application["containers"] = {"count": dice.rather_many(1, 6), "capacity": capacity}
    for node in raw["network"]["nodes"]:
        if not dice.whether(4):
            node["capacity"] = {name: dice.number((4, 6, 9, 2, 20)) for name in ("cpu", "memory", "gpu")}
    return raw


@strategies.composite
def tiny_cases(draw: strategies.DrawFn) -> Entry:
    """At most five instances, three containers and three servers, pins and labels among them."""
    dice = Dice(draw)
    names = "xyz"[: dice.count(1, 3)]
    sizes = [dice.count(1, 2) for _ in names]
    operators: Entry = {}
    for name, parallelism in zip(names, sizes, strict=True):
        demand = {"cpu": dice.pick((1, 2, 0.1, 1.5)), "gpu": dice.pick((0, 1))}
        operators[name] = {"parallelism": parallelism, "demand": demand}
        if dice.whether(4):
            operators[name]["candidates"] = dice.some(("s0", "s1"), at_least=1)
    pairs = [here + there for here in names for there in names if here < there]
    streams = {ends: float(dice.pick((1, 5, 0, 0.3))) for ends in dice.some(pairs)}
    servers = [{"cpu": dice.pick((4, 6, 8)), "gpu": dice.pick((4, 6))} for _ in range(dice.count(2, 3))]
    size = {"cpu": dice.pick((2, 3, 4)), "gpu": dice.pick((2, 3))}
    raw = case(operators, streams, (dice.rather_many(1, 3), size), servers)
    raw["network"]["cost"] = [[dice.pick((1, 2, 5)) for _ in servers] for _ in servers]
    if dice.whether(4):
        raw["network"]["headroom"] = 0.25
    return raw
