"""MIPS: roll-outs a second, and what its plans cost against the optimum (paper 001).

Speed: 18 instances and 8 containers, against the same search in plain Python in the same process; how the
time grows with the instances. Quality: small packings against all maps; whole requests on a Fat-Tree of 16
servers, their time and the least traffic there is. How it compares with other schemes and over its own
parameters, the experiments tell: `berth reproduce X1.1 X1.2 X1.3`.
Seconds are of processor time, of this process: others share the machine. `--quick` takes fewer repeats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from benchmarks.least_traffic import least_traffic
from benchmarks.plain_search import PlainSearch

import berth
from berth.budget import Budget
from berth.experiments.mips.schemes import FAT_TREE, requested
from berth.policies.two_stage.mips import Found, search
from berth.policies.two_stage.packing import Packing
from tests.policies.two_stage.packings import drawn, optimum

SAMPLES = 500


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


def requests(repeats: int) -> None:
    """A whole request as in section V-A: its time, and its traffic against the least there is."""
    gaps, spent = [], []
    for number in range(repeats):
        problem = requested(FAT_TREE, 0, number)
        start = time.process_time()
        plan = berth.solve(problem, "mips", seed=number, alpha=1.0)
        spent.append(time.process_time() - start)
        if plan.status == "feasible":
            gaps.append(plan.trace["T"] / least_traffic(problem) - 1.0)
    print(
        f"{repeats} requests on a Fat-Tree of 16 servers, alpha=1: {np.mean(spent):.3f} s, at most "
        f"{np.max(spent):.3f}; T above the least there is: mean {np.mean(gaps):.2%}, at most "
        f"{np.max(gaps):.2%}; {repeats - len(gaps)} without a plan",
        flush=True,
    )


def main() -> None:
    quick = "--quick" in sys.argv
    speed()
    small(20 if quick else 100)
    requests(20 if quick else 100)


if __name__ == "__main__":
    main()
