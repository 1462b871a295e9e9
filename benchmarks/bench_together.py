"""Many graphs at once on shared nodes: `solve-many --together` against placing them one after the other.

Graphs of 12 operators (5 with a choice) on nodes with coordinates in 20 clusters and room for two operators
each. Prints seconds, rounds, and the network usage against that of one graph after the other. By default
10,000 graphs on 100,000 nodes; `--quick`: 400 on 2,000. The one after the other is timed in the same run.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from berth.pipeline.many import SETTINGS, find_problems
from berth.pipeline.together import Together, Way, run_together, shared_network
from berth.spark import spark_session

CLUSTERS = 20
FREE, SOURCES = 5, 6


def document(nodes: int, graphs: int, seed: int = 0) -> dict[str, Any]:
    """A problem with many applications: binary trees of operators over pinned sources, and a pinned sink."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-100, 100, (CLUSTERS, 3))
    places = centres[random.integers(0, CLUSTERS, nodes)] + random.normal(0, 8, (nodes, 3))
    return {
        "format": "berth/v1",
        "name": "shared",
        "network": {
            "nodes": [
                {"name": f"n{number}", "coordinates": place, "capacity": {"cpu": 2}}
                for number, place in enumerate(places.round(3).tolist())
            ]
        },
        "applications": [graph(f"g{number}", nodes, random) for number in range(graphs)],
        "objective": {"network_usage": 1},
    }


def graph(name: str, nodes: int, random: np.random.Generator) -> dict[str, Any]:
    """One of the applications."""
    pins = [f"n{node}" for node in random.integers(0, nodes, SOURCES + 1).tolist()]
    selectivity, rates = random.uniform(0, 1, FREE).round(3), random.uniform(12_500, 25_000, SOURCES).round(1)
    operators: list[dict[str, Any]] = [{"name": "sink", "pinned": pins[-1]}]
    operators += [
        {"name": f"o{number}", "demand": {"cpu": 1}, "selectivity": float(selectivity[number])}
        for number in range(FREE)
    ]
    operators += [
        {"name": f"s{number}", "pinned": pins[number], "emits_bytes_per_s": float(rates[number])}
        for number in range(SOURCES)
    ]
    senders = [*(f"o{number}" for number in range(1, FREE)), *(f"s{number}" for number in range(SOURCES))]
    streams = [{"from": "o0", "to": "sink"}]
    streams += [{"from": sender, "to": f"o{position // 2}"} for position, sender in enumerate(senders)]
    return {"name": name, "operators": operators, "streams": streams}


def main(arguments: list[str]) -> None:
    """Print the figures."""
    nodes, graphs = (2_000, 400) if "--quick" in arguments else (100_000, 10_000)
    settings = dict(SETTINGS)
    with tempfile.TemporaryDirectory() as place, spark_session("local[2]", settings=settings) as session:
        file = Path(place) / "problem.json"
        file.write_text(json.dumps(document(nodes, graphs)))
        began = time.perf_counter()
        inputs = find_problems([str(file)])
        job = Together(inputs, shared_network(inputs, None), [Way("mopa")], Path(place) / "out", in_turn=True)
        moments: list[float] = []

        def report(text: str) -> None:
            print(f"  {time.perf_counter() - began:6.1f} s  {text}", flush=True)
            if text.endswith("one after the other"):
                moments.append(time.perf_counter())

        (summary,) = run_together(session, job, report)
        together, in_turn = moments[0] - began, time.perf_counter() - moments[0]
    print(f"{graphs:,} graphs on {nodes:,} nodes: {summary['placed']:,} placed in {summary['rounds']} rounds")
    print(f"together {together:.1f} s on 2 processors, one after the other {in_turn:.1f} s on one")
    ratio = summary["network_usage_against_in_turn"]
    print(
        f"network usage: {ratio:.4f} times that of one after the other ({summary['placed_in_turn']:,} placed)"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
