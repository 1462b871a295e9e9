"""Exact placement: berth's model against the paper's integer program (000, eq. 9 to 16) on HiGHS.

Prints, for each instance, the seconds of processor time that both need to the proved optimum and their ratio.
Both run in this process, one after the other; the paper's program is stopped after a minute, where 20
operators go on 20 nodes after five: the ratio is then a lower bound. Then what berth needs for every setting
of figure 9, and where all operators and nodes are different.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import berth
from berth.experiments.odp.solving import PaperProgram
from berth.model import Plan, Problem
from tests.exact.instances import paper_instance

MOST_SECONDS, LONGER = 60.0, 300.0
"""For most instances, and for the paper's program where 20 operators go on 20 nodes."""
REPEATS = 5
"""Solves of an instance by berth; their median counts."""


def against_the_paper() -> None:
    """Both on the same instances; the paper's program is stopped after some minutes."""
    examples = Path(__file__).parents[1] / "examples"
    instances = {
        "Tag-and-Count, 12 executors on 8 nodes": berth.load(examples / "tag-and-count.yaml"),
        "fat, 10 operators on 10 nodes": paper_instance("fat", 10, 10),
        "sequential, 10 operators on 20 nodes": paper_instance("sequential", 10, 20),
        "fat, 20 operators on 20 nodes": paper_instance("fat", 20, 20),
        "sequential, 20 operators on 20 nodes": paper_instance("sequential", 20, 20),
        "fat, 50 operators on 20 nodes": paper_instance("fat", 50, 20),
    }
    print(f"{'response time of':40} {'berth':>10} {'paper ILP':>10} {'ratio':>8}")
    for name, problem in instances.items():
        runs = [solved(problem) for _ in range(REPEATS)]
        ours, plan = float(np.median([seconds for seconds, _ in runs])), runs[0][1]
        most = LONGER if "20 operators on 20" in name else MOST_SECONDS
        theirs = PaperProgram(problem).solve(most_seconds=most)
        if theirs.proved and theirs.value is not None and plan.objective is not None:
            assert abs(theirs.value - plan.objective) < 1e-4, (theirs.value, plan.objective)
        more = "" if theirs.proved else ">"
        seconds, ratio = f"{more}{theirs.seconds:.1f}", f"{more}{theirs.seconds / ours:.0f}"
        print(f"{name:40} {ours:8.3f} s {seconds:>8} s {ratio:>8} ({plan.status})", flush=True)


def figure_nine(seeds: int = 10) -> None:
    """Every setting of the paper's figure 9, and pipelines and fans of different operators."""
    sizes = [(count, 20, 4) for count in (10, 20, 30, 40, 50)]
    sizes += [(20, count, 4) for count in (10, 40, 60, 80, 100)]
    sizes += [(20, 20, capacity) for capacity in (2, 4, 6, 8, 10)]
    print(f"\n{'operators x nodes, capacity':40} {'proved':>8} {'mean':>10} {'most':>10}")
    for kind in ("sequential", "fat"):
        for operators, nodes, capacity in sizes:
            name = f"{kind}, {operators} x {nodes}, {capacity}"
            report(name, [paper_instance(kind, operators, nodes, seed, capacity) for seed in range(seeds)])
    for operators, slack in TIGHT:
        name = f"fat, {operators} x 20, room x {slack}"
        report(name, [tight_instance(operators, 20, seed, slack) for seed in range(seeds)])
    for kind, operators, nodes in UNEVEN:
        name = f"{kind}, {operators} x {nodes}, all different"
        report(name, [uneven_instance(kind, operators, nodes, seed) for seed in range(seeds)])


UNEVEN = (
    ("sequential", 20, 20),
    ("sequential", 40, 20),
    ("sequential", 50, 20),
    ("sequential", 20, 100),
    ("fat", 20, 20),
)


TIGHT = ((20, 1.02), (20, 1.1), (20, 1.3), (50, 1.1), (50, 1.3))


