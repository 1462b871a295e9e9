"""A front of at most 12 points, against 12 plain solves for its first metric in the same run.

The camera example's whole front is small; that of a random problem has more points. Each point takes two
solves under ceilings, which are harder than plain ones.
"""

import time

import berth
from berth.files import problem_from
from berth.model import Problem
from tests.policies.test_front import chain

POINTS = 12


def measure(name: str, problem: Problem, first: str, second: str) -> None:
    began = time.perf_counter()
    front = berth.front(problem, first, second, points=POINTS, time_limit=600)
    seconds = time.perf_counter() - began
    alone = problem.for_goal({first: 1.0})
    began = time.perf_counter()
    for seed in range(POINTS):
        berth.solve(alone, seed=seed)
    plain = time.perf_counter() - began
    print(f"{name}: {front.line}, in {seconds:.2f} s")
    print(f"  {POINTS} plain solves {plain:.2f} s: ratio {seconds / plain:.2f}")


def main() -> None:
    cameras = berth.load("examples/edge-cameras.yaml")
    berth.solve(cameras)  # loads the solver, which takes half a second
    measure("edge-cameras", cameras, "response_time", "cost_per_hour")
    random = problem_from(chain(0, operators=10, nodes=8))
    measure("10 operators on 8 nodes", random, "availability", "response_time")


if __name__ == "__main__":
    main()
