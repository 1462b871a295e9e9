"""MIPS: roll-outs a second, and what its plans cost against the optimum and the baselines (paper 001).

Speed: 18 instances and 8 containers, against the same search in plain Python in the same process; how the
time grows with the instances. Quality: small packings against all maps; requests on a Fat-Tree of 16 servers
(X1.1) with the baselines and the least traffic there is, alpha from 0 to 1, fewer and more samples (X1.2),
and what a whole request takes.
Seconds are of processor time, of this process: others share the machine. `--quick` takes fewer repeats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.least_traffic import least_traffic
from benchmarks.plain_search import PlainSearch

import berth
from berth.exact.budget import Budget
from berth.generators.fat_tree import FatTree, FatTreeParameters
from berth.generators.topology_requests import request
from berth.model import Problem
from berth.policies.two_stage.mcts import Found, search
from berth.policies.two_stage.mcts_case import Packing
from tests.policies.packings import drawn, optimum

SAMPLES = 500
CLUSTER = FatTreeParameters()


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def searched(packing: Packing, seed: int = 0, samples: int = SAMPLES, symmetry: bool = True) -> Found:
    return search(
        packing,
        seed,
        samples=samples,
        exploration=2**0.5,
        symmetry=symmetry,
        printed=False,
        polish=True,
        budget=Budget(None),
    )


def chain(parallelism: int, containers: int, seed: int = 0, operators: int = 6) -> Packing:
    """Operators in a row into containers of 16 cores and 16 GB; each instance needs 2 to 6 of both."""
    rng = np.random.default_rng(seed)
    operator = np.repeat(np.arange(operators), parallelism)
    size = len(operator)
    traffic = np.zeros((size, size))
    for number in range(operators - 1):
        here, there = operator == number, operator == number + 1
        traffic[np.ix_(here, there)] = rng.lognormal(3.0, 1.0) / parallelism**2
    return Packing(
        rng.integers(2, 7, (operators, 2))[operator].astype(float),
        np.full((containers, 2), 16.0),
        traffic,
        1.0 - np.eye(containers),
        np.ones((size, containers), dtype=bool),
        np.zeros((size, 0), dtype=bool),
    )


def speed() -> None:
    packing = chain(3, 8)
    print(f"18 instances, 8 containers, first compiled in {seconds(lambda: searched(packing)):.1f} s or read")
    plain = PlainSearch(packing, 0, 20)
    spent = seconds(plain.run)
    slow = plain.roll_outs / spent
    for symmetry in (True, False):
        found = searched(packing, symmetry=symmetry)
        rates = [
            found.figures["rollouts"] / seconds(lambda s=symmetry: searched(packing, symmetry=s))  # type: ignore[misc]
            for _ in range(5)
        ]
        fast = float(np.median(rates))
        print(
            f"  symmetry {symmetry!s:5}: {fast:9,.0f} roll-outs/s (wanted: 50,000); "
            f"plain Python {slow:6,.0f} ({fast / slow:,.0f} times)",
            flush=True,
        )
    for what in ("parallelism", "operators"):
        growth(what)


def growth(what: str) -> None:
    """From 18 to 144 instances: more of each operator, or more operators."""
    print(f"growth of the first stage with {what}, {SAMPLES} samples a decision")
    spent: dict[int, float] = {}
    for times in (1, 2, 4, 8):
        larger = (
            chain(3 * times, 8 * times) if what == "parallelism" else chain(3, 8 * times, operators=6 * times)
        )
        spent[18 * times] = min(seconds(lambda p=larger: searched(p)) for _ in range(3))  # type: ignore[misc]
        print(f"  {18 * times:4} instances: {spent[18 * times]:6.3f} s", flush=True)
    power = np.polyfit(np.log(list(spent)), np.log(list(spent.values())), 1)[0]
    print(f"  power {power:.2f} (wanted: at most 2)", flush=True)


def small(repeats: int) -> None:
    print("against all maps: 6 items, 3 bins")
    rng = np.random.default_rng(2)
    for second in (False, True):
        for samples in (10, 50, SAMPLES):
            ratios = []
            while len(ratios) < repeats:
                packing = drawn(rng, second=second, items=6, spare=2)
                best = optimum(packing)
                found = searched(packing, len(ratios), samples).best_leaf
                if best:
                    ratios.append(np.inf if found is None else packing.cost(found) / best)
            stage = "second" if second else "first"
            figures = f"mean {np.mean(ratios):.4f}, max {np.max(ratios):.3f}"
            print(
                f"  {stage:>6} stage, {samples:3} samples: {figures} of the optimum; {len(ratios)} packings",
                flush=True,
            )


def fat_tree_request(rng: np.random.Generator) -> Problem:
    """A request of section V-A on a Fat-Tree(4) with hops as link costs (E1.14, E1.15)."""
    application = request("a", CLUSTER, rng)
    return Problem("x", FatTree().network(CLUSTER, rng, None), (application,))


POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "F/B": ("ffd", {}),
    "R/B": ("r-heron", {}),
    "T/B": ("t-heron", {}),
    "T/B, ties empty": ("t-heron", {"ties": "empty"}),
    "T/M": ("t-heron", {"second_stage": "mips"}),
    "M/M traffic": ("mips", {"alpha": 1.0}),
    "M/M both": ("mips", {"alpha": 0.5}),
    "M/M util.": ("mips", {"alpha": 0.0}),
    "M/M traffic, paper": ("mips", {"alpha": 1.0, "mode": "paper"}),
    "M/M traffic, no polish": ("mips", {"alpha": 1.0, "polish": False}),
    **{f"M/M alpha {alpha}": ("mips", {"alpha": alpha}) for alpha in (0.1, 0.3, 0.7, 0.9)},
    **{
        f"M/M no polish, {samples}": ("mips", {"samples": samples, "polish": False})
        for samples in (1, 50, 500, 1500)
    },
}


def requests(repeats: int) -> None:
    print(f"{repeats} requests on a Fat-Tree of 16 servers; figures where all policies have a plan")
    rng = np.random.default_rng(5)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in POLICIES}
    failed = dict.fromkeys(POLICIES, 0)
    best: list[float] = []
    for number in range(repeats):
        problem = fat_tree_request(rng)
        row = {}
        for name, (policy, parameters) in POLICIES.items():
            start = time.process_time()
            plan = berth.solve(problem, policy, seed=number, **parameters)
            spent = time.process_time() - start
            if plan.status != "feasible":
                failed[name] += 1
                continue
            row[name] = (plan.trace["T"], plan.trace["U"], plan.trace["W"], spent)
        if len(row) == len(POLICIES):
            best.append(least_traffic(problem))
            for name, figures in row.items():
                rows[name].append(figures)
    gaps = np.array([row[0] for row in rows["M/M traffic"]]) / np.array(best) - 1.0
    print(f"  M/M traffic above the least T there is: mean {gaps.mean():.2%}, at most {gaps.max():.2%}")
    base = np.mean(rows["M/M traffic"], axis=0)
    for name, figures in rows.items():
        traffic, used, cost, spent = np.mean(figures, axis=0)
        slowest = np.max(figures, axis=0)[3]
        print(
            f"  {name:>22}: T {traffic:7.2f} (M/M traffic {base[0] / traffic - 1:+6.1%}), U {used:5.2f}, "
            f"W {cost:7.2f} ({base[2] / cost - 1:+6.1%}); {spent:.3f} s, at most {slowest:.3f}; "
            f"{len(figures)} plans, {failed[name]} failed",
            flush=True,
        )


def main() -> None:
    quick = "--quick" in sys.argv
    speed()
    small(20 if quick else 100)
    requests(20 if quick else 100)


if __name__ == "__main__":
    main()
