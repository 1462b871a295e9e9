"""The heuristics for many applications: how fast they are.

    python benchmarks/bench_many.py

5 applications of 50 operators on 30 processors. Each heuristic's time, and how much longer the judge takes
for one evaluation of its plan for each attempt: what it would cost without an incremental engine. How many
plans they find, and how good these are, the experiments tell: `berth reproduce X4.1 X4.2 X4.3 X4.4 X4.5`.
"""

from __future__ import annotations

import time

import berth
from berth.evaluation import evaluate
from berth.experiments.many.heuristics import HEURISTICS, forest
from berth.generators.forest import Forest

REPEATS = 20


def main() -> None:
    """Time of each heuristic, its judge included, and of the judge alone for every attempt."""
    problem = forest(0, Forest(processors=30, applications=5, most_operators=50, least_operators=50))
    print("5 applications of 50 operators, 30 processors")
    for heuristic in HEURISTICS.values():
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


if __name__ == "__main__":
    main()
