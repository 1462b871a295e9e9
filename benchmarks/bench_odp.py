"""Exact placement: berth's model against the paper's integer program (000, eq. 9 to 16) on HiGHS.

Prints, for each instance, the seconds of processor time that both need to the proved optimum and their ratio.
Both run in this process, one after the other; the paper's program is stopped after a minute. Then what berth
needs for every setting of figure 9, and where all operators and nodes are different.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

import berth
from berth.model import Plan, Problem
from tests.exact.instances import paper_instance

MOST_SECONDS = 60.0


class PaperProgram:
    """Variables x (placement), y (streams on links), t (arrival) and r (response time)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        graph, self.nodes = problem.instances, len(problem.network.nodes)
        self.instances, self.pairs = len(graph), len(graph.pair_sender)
        self.y = self.instances * self.nodes
        self.t = self.y + self.pairs * self.nodes**2
        self.size = self.t + self.instances + 1
        self.rows: list[tuple[dict[int, float], float, float]] = []
        self._placement()
        self._streams()
        self._times()

    def x_at(self, instance: int, node: int) -> int:
        """The column of an instance on a node."""
        return instance * self.nodes + node

    def y_at(self, pair: int, here: int, there: int) -> int:
        """The column of a communicating pair on two nodes."""
        return self.y + (pair * self.nodes + here) * self.nodes + there

    def _placement(self) -> None:
        graph, network = self.problem.instances, self.problem.network
        for instance in range(self.instances):
            self.rows.append(({self.x_at(instance, u): 1.0 for u in range(self.nodes)}, 1.0, 1.0))
        for resource in graph.resources:
            demand, there = graph.demand(resource), network.capacity(resource)
            for u in range(self.nodes):
                row = {self.x_at(i, u): float(demand[i]) for i in range(self.instances)}
                self.rows.append((row, -np.inf, float(there[u])))

    def _streams(self) -> None:
        graph = self.problem.instances
        for pair, (i, j) in enumerate(zip(graph.pair_sender, graph.pair_receiver, strict=True)):
            for u in range(self.nodes):
                outgoing = {self.y_at(pair, u, v): 1.0 for v in range(self.nodes)}
                incoming = {self.y_at(pair, v, u): 1.0 for v in range(self.nodes)}
                self.rows.append(({self.x_at(i, u): -1.0, **outgoing}, 0.0, 0.0))
                self.rows.append(({self.x_at(j, u): -1.0, **incoming}, 0.0, 0.0))

    def _times(self) -> None:
        graph, table = self.problem.instances, self.problem.network.table
        speed = self.problem.network.speed
        work = graph.work_ms[:, None] / speed[None, :]
        for pair, (i, j) in enumerate(zip(graph.pair_sender, graph.pair_receiver, strict=True)):
            row = {self.t + j: 1.0, self.t + i: -1.0}
            row |= {self.x_at(i, u): -float(work[i, u]) for u in range(self.nodes)}
            for u in range(self.nodes):
                row |= {self.y_at(pair, u, v): -float(table.delay_ms[u, v]) for v in range(self.nodes)}
            self.rows.append((row, 0.0, np.inf))
        for i in range(self.instances):
            row = {self.size - 1: 1.0, self.t + i: -1.0}
            row |= {self.x_at(i, u): -float(work[i, u]) for u in range(self.nodes)}
            self.rows.append((row, 0.0, np.inf))

    def solve(self) -> tuple[float | None, float, bool]:
        """The objective, the seconds and whether it is proved."""
        places = [
            (k, column, value) for k, (row, _, _) in enumerate(self.rows) for column, value in row.items()
        ]
        numbers, columns, values = zip(*places, strict=True)
        matrix = coo_array((values, (numbers, columns)), shape=(len(self.rows), self.size)).tocsr()
        upper = np.full(self.size, np.inf)
        upper[: self.t] = 1.0
        for number, item in enumerate(self.problem.instances.operator_of):
            allowed = self.problem.instances.allowed_nodes[item]
            for node in set(range(self.nodes)) - set(allowed.tolist()):
                upper[self.x_at(number, node)] = 0.0
        whole = np.zeros(self.size)
        whole[: self.t] = 1
        objective = np.zeros(self.size)
        objective[-1] = 1.0
        limits = LinearConstraint(
            matrix, [low for _, low, _ in self.rows], [high for _, _, high in self.rows]
        )
        began = time.process_time()
        result = milp(
            objective,
            constraints=limits,
            bounds=Bounds(0, upper),
            integrality=whole,
            options={"time_limit": MOST_SECONDS, "mip_rel_gap": 1e-7},
        )
        seconds = time.process_time() - began
        return (None if result.fun is None else float(result.fun)), seconds, result.status == 0


def against_the_paper() -> None:
    """Both on the same instances; the paper's program is stopped after a minute."""
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
        ours, plan = solved(problem)
        value, theirs, proved = PaperProgram(problem).solve()
        if proved and value is not None and plan.objective is not None:
            assert abs(value - plan.objective) < 1e-4, (value, plan.objective)
        more = "" if proved else ">"
        seconds, ratio = f"{more}{theirs:.1f}", f"{more}{theirs / ours:.0f}"
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
    """The seconds of processor time to a plan, and the plan."""
    began = time.process_time()
    plan = berth.solve(problem, time_limit=MOST_SECONDS)
    return time.process_time() - began, plan


def main() -> None:
    """All, or what is named: `paper`, `figure9`."""
    parts = {"paper": against_the_paper, "figure9": figure_nine}
    for kind in ("fat", "sequential"):
        # the solver and compiled loops are loaded once, for all
        berth.solve(paper_instance(kind, 4, 4, capacity=2))
        berth.solve(uneven_instance(kind, 6, 5, 0))
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
