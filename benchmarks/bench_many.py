"""The heuristics for many applications: how fast, how often they find a plan, and how good it is.

    python benchmarks/bench_many.py [--runs 50] [--processors 10 20 30] [--set name=value ...]

First: 5 applications of 50 operators on 30 processors. Each heuristic's time, and how much longer the judge
takes for one evaluation of its plan for each attempt: what it would cost without an incremental engine. Then:
plans found and relative performance on random forests, for all strategies, with and without reuse. Relative
performance is the mean of the best cost of any way over its own; 0 where it found no plan.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import berth
from berth.evaluation import Setting, evaluate
from berth.generators.forest import Forest, ForestParameters
from berth.model import Problem
from berth.model.randomness import generator_for
from berth.policies.many.case import case_of
from berth.policies.many.heuristics import DONE, run
from berth.policies.many.policies import (
    BottomUpBfs,
    BottomUpDfs,
    Heuristic,
    Random,
    RandomNoReuse,
    TopDownBfs,
    TopDownDfs,
)
from berth.policies.many.state import new_state
from berth.policies.many.strategies import STRATEGIES

HEURISTICS: tuple[Heuristic, ...] = (
    RandomNoReuse(),
    Random(),
    TopDownBfs(),
    TopDownDfs(),
    BottomUpBfs(),
    BottomUpDfs(),
)
REPEATS = 20


def forest(seed: int, parameters: ForestParameters) -> Problem:
    """A random problem."""
    chance, generator = generator_for(seed), Forest()
    return generator.problem(parameters, chance, generator.network(parameters, chance, None))


def speed() -> None:
    """Time of each heuristic, its judge included, and of the judge alone for every attempt."""
    problem = forest(
        0, ForestParameters(processors=30, applications=5, most_operators=50, least_operators=50)
    )
    print("5 applications of 50 operators, 30 processors")
    for heuristic in HEURISTICS:
        name = heuristic.about.name
        plan = berth.solve(problem, name)
        start = time.process_time()
        for _ in range(REPEATS):
            plan = berth.solve(problem, name)
        took = (time.process_time() - start) / REPEATS
        line = f"  {name:16} {took * 1000:6.1f} ms, {plan.trace['attempts']} attempts"
        if plan.assignment:
            start = time.process_time()
            for _ in range(plan.trace["attempts"]):
                evaluate(problem, plan)
            line += f"; {(time.process_time() - start) / took:.0f} times that with the judge for each"
        print(line, flush=True)


def quality(runs: int, parameters: ForestParameters) -> None:
    """Successes and mean relative performance over some runs."""
    shape = (2, len(STRATEGIES), len(HEURISTICS))
    found, performance = np.zeros(shape), np.zeros(shape)
    for seed in range(runs):
        cost = costs(forest(seed, parameters), seed)
        found += np.isfinite(cost)
        if np.isfinite(cost).any():
            performance += cost.min() / cost
    print(f"{parameters.processors} processors, plans of {runs} / relative performance")
    print(" " * 36 + "".join(f"{item.about.name:>17}" for item in HEURISTICS))
    for reusing in (1, 0):
        for number, strategy in enumerate(STRATEGIES):
            cells = zip(found[reusing, number], performance[reusing, number] / runs, strict=True)
            line = "".join(f"{int(count):>11} {share:5.2f}" for count, share in cells)
            print(f"  {'reuse' if reusing else 'no reuse':9} {strategy:24} {line}", flush=True)


def costs(problem: Problem, seed: int) -> np.ndarray:
    """Speed enrolled by each way, by reuse, strategy and heuristic; infinite where it is stuck."""
    case = case_of(Setting(problem))
    cost = np.full((2, len(STRATEGIES), len(HEURISTICS)), np.inf)
    for column, heuristic in enumerate(HEURISTICS):
        order = heuristic.order(problem, seed)
        for reusing in (0, 1):
            for strategy in range(len(STRATEGIES)):
                state = new_state(case)
                reuses = bool(reusing) and heuristic.parameters().reuse
                told = run(case, state, order, heuristic.manner, reuses, strategy, False)
                if told[DONE]:
                    cost[reusing, strategy, column] = case.nodes.speed[state.hosted > 0].sum()
    return cost


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--processors", type=int, nargs="+", default=[10, 20, 30])
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the generator")
    given = parser.parse_args()
    settings = {name: float(value) for name, value in (item.split("=") for item in given.set)}
    whole = {name: int(value) if value.is_integer() else value for name, value in settings.items()}
    speed()
    for processors in given.processors:
        quality(given.runs, ForestParameters(processors=processors, **whole))


if __name__ == "__main__":
    main()
