"""Goals that are sums: seconds to the proved optimum, against the general model in the same run.

Prints, for each instance, the seconds of processor time that the search for sums and the general model
(CP-SAT) take, their ratio, and the gap where the general model is stopped after `--cap` seconds. Instances of
quadratic assignment are read from the folder `gqap` in BERTH_DATA.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal, gap_between
from berth.exact.minimise import Solution, minimise
from berth.model import Problem
from tests.exact.additive.quadratic import gqap_problem
from tests.exact.instances import paper_instance

USAGE = Goal({"network_usage": 1.0})
QUADRATIC = [
    "leema-10X5-E-G", "leema-10X5-E-H", "leema-10X5-F-G", "leema-10X5-F-H", "leema-12X3-E-G",
    "leema-12X3-E-H", "leema-12X4-E-G", "leema-12X4-F-H", "cordeau-20-15-35", "cordeau-30-06-95",
]  # fmt: skip


def instances() -> Iterator[tuple[str, Problem, Goal]]:
    """What is solved: the paper's shapes with network usage, then quadratic assignment."""
    for kind, operators, nodes in [
        ("sequential", 20, 20), ("sequential", 50, 20), ("fat", 10, 20), ("fat", 20, 20), ("fat", 50, 20),
    ]:  # fmt: skip
        yield f"{kind} {operators}x{nodes}", paper_instance(kind, operators, nodes), USAGE
    folder = Path(os.environ.get("BERTH_DATA", "")) / "gqap"
    if not folder.is_dir():
        print("quadratic assignment: skipped, BERTH_DATA names no folder with gqap")
        return
    for name in QUADRATIC:
        problem = gqap_problem(folder / f"{name}.txt")
        yield name, problem, Goal(problem.objective, "raw")


@contextmanager
def without_sums() -> Iterator[None]:
    """The general model alone."""
    with patch("berth.exact.minimise.solve_sums", lambda *_: None):
        yield


def timed(problem: Problem, goal: Goal, seconds: float) -> tuple[Solution, float]:
    """A solution and the processor time that it took, on all cores together."""
    started = time.process_time()
    found = minimise(Setting(problem), goal, Budget(seconds))
    return found, time.process_time() - started


def outcome(found: Solution) -> str:
    """Proved, or the gap that is left."""
    if found.status == "optimal":
        return "proved"
    if found.objective is None or found.bound is None:
        return found.status
    return f"{100 * gap_between(found.objective, found.bound):.0f} % left"


def main() -> None:
    """Solve all of them in both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cap", type=float, default=30.0, help="seconds for the general model, each")
    cap = parser.parse_args().cap
    # Loops are compiled, and the solver is loaded, before anything is measured.
    small = paper_instance("fat", 5, 5)
    timed(small, USAGE, 60.0)
    with without_sums():
        timed(small, USAGE, 60.0)
    print(f"{'instance':<20}{'sums':>10}{'':>12}{'general':>10}{'':>12}{'ratio':>8}")
    for name, problem, goal in instances():
        ours, seconds = timed(problem, goal, 600.0)
        with without_sums():
            general, others = timed(problem, goal, cap)
        ratio = f"{others / seconds:7.0f}x" if general.status == "optimal" else f">{others / seconds:6.0f}x"
        print(f"{name:<20}{seconds:9.3f}s{outcome(ours):>12}{others:9.1f}s{outcome(general):>12}{ratio:>8}")


if __name__ == "__main__":
    main()
