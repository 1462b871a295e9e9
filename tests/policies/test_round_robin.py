"""The baseline."""

import berth
from berth.files import problem_from
from tests.exact.instances import document, paper_instance

DELAYS: list[list[float | None]] = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def nodes(*capacities: float) -> list[dict[str, object]]:
    return [{"name": f"n{k}", "capacity": {"cpu": there}} for k, there in enumerate(capacities)]


def test_deals_out_in_turn() -> None:
    """One instance a node, then round again."""
    plan = berth.solve(paper_instance("sequential", 5, 3), "round-robin")
    assert list(plan.assignment.values()) == ["n0", "n1", "n2", "n0", "n1"]
    assert plan.status == "feasible"
    assert plan.bound is None


def test_skips_full_nodes_and_keeps_pins() -> None:
    """Full nodes are passed over; a pinned operator does not use up a turn."""
    operators = [{"name": f"o{k}", "demand": {"cpu": 1}} for k in range(4)]
    operators[0] = {"name": "o0", "demand": {"cpu": 1}, "pinned": "n2"}
    problem = problem_from(document(nodes(1, 2, 2), DELAYS, operators, []))
    plan = berth.solve(problem, "round-robin")
    assert list(plan.assignment.values()) == ["n2", "n0", "n1", "n2"]


def test_says_where_it_is_stuck() -> None:
    """No room: no plan, and the instance that found none."""
    operators = [{"name": "o", "demand": {"cpu": 1}, "parallelism": 4}]
    plan = berth.solve(problem_from(document(nodes(1, 1, 1), DELAYS, operators, [])), "round-robin")
    assert plan.status == "unknown"
    assert not plan.found
    assert plan.reason == "stuck at a/o#3: no node that may host it has room"


def test_what_it_can_not_hold_is_listed() -> None:
    """A requirement that it doesn't look at shows up as a violation, and the plan is not called feasible."""
    problem = problem_from(
        document(
            nodes(1, 1, 1),
            DELAYS,
            [{"name": "s", "demand": {"cpu": 1}}, {"name": "t", "demand": {"cpu": 1}}],
            [{"from": "s", "to": "t"}],
            application={"max_response_time_ms": 0.5},
        )
    )
    plan = berth.solve(problem, "round-robin")
    assert plan.status == "unknown"
    assert plan.violations == ("application a: response time 1 ms, at most 0.5 ms asked",)
