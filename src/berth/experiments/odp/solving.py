"""Optimal placements by berth and by the paper's integer program (000, equations 9 to 23), with times."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from berth.experiments.experiment import Calibration, Setting, named_generator
from berth.generators import generate
from berth.model import Problem
from berth.policies import solve

FloatArray = NDArray[np.float64]
KINDS = ("sequential", "fat")
OURS, PROGRAM = "berth (odp)", "the paper's program on HiGHS"
MOST_SECONDS = 60.0
"""On the clock, for one solve by either."""
MEASURING = (
    Calibration("time", "processor time to the proof, when the program is loaded and compiled"),
    Calibration("solver of the paper's program", "HiGHS, as SciPy has it; theirs: CPLEX 12.6.2"),
)
CALIBRATIONS = (
    Calibration("work of an operator", "1 ms instead of the printed 1 s", "a degradation of 3 (E0.1)"),
    Calibration(
        "fat applications", "one source, parallel operators, one sink", "numbers of variables (E0.5)"
    ),
    *MEASURING,
)


@dataclass(frozen=True)
class Solved:
    """What a solver says.

    Attributes:
        value: the minimum; of the paper's program for availability, minus its logarithm.
        seconds: of processor time.
        proved: whether it is proved.
        gap: the share of the value that the bound is below it; 1 where there is no plan.
    """

    value: float | None
    seconds: float
    proved: bool
    gap: float | None


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

    def costs(self, metric: str) -> FloatArray:
        """The weight of every column: what is minimised."""
        costs = np.zeros(self.size)
        graph, network = self.problem.instances, self.problem.network
        seconds = np.asarray(network.table.delay_ms) / 1000.0
        crossing = 1.0 - np.eye(self.nodes)
        on_links = {"traffic": crossing, "network_usage": seconds, "elastic_energy": seconds**2}
        if metric == "response_time":
            costs[-1] = 1.0
        elif metric == "availability":
            costs[: self.y] = np.tile(-np.log(network.availability), self.instances)
        else:
            costs[self.y : self.t] = np.multiply.outer(graph.pair_rate, on_links[metric]).ravel()
        return costs

    @property
    def stream_variables(self) -> int:
        """How many variables y there are."""
        return self.t - self.y

    def solve(
        self,
        metric: str = "response_time",
        most_seconds: float = MOST_SECONDS,
        most_branches: int | None = None,
    ) -> Solved:
        """Minimise a metric with HiGHS, within seconds on the clock and branches of its search."""
        rows, lows, highs = zip(*self.rows, strict=True)
        places = [(k, column, value) for k, row in enumerate(rows) for column, value in row.items()]
        numbers, columns, values = zip(*places, strict=True)
        matrix = coo_array((values, (numbers, columns)), shape=(len(rows), self.size)).tocsr()
        upper, whole = np.full(self.size, np.inf), np.zeros(self.size)
        upper[: self.t] = whole[: self.t] = 1.0
        for number, item in enumerate(self.problem.instances.operator_of):
            allowed = self.problem.instances.allowed_nodes[item]
            for node in set(range(self.nodes)) - set(allowed.tolist()):
                upper[self.x_at(number, node)] = 0.0
        limits, costs = LinearConstraint(matrix, lows, highs), self.costs(metric)
        options: dict[str, float] = {"time_limit": most_seconds, "mip_rel_gap": 1e-7}
        if most_branches is not None:
            options["node_limit"] = most_branches
        began = time.process_time()
        found = milp(costs, constraints=limits, bounds=Bounds(0, upper), integrality=whole, options=options)
        seconds = time.process_time() - began
        value, proved = (None if found.fun is None else float(found.fun)), found.status == 0
        gap = 0.0 if proved else 1.0 if value is None else min(1.0, float(found.mip_gap))
        return Solved(value, seconds, proved, gap)


def instance(setting: Setting, kind: str, operators: int, nodes: int, capacity: int, draw: int) -> Problem:
    """A drawn instance; draws of one number have nothing in common but that number."""
    name = f"{kind} {operators} x {nodes}, {capacity}: {draw}"
    seed = int(named_generator(setting.seed, name).integers(2**31))
    return generate(kind, seed=seed, operators=operators, nodes=nodes, capacity=capacity)


def by_berth(problem: Problem) -> Solved:
    """What berth's own solver takes."""
    _load()
    began = time.process_time()
    plan = solve(problem, "odp", time_limit=MOST_SECONDS, ties="any")
    seconds = time.process_time() - began
    settled = plan.status in ("optimal", "infeasible")
    return Solved(plan.objective, seconds, settled, 0.0 if settled else plan.gap)


def by_program(problem: Problem, most_branches: int | None = None) -> Solved:
    """What HiGHS takes for the paper's program."""
    return PaperProgram(problem).solve(most_branches=most_branches)


SOLVERS = {OURS: by_berth, PROGRAM: by_program}


@cache
def _load() -> None:
    """Loading and compiling are not part of what is measured; pipelines of any operators, too."""
    for kind in KINDS:
        problem = generate(kind, seed=0, operators=6, nodes=5, capacity=2)
        solve(problem, "odp", ties="any")
        solve(problem, "odp", candidate_fraction=0.8)
