"""Loading and judging problems on 100,000 nodes with coordinates, against json.loads alone on the same text.

One application of 12 operators, and 1,000 of them. Matrices of so many nodes would take 80 GB each. Each
problem is loaded in a process of its own, so that its memory is its own.
"""

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import berth

NODES = 100_000
APPLICATIONS = (1, 1_000)
ROUNDS = 3


def document(nodes: int, applications: int, seed: int = 0) -> dict[str, Any]:
    """Nodes in three dimensions, and trees of operators between pinned sources and a pinned sink."""
    random = np.random.default_rng(seed)
    places = random.normal(0.0, 40.0, (nodes, 3)).round(4).tolist()
    return {
        "format": "berth/v1",
        "name": "large",
        "network": {
            "nodes": [
                {"name": f"node-{k}", "capacity": {"cpu": 4}, "coordinates": place}
                for k, place in enumerate(places)
            ]
        },
        "applications": [_application(number, nodes, random) for number in range(applications)],
        "objective": {"network_usage": 1},
    }


def _application(number: int, nodes: int, random: np.random.Generator) -> dict[str, Any]:
    """Four sources, seven operators that join two inputs or filter one, and a sink."""
    pins = [f"node-{k}" for k in random.integers(nodes, size=5)]
    sources = [
        {"name": f"source-{k}", "pinned": pins[k], "emits_bytes_per_s": float(random.integers(100, 10_000))}
        for k in range(4)
    ]
    inner = [
        {"name": f"step-{k}", "demand": {"cpu": 1}, "work_ms": 1.0, "selectivity": 0.5} for k in range(7)
    ]
    ways = [(f"source-{k}", f"step-{k}") for k in range(4)]
    ways += [("step-0", "step-4"), ("step-1", "step-4"), ("step-2", "step-5"), ("step-3", "step-5")]
    ways += [("step-4", "step-6"), ("step-5", "step-6"), ("step-6", "sink")]
    return {
        "name": f"app-{number}",
        "operators": [*sources, *inner, {"name": "sink", "pinned": pins[4]}],
        "streams": [{"from": sender, "to": receiver} for sender, receiver in ways],
    }


def best_seconds(run: Callable[[], object]) -> float:
    """CPU time, so that others on the machine don't count."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        run()
        best = min(best, time.process_time() - started)
    return best


def measure(file: Path, applications: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    problem = berth.load(file)
    loading = time.process_time() - started
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    text = file.read_text()
    alone = best_seconds(lambda: json.loads(text))
    plan = berth.solve(problem, "round-robin")
    judging = best_seconds(lambda: berth.evaluate(problem, plan))
    placing = best_seconds(lambda: berth.solve(problem, "round-robin"))
    size, ratio = len(text) / 1e6, loading / alone
    print(f"{NODES:,} nodes, {applications:,} application(s) of 12 operators, {size:.1f} MB of JSON")
    print(f"  load                {loading:8.3f} s, {ratio:.1f} times json.loads; {memory:.0f} MB more")
    print(f"  evaluate            {judging * 1000:8.2f} ms")
    print(f"  solve round-robin   {placing * 1000:8.2f} ms")


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for applications in APPLICATIONS:
            file = Path(folder) / f"large-{applications}.json"
            file.write_text(json.dumps(document(NODES, applications)))
            process = spawn.Process(target=measure, args=(file, applications))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
