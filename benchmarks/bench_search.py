"""Search: how soon it is how good.

Generalised quadratic assignment against the best values known; moves evaluated a second; a thousand operators
on 200 nodes against the exact engine with several times as long; 100,000 operators on 10,000 nodes. One core.

    python -m benchmarks.bench_search [gqap|pace|large|huge]...
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import berth
from berth.files import problem_from
from berth.model import Problem
from berth.model.randomness import generator_for
from tests.exact.additive.quadratic import gqap_problem, known_values

SECONDS = (2.0, 20.0)


def gqap() -> None:
    """The gap to the best known value after 2 and 20 seconds."""
    folder = Path(os.environ["BERTH_DATA"]) / "gqap"
    print("instance              best known   after  2 s  after 20 s   reached after")
    for name, value in known_values(folder).items():
        problem = gqap_problem(folder / f"{name}.txt")
        limit = SECONDS[-1] if name.startswith("cordeau") else SECONDS[0]
        plan = berth.solve(problem, "search", time_limit=limit)
        soon = [found for seconds, found in plan.trace["incumbents"] if seconds <= SECONDS[0]]
        reached = [seconds for seconds, found in plan.trace["incumbents"] if found <= value * (1 + 1e-9)]
        early = f"{100 * (soon[-1] / value - 1):9.3f} %" if soon else "   no plan"
        late = f"{100 * (plan.objective / value - 1):9.3f} %" if plan.objective else "   no plan"
        print(f"{name:20} {value:11.0f} {early} {late}   {f'{reached[0]:.2f} s' if reached else 'never'}")


def pace() -> None:
    """Moves evaluated in a second of processor time, by objective, on 100 operators and 50 nodes."""
    sums = ("network_usage", "traffic", "availability", "nodes_used")
    times = ("response_time", "loaded_response_time", "bandwidth_max")
    for names in [(name,) for name in (*sums, *times)] + [("response_time", "traffic"), times[:2]]:
        raw = document_of(1, 100, 50, names[0])
        raw |= {"objective": dict.fromkeys(names, 1.0), "objective_scale": "raw"}
        if "bandwidth_max" in names:
            widths = generator_for(0).integers(500, 5_000, (50, 50)).astype(float)
            raw["network"] = {**raw["network"], "bandwidth_bytes_per_s": widths.tolist()}
        problem = problem_from(raw)
        berth.solve(problem, "search", steps=20_000)
        began = time.process_time()
        plan = berth.solve(problem, "search", steps=1_000_000, time_limit=60)
        seconds = time.process_time() - began
        told = f"{plan.trace['evaluated'] / seconds / 1e6:6.2f} million moves a second"
        print(f"{' + '.join(names):38} {told}", flush=True)


def large() -> None:
    """A thousand operators on 200 nodes: search after 10 s against the exact engine after 60 s."""
    for objective in ("network_usage", "response_time"):
        problem = _graph(1000, 200, objective)
        quick = berth.solve(problem, "search", time_limit=10)
        exact = berth.solve(problem, "odp", time_limit=60)
        ratio = quick.objective / exact.objective if quick.objective and exact.objective else float("nan")
        print(f"{objective:15} search {quick.objective}, odp {exact.objective}: ratio {ratio:.3f}")


def huge() -> None:
    """100,000 operators on 10,000 nodes with coordinates: when there is a plan at all."""
    began = time.perf_counter()
    problem = _scattered(10_000, 1_000, 100)
    made = time.perf_counter() - began
    plan = berth.solve(problem, "search", time_limit=60)
    incumbents = plan.trace["incumbents"]
    print(f"problem made in {made:.1f} s; {plan.status}; incumbents {incumbents[:1]} to {incumbents[-1:]}")


def _graph(operators: int, nodes: int, objective: str) -> Problem:
    """A layered graph on nodes in a plane."""
    raw = document_of(1, operators, nodes, objective)
    return problem_from(raw)


def _scattered(nodes: int, applications: int, operators: int) -> Problem:
    return problem_from(document_of(applications, operators, nodes, "network_usage"))


def document_of(applications: int, operators: int, nodes: int, objective: str) -> dict[str, Any]:
    """Layered graphs with random rates, on nodes at random places with room for about twice as much."""
    rng = generator_for(0)
    places = rng.uniform(0, 100, (nodes, 3)).round(3).tolist()
    room = max(1.0, 2.0 * applications * operators / nodes)
    width = max(2, int(operators**0.5))
    graphs = []
    for number in range(applications):
        items, streams = [], []
        for k in range(operators):
            item: dict[str, object] = {"name": f"o{k}", "demand": {"cpu": 1}, "work_ms": 1.0}
            if k < width:
                item["emits_bytes_per_s"] = float(rng.integers(100, 1000))
                item["pinned"] = f"n{rng.integers(nodes)}"
                item["demand"] = {}
            else:
                before = rng.choice(np.arange(max(0, k - 2 * width), k), 2, replace=False).tolist()
                streams += [
                    {"from": f"o{j}", "to": f"o{k}", "bytes_per_s": float(rng.integers(1, 1000))}
                    for j in before
                ]
            items.append(item)
        graphs.append({"name": f"a{number}", "operators": items, "streams": streams})
    machines = [
        {
            "name": f"n{u}",
            "capacity": {"cpu": room},
            "coordinates": place,
            "speed": float(rng.choice([0.5, 1, 2])),
            "availability": float(rng.choice([0.99, 0.999])),
        }
        for u, place in enumerate(places)
    ]
    return {
        "format": "berth/v1",
        "name": f"layered-{applications}-{operators}-{nodes}",
        "network": {"nodes": machines},
        "applications": graphs,
        "objective": {objective: 1.0},
    }


def main() -> None:
    parts = {"gqap": gqap, "pace": pace, "large": large, "huge": huge}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
