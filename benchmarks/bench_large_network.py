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

import berth
from berth.files import problem_document

NODES = 100_000
APPLICATIONS = (1, 1_000)
ROUNDS = 3


def document(nodes: int, applications: int) -> dict[str, Any]:
    """Nodes in three dimensions, and trees of operators between pinned sources and a pinned sink."""
    problem = berth.generate(
        "stream-tree", nodes=nodes, delays="coordinates", height_ms=0, places=4, graphs=applications, size=12
    )
    return problem_document(problem)


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
