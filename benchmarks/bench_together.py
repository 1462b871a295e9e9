"""Many graphs at once on shared nodes: `solve-many --together` against placing them one after the other.

Graphs of 12 operators (4 or 5 with a choice) on nodes with coordinates in 20 clusters and room for two
operators each. Prints seconds, rounds, and the network usage against that of one graph after the other. By
default 10,000 graphs on 100,000 nodes; `--quick`: 400 on 2,000. The one after the other is timed in the same
run.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import berth
from berth.files import problem_document
from berth.pipeline.many import SETTINGS, find_problems
from berth.pipeline.together import Method, Together, run_together, shared_network
from berth.spark import spark_session


def document(nodes: int, graphs: int) -> dict[str, Any]:
    """A problem with many applications: trees of operators over pinned sources, and a pinned sink."""
    space = {"delays": "coordinates", "clusters": 20, "across_ms": 200, "cluster_ms": 8, "height_ms": 0}
    return problem_document(
        berth.generate("stream-tree", nodes=nodes, places=2, graphs=graphs, size=12, **space)
    )


def main(arguments: list[str]) -> None:
    """Print the figures."""
    nodes, graphs = (2_000, 400) if "--quick" in arguments else (100_000, 10_000)
    settings = dict(SETTINGS)
    with tempfile.TemporaryDirectory() as place, spark_session("local[2]", settings=settings) as session:
        file = Path(place) / "problem.json"
        file.write_text(json.dumps(document(nodes, graphs)))
        began = time.perf_counter()
        inputs = find_problems([str(file)])
        job = Together(
            inputs, shared_network(inputs, None), [Method("mopa")], Path(place) / "out", in_turn=True
        )
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
