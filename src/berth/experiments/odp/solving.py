"""Instances of section 7.3, and what berth and the paper's program take for them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

from berth.experiments.draws import named_generator
from berth.experiments.experiment import Calibration, Setting
from berth.experiments.odp.program import PaperProgram
from berth.generators import generate
from berth.model import Problem
from berth.policies import solve

KINDS = ("sequential", "fat")
OURS, PROGRAM = "berth (odp)", "the paper's program on HiGHS"
MOST_SECONDS = 60.0
"""On the clock, for one solve by either."""

CALIBRATIONS = (
    Calibration("work of an operator", "1 ms instead of the printed 1 s", "a degradation of 3 (E0.1)"),
    Calibration(
        "fat applications", "one source, parallel operators, one sink", "numbers of variables (E0.5)"
    ),
    Calibration("time", "processor time to the proof, when the program is loaded and compiled", "nothing"),
    Calibration("solver of the paper's program", "HiGHS, as SciPy has it; theirs: CPLEX 12.6.2", "nothing"),
)


@dataclass(frozen=True)
class Measured:
    """One solve: processor seconds, whether it is proved, and the response time in ms."""

    seconds: float
    proved: bool
    value: float | None
    gap: float | None


def instance(setting: Setting, kind: str, operators: int, nodes: int, capacity: int, draw: int) -> Problem:
    """A drawn instance; draws of one number have nothing in common but that number."""
    name = f"{kind} {operators} x {nodes}, {capacity}: {draw}"
    seed = int(named_generator(setting.seed, name).integers(2**31))
    return generate(kind, seed=seed, operators=operators, nodes=nodes, capacity=capacity)


def by_berth(problem: Problem) -> Measured:
    """What berth's own solver takes."""
    _load()
    began = time.process_time()
    plan = solve(problem, "odp", time_limit=MOST_SECONDS)
    seconds = time.process_time() - began
    settled = plan.status in ("optimal", "infeasible")
    return Measured(seconds, settled, plan.objective, 0.0 if settled else plan.gap)


def by_program(problem: Problem, most_branches: int | None = None) -> Measured:
    """What HiGHS takes for the paper's program."""
    found = PaperProgram(problem).solve(most_seconds=MOST_SECONDS, most_branches=most_branches)
    return Measured(found.seconds, found.proved, found.value, found.gap)


@cache
def _load() -> None:
    """Loading and compiling are not part of what is measured; pipelines of any operators, too."""
    for kind in KINDS:
        problem = generate(kind, seed=0, operators=6, nodes=5, capacity=2)
        solve(problem, "odp")
        solve(problem, "odp", candidate_fraction=0.8)