def tight_instance(operators: int, nodes: int, seed: int, slack: float) -> Problem:
    """A fan where everything fits on a third of the nodes, just so; the others are slow."""
    problem = uneven_instance("fat", operators, nodes, seed)
    application, useful = problem.applications[0], nodes // 3
    machines = list(problem.network.nodes)
    for name in ("cpu", "memory"):
        needed = sum(item.demand[name] for item in application.operators)
        there = sum(node.capacity[name] for node in machines[:useful])
        for k, node in enumerate(machines):
            machines[k] = replace(
                node, capacity={**node.capacity, name: node.capacity[name] * slack * needed / there}
            )
    machines[useful:] = [replace(node, speed=node.speed / 5) for node in machines[useful:]]
    return replace(problem, network=replace(problem.network, nodes=tuple(machines)))


def uneven_instance(kind: str, operators: int, nodes: int, seed: int) -> Problem:
    """The same graphs and delays, with different demands, capacities, work and speeds."""
    problem = paper_instance(kind, operators, nodes, seed)
    generator = np.random.default_rng(seed)
    application = problem.applications[0]
    items = tuple(
        replace(
            item,
            demand={"cpu": float(generator.integers(1, 4)), "memory": float(generator.uniform(0.5, 3))},
            work_ms=float(generator.uniform(0.5, 1.5)),
        )
        for item in application.operators
    )
    machines = tuple(
        replace(
            node,
            capacity={"cpu": float(generator.integers(4, 13)), "memory": float(generator.uniform(4, 12))},
            speed=float(generator.uniform(0.5, 2)),
        )
        for node in problem.network.nodes
    )
    network = replace(problem.network, nodes=machines)
    return replace(problem, network=network, applications=(replace(application, operators=items),))


def report(name: str, problems: list[Problem]) -> None:
    """One line: how many are proved, and how long they take."""
    runs = [solved(problem) for problem in problems]
    seconds = [time for time, _ in runs]
    proved = sum(plan.status == "optimal" for _, plan in runs)
    share = f"{proved}/{len(runs)}"
    print(f"{name:40} {share:>8} {np.mean(seconds):8.3f} s {max(seconds):8.3f} s", flush=True)


def solved(problem: Problem) -> tuple[float, Plan]:
    """The seconds of processor time to a plan, and the plan; ties are left as they are."""
    began = time.process_time()
    plan = berth.solve(problem, time_limit=MOST_SECONDS, ties="any")
    return time.process_time() - began, plan


SECOND = ("cost_per_hour", "nodes_used", "availability", "traffic")


def two_levels(seeds: int = 5) -> None:
    """Two goals in order against the first one alone, on settings of figure 9 with prices for nodes."""
    print(f"\n{'operators x nodes: times, then':40} {'proved':>8} {'one goal':>10} {'two':>10} {'ratio':>8}")
    for kind in ("sequential", "fat"):
        for operators, nodes in ((10, 20), (20, 20), (50, 20), (20, 100)):
            for name in SECOND:
                problems = [priced(paper_instance(kind, operators, nodes, seed)) for seed in range(seeds)]
                one = sum(solved(problem)[0] for problem in problems)
                runs = [solved(replace(problem, then=({name: 1.0},))) for problem in problems]
                two = sum(seconds for seconds, _ in runs)
                proved = f"{sum(plan.status == 'optimal' for _, plan in runs)}/{len(runs)}"
                text = f"{kind}, {operators} x {nodes}: {name}"
                print(f"{text:40} {proved:>8} {one:8.3f} s {two:8.3f} s {two / one:8.1f}", flush=True)


def priced(problem: Problem) -> Problem:
    """With a price for every node, and availabilities."""
    generator = np.random.default_rng(len(problem.network.nodes))
    nodes = tuple(
        replace(
            node,
            cost_per_hour=float(generator.integers(1, 20)) / 10,
            availability=1.0 - float(generator.integers(0, 50)) / 1000,
        )
        for node in problem.network.nodes
    )
    return replace(problem, network=replace(problem.network, nodes=nodes))


def main() -> None:
    """All, or what is named: `paper`, `figure9`, `levels`."""
    parts = {"paper": against_the_paper, "figure9": figure_nine, "levels": two_levels}
    for kind in ("fat", "sequential"):
        # the solver and compiled loops are loaded once, for all
        berth.solve(paper_instance(kind, 4, 4, capacity=2))
        berth.solve(uneven_instance(kind, 6, 5, 0))
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
