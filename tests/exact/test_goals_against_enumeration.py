"""Goals in order and survivable plans: exact results against enumeration of all plans and failovers."""

from typing import Any

import pytest
from hypothesis import given, settings

import berth
from berth.files import plan_document, problem_from
from tests.exact.test_minimise import QUIET
from tests.oracle import reference
from tests.oracle.additions import goal_problems
from tests.oracle.goals import best_levels, goals, is_near, worth
from tests.oracle.situation import Model

Entry = dict[str, Any]


def assert_best(problem: Entry, best: list[float] | None) -> None:
    """Odp proves a plan that breaks nothing, near enough at every level and the best at the last; or none."""
    plan = berth.solve(problem_from(problem), policy="odp", time_limit=60)
    assert plan.status == ("infeasible" if best is None else "optimal"), plan.reason
    if best is None:
        return
    document = plan_document(plan)
    assert reference.evaluate(problem, document)[1] == []
    situation = Model(problem).situation(document)
    values = [worth(situation, goal, None) for goal in goals(problem)]
    far = [level for level, value in enumerate(values) if not is_near(problem, level, value, best[level])]
    assert far == [], (values, best)
    assert values[-1] == pytest.approx(best[-1], rel=1e-9, abs=1e-12)
    assert plan.objective == pytest.approx(values[0], rel=1e-9, abs=1e-12)
    if isinstance(problem["objective"], list):
        told = [level["objective"] for level in document["levels"]]
        assert told == pytest.approx(values, rel=1e-9, abs=1e-12)


@settings(QUIET, max_examples=60)
@given(goal_problems(survive=False))
def test_goals_in_order(problem: Entry) -> None:
    """Up to three goals, single metrics and raw sums, with and without `objective_within`."""
    assert_best(problem, best_levels(problem))


@pytest.mark.parametrize("survive", [False, True])
def test_products_are_kept(survive: bool) -> None:
    """A raw sum with an availability in it is no sum: it has to be proved under such a limit all the same."""

    @settings(QUIET, max_examples=30)
    @given(goal_problems(survive=survive))
    def check(problem: Entry) -> None:
        product = {"availability": 5.0, "nodes_used": 0.2}
        for last in ({"nodes_used": 1.0}, {"availability": 1.0, "cost_per_hour": 0.1}):
            objective = [product, {"cost_per_hour": 1.0}, last]
            changed = {**problem, "objective": objective, "objective_within": [0.05]}
            changed["objective_scale"] = "raw"
            assert_best(changed, best_levels(changed))

    check()


@settings(QUIET, max_examples=60)
@given(goal_problems(survive=True))
def test_survivable_plans(problem: Entry) -> None:
    """The same where every loss has to have a failover that breaks nothing."""
    assert_best(problem, best_levels(problem))
