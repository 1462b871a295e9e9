"""Many problems: `berth solve-many` on two processors against one process that solves one after the other.

Prints seconds and their ratio for problems of about 5 ms and of about 0.2 s (paper 000, section 7.3; response
time by `odp`). The one process loads and solves file by file; its imports and a first solve are not counted.
Of solve-many the start of the session, up to its first answer, is not counted; reading, the start of Python
on the executors with all of its imports, and writing the table are. Half of the one process's problems come
before and half after, so that a machine that is slower for a while is so for both. It takes some minutes, and
means something only on a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import berth
from berth.files import problem_document
from berth.pipeline.many import SETTINGS, Job, Terms, Variant, find_problems, locked, prepare
from berth.spark import spark_session

ENOUGH = 1.6
ONE_AFTER_THE_OTHER = """
import sys, time
import berth
files = sys.stdin.read().splitlines()
berth.solve(berth.load(files[0]))
began = time.perf_counter()
for file in files:
    assert berth.solve(berth.load(file)).status == "optimal"
print(time.perf_counter() - began)
"""


def one_after_the_other(files: list[str]) -> float:
    """Seconds that one process takes for them."""
    command = [sys.executable, "-c", ONE_AFTER_THE_OTHER]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    given = "\n".join(files)
    done = subprocess.run(
        command, input=given, env=os.environ | threads, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def side_by_side(folder: Path, out: Path) -> float:
    """Seconds that solve-many takes for them, in a session of its own."""
    with spark_session("local[2]", settings=SETTINGS) as session, locked(out):
        session.range(1).collect()  # a session has started when it answers
        began = time.perf_counter()
        run = prepare(session, Job(find_problems([str(folder)]), [Variant("odp")], Terms(60.0), out))
        run.solve()
        seconds = time.perf_counter() - began
        assert run.stored.read().where("status = 'optimal'").count() == run.missing
    return seconds


def measure(name: str, count: int, kind: str, operators: int, nodes: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "problems")
        folder.mkdir()
        for seed in range(count):
            problem = berth.generate(kind, seed=seed, operators=operators, nodes=nodes)
            text = json.dumps(problem_document(problem))
            (folder / f"p{seed:05}.json").write_text(text)
        files = sorted(map(str, folder.iterdir()))
        alone = one_after_the_other(files[::2])
        together = side_by_side(folder, Path(place, "out"))
        alone += one_after_the_other(files[1::2])
    each = 1000 * alone / count
    print(
        f"{name:>8} {count:6} {each:7.1f} ms {alone:11.1f} s {together:8.1f} s {alone / together:6.2f}",
        flush=True,
    )


def main() -> None:
    print(f"{'problems':>8} {'count':>6} {'each':>10} {'one process':>13} {'local[2]':>10} {'ratio':>6}")
    measure("5 ms", 20_000, "sequential", 3, 3)
    measure("0.2 s", 500, "fat", 10, 20)
    print(f"(at least {ENOUGH} wanted)")


if __name__ == "__main__":
    main()
