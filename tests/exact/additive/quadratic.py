"""Public instances of generalised quadratic assignment as problems."""

import csv
from pathlib import Path

import numpy as np

from berth.files import problem_from
from berth.model import Problem


def gqap_problem(file: Path) -> Problem:
    """An instance of generalised quadratic assignment: n m v, flows, distances, costs, loads, capacities."""
    numbers = np.array(file.read_text().split(), dtype=np.float64)
    count, places, factor = int(numbers[0]), int(numbers[1]), float(numbers[2])
    sizes = [count * count, places * places, count * places, count, places]
    flow, distance, cost, load, capacity = np.split(numbers[3:], np.cumsum(sizes)[:-1])
    flow, distance = flow.reshape(count, count), distance.reshape(places, places)
    if (distance != distance.T).any():
        raise ValueError(f"{file}: distances are not symmetric")
    both = flow + flow.T
    operators = [
        {
            "name": f"o{i}",
            "demand": {"space": float(load[i])},
            "placement_cost": {f"n{u}": float(cost[i * places + u]) for u in range(places)},
        }
        for i in range(count)
    ]
    streams = [
        {"from": f"o{i}", "to": f"o{j}", "bytes_per_s": float(both[i, j])}
        for i in range(count)
        for j in range(i + 1, count)
        if both[i, j] > 0
    ]
    nodes = [{"name": f"n{u}", "capacity": {"space": float(capacity[u])}} for u in range(places)]
    return problem_from(
        {
            "format": "berth/v1",
            "name": file.stem,
            "network": {
                "nodes": nodes,
                "delay_ms": (1.0 - np.eye(places)).tolist(),
                "cost": distance.tolist(),
            },
            "applications": [{"name": "a", "operators": operators, "streams": streams}],
            "objective": {"communication_cost": factor, "placement_cost": 1.0},
            "objective_scale": "raw",
        }
    )


def known_values(folder: Path) -> dict[str, float]:
    """The optimum or best known value of every instance."""
    with (folder / "values.csv").open() as file:
        return {row["instance"]: float(row["value"]) for row in csv.DictReader(file)}
