"""Constraints (1) to (4) of paper 004, written down once more as they are printed, errata corrected."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from berth.evaluation import Setting, Situation
from berth.evaluation.limits import uses
from berth.files import plan_from, problem_from
from berth.model.randomness import generator_for

Entry = dict[str, Any]
NODES, OBJECTS = ("p0", "p1", "p2"), ("cam", "map", "log")


def draw_application(dice: np.random.Generator, name: str) -> Entry:
    """Operators of few kinds, each sends to a later one or, in a DAG, to two; sources read objects."""
    count = int(dice.integers(2, 6))
    operators: list[Entry] = []
    streams = []
    for number in range(count):
        feeds = [k for k in range(number) if dice.random() < 0.6]
        streams += [{"from": f"o{k}", "to": f"o{number}"} for k in feeds]
        kind = int(dice.integers(2))
        reads = [str(entry) for entry in dice.choice(OBJECTS, 0 if feeds else 1, replace=False)]
        operators.append(
            {
                "name": f"o{number}",
                "type": f"t{kind}",
                "work_ms": 100.0 * (1 + kind),
                "output_bytes": 3.0 + kind,
                "reads": [{"object": entry, "per_s": float(dice.uniform(0.1, 2))} for entry in reads],
            }
        )
    throughput = float(dice.uniform(0.5, 3))
    return {"name": name, "throughput_per_s": throughput, "operators": operators, "streams": streams}


def draw(seed: int) -> tuple[Entry, Entry]:
    """A problem and a plan that computes everything and downloads from any holder."""
    dice = generator_for(seed)
    held = {node: [entry for entry in OBJECTS if dice.random() < 0.5] for node in NODES}
    held["p0"] = list(OBJECTS)
    nodes = [
        {"name": node, "speed": float(dice.uniform(0.5, 2)), "nic_bytes_per_s": 40.0, "holds": held[node]}
        for node in NODES
    ]
    pairs = [("p0", "p1"), ("p0", "p2"), ("p1", "p2")]
    links = [
        {"from": u, "to": v, "delay_ms": 1, "bandwidth_bytes_per_s": float(dice.uniform(10, 30))}
        for u, v in pairs
    ]
    applications = [draw_application(dice, name) for name in ("a", "b")]
    problem = {
        "format": "berth/v1",
        "name": "forest",
        "network": {"duplex": "half", "one_port": True, "nodes": nodes, "links": links},
        "objects": [{"name": entry, "bytes": 5.0 + k} for k, entry in enumerate(OBJECTS)],
        "applications": applications,
    }
    assignment = {
        f"{app['name']}/{operator['name']}": str(dice.choice(NODES))
        for app in applications
        for operator in app["operators"]
    }
    wanted = {
        (read["object"], assignment[f"{app['name']}/{operator['name']}"])
        for app in applications
        for operator in app["operators"]
        for read in operator["reads"]
    }
    downloads = [
        {"object": entry, "to": node, "from": str(dice.choice([u for u in NODES if entry in held[u]]))}
        for entry, node in sorted(wanted)
        if entry not in held[node]
    ]
    return problem, {"format": "berth-plan/v1", "assignment": assignment, "downloads": downloads}


def printed(problem: Entry, plan: Entry) -> dict[tuple[str, str], float]:
    """The left sides of (1) to (4), by what they are about."""
    where, nodes = plan["assignment"], {node["name"]: node for node in problem["network"]["nodes"]}
    bandwidth = {
        frozenset((link["from"], link["to"])): link["bandwidth_bytes_per_s"]
        for link in problem["network"]["links"]
    }
    size = {entry["name"]: entry["bytes"] for entry in problem["objects"]}
    rho: dict[Any, float] = defaultdict(float)
    flow: dict[Any, float] = defaultdict(float)
    rate: dict[Any, float] = defaultdict(float)
    work, delta = {}, {}
    for app in problem["applications"]:
        kind: dict[str, Any] = {}
        for operator in app["operators"]:
            inputs = [s["from"] for s in app["streams"] if s["to"] == operator["name"]]
            own = operator["type"], frozenset(read["object"] for read in operator["reads"])
            same = *own, tuple(sorted(repr(kind[name]) for name in inputs))
            kind[operator["name"]] = same
            work[same], delta[same] = operator["work_ms"] / 1000, operator["output_bytes"]
            u = where[f"{app['name']}/{operator['name']}"]
            rho[same, u] = max(rho[same, u], app["throughput_per_s"])
            for name in inputs:
                v = where[f"{app['name']}/{name}"]
                if u != v:
                    key = kind[name], v, u
                    flow[key] = max(flow[key], app["throughput_per_s"] * delta[kind[name]])
            for read in operator["reads"]:
                if read["object"] not in nodes[u]["holds"]:
                    rate[read["object"], u] = max(rate[read["object"], u], read["per_s"])
    left: dict[tuple[str, str], float] = defaultdict(float)
    for (same, u), highest in rho.items():
        left["processor", u] += highest * work[same]
    crossing = [(v, u, amount, True) for (_, v, u), amount in flow.items()]
    for item in plan["downloads"]:
        amount = size[item["object"]] * rate[item["object"], item["to"]]
        crossing.append((item["from"], item["to"], amount, False))
    for v, u, amount, result in crossing:
        link = " <-> ".join(sorted((u, v)))
        left["link", link] += amount
        left["card", u] += amount
        left["card", v] += amount
        if result:
            left["sending port", v] += amount / bandwidth[frozenset((u, v))]
            left["receiving port", u] += amount / bandwidth[frozenset((u, v))]
    return {key: amount for key, amount in left.items() if amount > 0}


@pytest.mark.parametrize("seed", range(40))
def test_left_sides(seed: int) -> None:
    """Trees and DAGs, copies of objects at several holders, downloads at the highest rate asked for."""
    problem, plan = draw(seed)
    situation = Situation(Setting(problem_from(problem)), plan_from(plan))
    found = {(use.kind, use.name): use.needed for use in uses(situation)}
    assert found == pytest.approx(printed(problem, plan), rel=1e-12)
