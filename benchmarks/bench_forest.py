"""`forest` against the best of the paper's 24 combinations: cost, gap closed, and time.

Forests of 5 applications of up to 50 operators on 30 processors; of 100 applications on 300, also with little
to share (`--quick` leaves these out); and small ones against the optimum. Closed is the share of the gap
between the best of the 24 and the bound. Seconds are of processor time, of this process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, get_args

import berth
from berth.model import Plan, Problem
from berth.policies.sharing.heuristics import Processors

HEURISTICS = ("random-no-reuse", "random", "top-down-bfs", "top-down-dfs", "bottom-up-bfs", "bottom-up-dfs")
LARGE: dict[str, Any] = {"applications": 100, "processors": 300}
SMALL: dict[str, Any] = {
    "processors": 5,
    "applications": 2,
    "most_operators": 6,
    "objects": 3,
    "least_work": 20.0,
    "most_work": 40.0,
}


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    done = work()
    return time.process_time() - start, done


def best_of_24(problem: Problem, retry: bool = False) -> float | None:
    """The least enrolled speed that any combination finds."""
    plans = [
        berth.solve(problem, name, processors=processors, retry=retry)
        for name, processors in product(HEURISTICS, get_args(Processors))
    ]
    return min((plan.metrics["enrolled_speed"] for plan in plans if plan.status == "feasible"), default=None)


def forest(problem: Problem, **more: Any) -> Plan:
    return berth.solve(problem, "forest", time_limit=None, **more)


def against_the_24(title: str, seeds: range, made: dict[str, Any]) -> None:
    print(f"\n{title}\nseed  best of 24  (s)      forest  (s)      ratio   bound      closed")
    shares = []
    for seed in seeds:
        problem = berth.generate("forest", seed=seed, **made)
        took, best = seconds(partial(best_of_24, problem))
        retried = ""
        if best is None:
            best, retried = best_of_24(problem, retry=True), "with retry"
        needed, plan = seconds(partial(forest, problem))
        cost, bound = plan.objective or float("nan"), plan.bound or 0.0
        assert not plan.violations
        if best is None:
            print(f"{seed:4}  {'none':>10}  {took:7.2f}  {cost:7.0f}  {needed:7.2f}  {'':6}  {bound:7.0f}")
            continue
        closed = (best - cost) / (best - bound) if best > bound else 1.0
        shares.append(closed)
        line = f"{seed:4}  {best:10.0f}  {took:7.2f}  {cost:7.0f}  {needed:7.2f}  {cost / best:6.3f}"
        print(f"{line}  {bound:7.0f}  {closed:7.3f}  {retried}")
    if shares:
        print(f"closed on average: {sum(shares) / len(shares):.3f}")


def against_the_optimum(seeds: range) -> None:
    print("\nsmall forests against proc-power: cost / optimum")
    ratios = []
    for seed in seeds:
        problem = berth.generate("forest", seed=seed, **SMALL)
        optimum = berth.solve(problem, "proc-power", time_limit=30.0)
        plan = forest(problem, steps=20_000)
        if optimum.status == "optimal" and optimum.objective and plan.objective:
            ratios.append(plan.objective / optimum.objective)
        else:
            print(f"seed {seed}: proc-power {optimum.status}, forest {plan.status}")
    print(f"{len(ratios)} forests, mean {sum(ratios) / len(ratios):.4f}, most {max(ratios):.4f}")


def main() -> None:
    quick = "--quick" in sys.argv
    warm = berth.generate("forest", seed=0, **SMALL)
    forest(warm, steps=100)
    best_of_24(warm)
    against_the_optimum(range(5 if quick else 20))
    against_the_24("5 applications, 30 processors", range(3 if quick else 10), {})
    against_the_24("the same, less is equal (alike=0)", range(1 if quick else 5), {"alike": 0.0})
    if not quick:
        against_the_24("100 applications, 300 processors", range(1), LARGE)
        against_the_24("the same, less is equal (alike=0)", range(1), LARGE | {"alike": 0.0})


if __name__ == "__main__":
    main()
