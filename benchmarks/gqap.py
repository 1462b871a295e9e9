"""Generalised quadratic assignment instances as problems: items with loads are operators, sites are nodes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from berth.files import problem_from
from berth.model import Problem


def gqap_problem(path: Path) -> Problem:
    """A problem from a file: n m v, flows, distances, installation costs, loads and capacities."""
    numbers = np.array(path.read_text().split(), dtype=np.float64)
    items, sites, price = int(numbers[0]), int(numbers[1]), float(numbers[2])
    sizes = [items * items, sites * sites, items * sites, items, sites]
    flow, distance, cost, load, room = np.split(numbers[3:], np.cumsum(sizes)[:-1])
    flow, distance = flow.reshape(items, items), distance.reshape(sites, sites)
    cost, room = cost.reshape(items, sites), room[:sites]
    if not np.array_equal(distance, distance.T):
        raise ValueError(f"{path}: distances are not symmetric")
    both = flow + flow.T
    nodes = [{"name": f"n{u}", "capacity": {"space": float(room[u])}} for u in range(sites)]
    operators = [
        {
            "name": f"o{i}",
            "demand": {"space": float(load[i])},
            "placement_cost": {f"n{u}": float(cost[i, u]) for u in range(sites)},
        }
        for i in range(items)
    ]
    streams = [
        {"from": f"o{i}", "to": f"o{j}", "bytes_per_s": float(both[i, j])}
        for i in range(items)
        for j in range(i + 1, items)
        if both[i, j] > 0
    ]
    return problem_from(
        {
            "format": "berth/v1",
            "name": path.stem,
            "network": {"nodes": nodes, "delay_ms": distance.tolist()},
            "applications": [{"name": "a", "operators": operators, "streams": streams}],
            "objective": {"communication_cost": price, "placement_cost": 1.0},
            "objective_scale": "raw",
        }
    )


def known_values(folder: Path) -> dict[str, float]:
    """The optimum or best known value of every instance."""
    with (folder / "values.csv").open() as file:
        return {row["instance"]: float(row["value"]) for row in csv.DictReader(file)}
