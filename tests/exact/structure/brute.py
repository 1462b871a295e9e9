"""Random pipelines and fans, and their best response time by looking at every plan."""

from itertools import pairwise
from typing import Any

import numpy as np

from berth.files import problem_from
from berth.model import Problem
from tests.exact.instances import document


def random_problem(generator: np.random.Generator, kind: str, operators: int, nodes: int) -> Problem:
    """A pipeline, a fan or any graph with all that the methods hold: some missing, zero, tight or equal."""
    delays: list[list[float | None]] = _delays(generator, nodes)
    resources = ["cpu", "memory"][: int(generator.integers(1, 3))]
    names = [f"o{k}" for k in range(operators)]
    alike, fast = generator.random() < 0.4, generator.random() < 0.5
    machines = [
        {
            "name": f"n{k}",
            "speed": 1.0 if fast else float(generator.choice([0.5, 1.0, 2.0, 3.7])),
            "capacity": {name: _amount(generator, 9, 0.05) for name in resources},
        }
        for k in range(nodes)
    ]
    common = _operator(generator, resources, nodes)
    items = [
        {**(common if alike else _operator(generator, resources, nodes)), "name": name} for name in names
    ]
    if generator.random() < 0.3:
        items[int(generator.integers(operators))]["pinned"] = f"n{generator.integers(nodes)}"
    for item in items:
        if "pinned" in item:
            item.pop("candidates", None)
    application: dict[str, Any] = {}
    if generator.random() < 0.3:
        application["throughput_per_s"] = float(generator.choice([1.0, 100.0, 300.0]))
    if generator.random() < 0.15:
        application["max_response_time_ms"] = float(generator.integers(1, 40))
    if generator.random() < 0.2 and kind != "fan" and operators > 2:
        first = int(generator.integers(operators - 1))
        application["rules"] = [{"together": names[first : first + 2]}]
    streams = [{"from": one, "to": other} for one, other in _streams(generator, kind, names)]
    return problem_from(document(machines, delays, items, streams, application=application))


def _delays(generator: np.random.Generator, nodes: int) -> list[list[float | None]]:
    style = generator.integers(4)
    values = generator.integers(0, 12, (nodes, nodes)).astype(float)
    if style == 1:
        values = generator.exponential(10, (nodes, nodes))
    if style == 2:
        places = generator.uniform(0, 20, (nodes, 2))
        values = np.linalg.norm(places[:, None] - places[None], axis=2)
    missing = generator.random((nodes, nodes)) < (0.25 if style == 3 else 0.0)
    np.fill_diagonal(values, 0.0)
    return [
        [None if missing[u, v] and u != v else float(values[u, v]) for v in range(nodes)]
        for u in range(nodes)
    ]


def _operator(generator: np.random.Generator, resources: list[str], nodes: int) -> dict[str, Any]:
    item: dict[str, Any] = {
        "demand": {name: _amount(generator, 3, 0.2) for name in resources},
        "work_ms": float(generator.choice([0.0, 1.0, 2.5])),
    }
    if generator.random() < 0.25:
        size = int(generator.integers(1, nodes + 1))
        item["candidates"] = [f"n{k}" for k in sorted(generator.choice(nodes, size, replace=False).tolist())]
    return item


def _amount(generator: np.random.Generator, most: int, nothing: float) -> float:
    if generator.random() < nothing:
        return 0.0
    tenths = 10 if generator.random() < 0.2 else 1
    return float(generator.integers(1, most * tenths + 1)) / tenths


def _streams(generator: np.random.Generator, kind: str, names: list[str]) -> list[tuple[str, str]]:
    if kind == "pipeline":
        order = [names[k] for k in generator.permutation(len(names))]
        return list(pairwise(order))
    if kind == "dag":
        pairs = [(one, other) for k, other in enumerate(names) for one in names[:k]]
        return [pair for pair in pairs if generator.random() < 0.5]
    shape = generator.integers(3)
    first, last = (names[0] if shape != 1 else None), (names[-1] if shape != 2 else None)
    middle = [name for name in names if name not in (first, last)]
    return [(first, name) for name in middle if first] + [(name, last) for name in middle if last]


def best_response_time(problem: Problem) -> float:
    """The least response time over all plans that keep what the methods hold, `together` and the deadline."""
    graph, network = problem.instances, problem.network
    grids = np.meshgrid(*[graph.allowed_nodes[k] for k in graph.operator_of.tolist()], indexing="ij")
    plans = np.stack([grid.ravel() for grid in grids], axis=1)
    fits = np.ones(len(plans), dtype=bool)
    needs = [(graph.demand(name), network.capacity(name)) for name in graph.resources]
    needs.append((np.nan_to_num(graph.throughput_share * graph.work_ms / 1000.0), network.speed))
    for demand, there in needs:
        for node in range(len(network.nodes)):
            load = ((plans == node) * demand[None, :]).sum(axis=1)
            fits &= load <= there[node] * (1 + 1e-9)
    for application in problem.applications:
        for rule in application.rules:
            numbers = [graph.index[f"{application.name}/{name}"] for name in rule.operators]
            fits &= (plans[:, numbers] == plans[:, numbers[:1]]).all(axis=1)
    finish = np.zeros(plans.shape)
    for operator in graph.operator_order:
        for number in graph.operators[operator].instances:
            arrival = np.zeros(len(plans))
            for pair in np.flatnonzero(graph.pair_receiver == number).tolist():
                sender = graph.pair_sender[pair]
                delay = np.asarray(network.table.delay_ms)[plans[:, sender], plans[:, number]]
                arrival = np.maximum(arrival, finish[:, sender] + np.where(np.isnan(delay), np.inf, delay))
            finish[:, number] = arrival + graph.work_ms[number] / network.speed[plans[:, number]]
    for k, application in enumerate(problem.applications):
        latest = application.max_response_time_ms
        if latest is not None:
            fits &= finish[:, graph.application_of == k].max(axis=1) <= latest * (1 + 1e-9)
    times = finish.max(axis=1)[fits]
    return float(times.min(initial=np.inf))
