"""Plans that survive losses, against the same problems with nothing to survive.

`figure9`: paper 000's pipelines, 20 operators on 20 nodes, that survive the loss of any node: the seconds of
processor time to a proved optimum, once of the response time and once of the response time after the worst
loss, each beside the same solve (of the response time) without losses, and the ratio of both.

`large`: 200 operators on 50 nodes, by `search` and `auto` in 20 seconds each: whether the plan survives the
loss of any node, or of any of five zones, and how much worse it is than what `search` finds in the same time
where nothing is lost.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

import berth
from berth.model import Plan, Problem, Survive
from tests.exact.instances import paper_instance

SEEDS = 10
CAPACITIES = (2, 4, 6, 8, 10)
GOALS = ("response_time", "failover_response_time")
MOST_SECONDS = 60.0
SECONDS = 20.0
ZONES = 5
LARGE = (("any node", 8.0), ("any node", 5.0), ("any zone", 8.0), ("any zone", 6.0))
"""What is lost, and the mean capacity of a node: 194 are needed in all, of 50 nodes."""


def figure_nine() -> None:
    """Every capacity of figure 9."""
    print(f"{'capacity, minimised':40} {'proved':>8} {'plain':>9} {'survive':>9} {'most':>9} {'ratio':>7}")
    for capacity in CAPACITIES:
        problems = [paper_instance("sequential", 20, 20, seed, capacity) for seed in range(SEEDS)]
        plain = [solved(problem)[0] for problem in problems]
        for goal in GOALS:
            surviving = [replace(each, survive=Survive(), objective={goal: 1.0}) for each in problems]
            runs = [solved(problem) for problem in surviving]
            seconds = [spent for spent, _ in runs]
            proved = f"{sum(plan.status == 'optimal' for _, plan in runs)}/{len(runs)}"
            ratio = np.mean(seconds) / np.mean(plain)
            print(
                f"{f'{capacity}, {goal}':40} {proved:>8} {np.mean(plain):7.3f} s {np.mean(seconds):7.3f} s "
                f"{max(seconds):7.3f} s {ratio:7.1f}",
                flush=True,
            )


def solved(problem: Problem) -> tuple[float, Plan]:
    """The seconds of processor time to a plan, and the plan."""
    began = time.process_time()
    plan = berth.solve(problem, "odp", time_limit=MOST_SECONDS)
    return time.process_time() - began, plan


def large() -> None:
    """What is found in 20 seconds on the clock."""
    print(
        f"\n{'200 on 50, capacity, what is lost':40} {'goal':>22} {'policy':>8} {'seconds':>8}  against plain"
    )
    for lost, capacity in LARGE:
        problem = crowd(capacity)
        survive = Survive(None if lost == "any node" else "zone")
        for goal in ("traffic", *GOALS):
            usual = "response_time" if goal == GOALS[1] else goal
            plain = berth.solve(replace(problem, objective={usual: 1.0}), "search", time_limit=SECONDS)
            for policy in ("search", "auto"):
                wanted = replace(problem, objective={goal: 1.0}, survive=survive)
                plan = berth.solve(wanted, policy, time_limit=SECONDS)
                verdict = plan.status if plan.objective is None else f"{plan.objective / plain.objective:.3f}"
                name = f"{capacity:g}, {lost}"
                print(f"{name:40} {goal:>22} {policy:>8} {plan.seconds:8.1f}  {verdict}", flush=True)


def crowd(capacity: float) -> Problem:
    """200 operators on 50 nodes in five zones."""
    problem = berth.generate("random-graph", seed=0, operators=200, nodes=50, capacity=capacity)
    nodes = tuple(
        replace(node, labels={"zone": f"z{number % ZONES}"})
        for number, node in enumerate(problem.network.nodes)
    )
    return replace(problem, network=replace(problem.network, nodes=nodes))


def main() -> None:
    """All, or what is named: `figure9`, `large`."""
    parts = {"figure9": figure_nine, "large": large}
    # the solver and compiled loops are loaded once, for all
    solved(replace(paper_instance("sequential", 4, 4, capacity=2), survive=Survive()))
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
