"""Berth's evaluation against the independent oracle, on random problems and plans.

BERTH_EXAMPLES=5000 looks at so many random cases a test instead of a few fixed ones.
"""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings, strategies

from berth.evaluation import evaluate
from berth.files import plan_from, problem_from
from tests.oracle import reference
from tests.oracle.problems import (
    CAPACITIES,
    Dice,
    plans,
    previous_plans,
    problems,
    sharing_problems,
    solvable_problems,
)

Entry = dict[str, Any]

EXAMPLES = os.environ.get("BERTH_EXAMPLES")
some = settings(
    max_examples=int(EXAMPLES or 80),
    derandomize=EXAMPLES is None,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@strategies.composite
def hardened(draw: strategies.DrawFn, problem: Entry) -> Entry:
    """Add what the strategies seldom or never draw: nothing gets through, containers share, half duplex."""
    dice, network = Dice(draw), problem["network"]
    problem.pop("objective", None)
    if dice.whether(3):
        network["routing"] = "shortest_path"
    if dice.whether(3):
        network["duplex"] = "half"
    if dice.whether(4):
        network["one_port"] = True
    if dice.whether(6):
        dice.pick(network["nodes"])["nic_bytes_per_s"] = 0
    if dice.whether(6) and network.get("links"):
        dice.pick(network["links"])["bandwidth_bytes_per_s"] = 0
    if dice.whether(6):
        dice.pick(problem["applications"])["throughput_per_s"] = 0
    if dice.whether(4):
        capacity = {name: dice.number(CAPACITIES) for name in ("cpu", "memory")}
        application = dice.pick(problem["applications"])
        application.setdefault("containers", {"count": dice.count(1, 3), "capacity": capacity})
    return problem


@strategies.composite
def cases(
    draw: strategies.DrawFn, some_problems: strategies.SearchStrategy[Entry]
) -> tuple[Entry, Entry, Entry | None]:
    """A problem, a plan, right or wrong, and perhaps the plan before it."""
    problem = draw(some_problems)
    if draw(strategies.booleans()):
        problem = draw(hardened(problem))
    plan = draw(plans(problem, wrong=draw(strategies.booleans())))
    previous = draw(strategies.none() | previous_plans(problem))
    return problem, plan, previous


def assert_agreement(problem: Entry, plan: Entry, previous: Entry | None) -> None:
    """Same metrics to 1e-9, and violations on both sides or on neither."""
    found = evaluate(
        problem_from(problem), plan_from(plan), None if previous is None else plan_from(previous)
    )
    metrics, broken = reference.evaluate(problem, plan, previous)
    note(f"berth: {found.violations}, oracle: {broken}")
    assert found.metrics == pytest.approx(metrics, rel=1e-9, abs=0.0)
    assert bool(found.violations) == bool(broken)


@some
@given(cases(problems()))
def test_any_problem(case: tuple[Entry, Entry, Entry | None]) -> None:
    """Problems with every field of the contract."""
    assert_agreement(*case)


@some
@given(cases(solvable_problems()))
def test_problems_with_room(case: tuple[Entry, Entry, Entry | None]) -> None:
    """Problems whose plans often break nothing."""
    assert_agreement(*case)


@some
@given(cases(sharing_problems()))
def test_sharing(case: tuple[Entry, Entry, Entry | None]) -> None:
    """Applications that compute the same things, and plans that reuse and skip them."""
    assert_agreement(*case)


@some
@given(cases(sharing_problems(max_operators=3, max_applications=2, max_instances=16)))
def test_sharing_between_instances(case: tuple[Entry, Entry, Entry | None]) -> None:
    """The same with few operators and many instances of each."""
    assert_agreement(*case)
