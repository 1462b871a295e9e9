"""The heuristics for many applications: how fast, how often they find a plan, and how good it is.

    python benchmarks/bench_many.py [--runs 50] [--seed 0] [--experiments X4.1 ...] [--set name=value ...]

First: 5 applications of 50 operators on 30 processors. Each heuristic's time, and how much longer the judge
takes for one evaluation of its plan for each attempt: what it would cost without an incremental engine. Then
the paper's five experiments: plans found and relative performance on random forests, for all strategies, with
and without reuse, and which of the paper's claims that confirms. Relative performance is the mean of the best
cost of any way over its own; 0 where it found no plan. `--set` gives other settings of the generator.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    ManyParameters,
    Random,
    RandomNoReuse,
    TopDownBfs,
    TopDownDfs,
)
from berth.policies.many.state import new_state
from berth.policies.many.strategies import RELATIVES, STRATEGIES
from many_claims import CLAIMS, Outcome

HEURISTICS: tuple[Heuristic, ...] = (
    RandomNoReuse(),
    Random(),
    TopDownBfs(),
    TopDownDfs(),
    BottomUpBfs(),
    BottomUpDfs(),
)
REPEATS = 20
USUAL: dict[str, Any] = {"replicas": 1}
"""The paper's objects are "randomly distributed over the processors": one copy of each."""
EXPERIMENTS: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "X4.1": ("processors", (1, 3, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70), {}),
    "X4.2": ("applications", (1, 2, 3, 4, 6, 8, 10, 12, 16, 20), {}),
    "X4.3": ("most_operators", (5, 10, 15, 20, 30, 40, 50, 60, 80), {}),
    "X4.4": ("ccr", (1, 30, 60, 90, 120, 150, 180), {}),
    "X4.5": ("differing", (0, 2, 5, 10, 20, 50), {"applications": 2, "processors": 10}),
}


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


def experiment(name: str, seeds: range, given: dict[str, Any]) -> None:
    """All values of what is varied: a table for each, and at the end the claims."""
    varied, values, fixed = EXPERIMENTS[name]
    tables = []
    for value in values:
        settings = USUAL | fixed | given | {varied: value}
        tables.append(quality(seeds, ForestParameters(**settings)))
        show(
            f"{name}, {varied} = {value}, plans of {len(seeds)} / relative performance",
            len(seeds),
            *tables[-1],
        )
    found, performance = (np.array(table) for table in zip(*tables, strict=True))
    outcome = Outcome(np.array(values, dtype=np.float64), found, performance)
    print(f"{name}: what the paper says, and with which strategies that is so here")
    for text, check in CLAIMS[name]:
        print(f"  {text}: {in_words(np.asarray(check(outcome)))}", flush=True)


def in_words(verdict: NDArray[np.bool_]) -> str:
    """Yes, no, or the strategies for which it is so."""
    if verdict.all() or not verdict.any():
        return "yes" if verdict.all() else "no"
    return "only " + ", ".join(name for name, so in zip(STRATEGIES, verdict, strict=True) if so)


def quality(seeds: range, parameters: ForestParameters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of runs with a plan and mean relative performance."""
    shape = (2, len(STRATEGIES), len(HEURISTICS))
    found, performance = np.zeros(shape), np.zeros(shape)
    for seed in seeds:
        cost = costs(forest(seed, parameters), seed)
        found += np.isfinite(cost)
        if np.isfinite(cost).any():
            performance += cost.min() / cost
    return found / len(seeds), performance / len(seeds)


def show(title: str, runs: int, found: NDArray[np.float64], performance: NDArray[np.float64]) -> None:
    """A table: ways in rows, heuristics in columns."""
    print(title)
    print(" " * 36 + "".join(f"{item.about.name:>17}" for item in HEURISTICS))
    for reusing in (1, 0):
        for number, strategy in enumerate(STRATEGIES):
            cells = zip(found[reusing, number], performance[reusing, number], strict=True)
            line = "".join(f"{round(share * runs):>11} {mean:5.2f}" for share, mean in cells)
            print(f"  {'reuse' if reusing else 'no reuse':9} {strategy:24} {line}", flush=True)


def costs(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Speed enrolled by each way, by reuse, strategy and heuristic; infinite where it is stuck."""
    case = case_of(Setting(problem))
    relatives = RELATIVES.index(ManyParameters().relatives)
    cost = np.full((2, len(STRATEGIES), len(HEURISTICS)), np.inf)
    for column, heuristic in enumerate(HEURISTICS):
        order = heuristic.order(problem, seed)
        for reusing in (0, 1):
            for strategy in range(len(STRATEGIES)):
                state = new_state(case)
                reuses = bool(reusing) and heuristic.parameters().reuse
                told = run(case, state, order, heuristic.manner, reuses, strategy, False, relatives)
                if told[DONE]:
                    cost[reusing, strategy, column] = case.nodes.speed[state.hosted > 0].sum()
    return cost


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--experiments", nargs="*", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the generator")
    given = parser.parse_args()
    settings = {name: float(value) for name, value in (item.split("=") for item in given.set)}
    whole = {name: int(value) if value.is_integer() else value for name, value in settings.items()}
    speed()
    for name in given.experiments:
        experiment(name, range(given.seed, given.seed + given.runs), whole)


if __name__ == "__main__":
    main()
