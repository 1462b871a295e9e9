"""What `berth.solve` makes of a policy's answer."""

import dataclasses

import pytest

import berth
from berth.files import plan_document, plan_from, problem_from
from berth.model import BadInput, Plan
from tests.exact.instances import document, paper_instance


def test_a_plan_file_s_fields() -> None:
    """A plan carries all that the contract's plan file has, and reads back the same."""
    plan = berth.solve(paper_instance("sequential", 3, 3), seed=7)
    written = plan_document(plan)
    wanted = {"format", "problem", "policy", "seed", "goal", "status", "reason", "objective", "bound"}
    wanted |= {"gap", "seconds", "assignment", "metrics", "violations"}
    assert wanted <= set(written)
    assert written["seed"] == 7
    assert written["gap"] == 0.0
    assert plan_document(plan_from(written)) == written


def test_availability_is_maximised() -> None:
    """The objective of a single availability is the availability itself."""
    nodes = [{"name": "good", "availability": 0.9}, {"name": "bad", "availability": 0.5}]
    problem = problem_from(
        document(nodes, [[0, 1], [1, 0]], [{"name": "o"}], [], objective={"availability": 2.0})
    )
    plan = berth.solve(problem)
    assert plan.objective == pytest.approx(0.9)
    assert plan.bound == pytest.approx(0.9)
    assert plan.assignment == {"a/o": "good"}


def test_moving_needs_a_previous_plan() -> None:
    """An objective over moves without a plan to compare with is a mistake."""
    problem = dataclasses.replace(paper_instance("sequential", 2, 2), objective={"moved_instances": 1.0})
    with pytest.raises(BadInput, match="needs a previous plan"):
        berth.solve(problem)
    before = Plan({"a/o0": "n1", "a/o1": "n1"})
    plan = berth.solve(problem, previous=before)
    assert plan.objective == 0
    assert plan.assignment == before.assignment


def test_no_proof_where_sharing_could_help() -> None:
    """A result that counts once for two users: proved for sums, but for a response time it is only a plan."""
    operators = [
        {"name": "s", "emits_bytes_per_s": 10, "pinned": "n0"},
        {"name": "t", "type": "tag", "pinned": "n0"},
        {"name": "u", "pinned": "n1"},
        {"name": "v", "pinned": "n1"},
    ]
    streams = [{"from": "s", "to": "t"}, {"from": "t", "to": "u"}, {"from": "t", "to": "v"}]
    nodes = [{"name": "n0"}, {"name": "n1"}]
    raw = document(nodes, [[0, 1], [1, 0]], operators, streams, objective={"traffic": 1})
    plan = berth.solve(problem_from(raw))
    assert (plan.status, plan.objective, plan.bound) == ("optimal", 10, 10)
    slow = berth.solve(problem_from({**raw, "objective": {"response_time": 1}}))
    assert slow.status == "feasible"
    assert slow.bound is None
    assert "share" in slow.trace["no_proof"]
    alone = berth.solve(problem_from({**raw, "sharing": False}))
    assert (alone.status, alone.objective) == ("optimal", 20)


def test_containers_and_downloads_are_answered() -> None:
    """Downloads are beyond odp, but it names them, and fills containers."""
    raw = document(
        [{"name": "n0", "capacity": {"cpu": 4}, "holds": ["x"]}, {"name": "n1", "capacity": {"cpu": 4}}],
        [[0, 1], [1, 0]],
        [{"name": "o", "pinned": "n1", "reads": [{"object": "x", "per_s": 1}], "demand": {"cpu": 1}}],
        [],
        objects=[{"name": "x", "bytes": 5}],
    )
    plan = berth.solve(problem_from(raw))
    assert [(d.object, d.source, d.target) for d in plan.downloads] == [("x", "n0", "n1")]
    assert not plan.violations
    raw["applications"][0]["containers"] = {"count": 1, "capacity": {"cpu": 2}}
    plan = berth.solve(problem_from(raw))
    assert not plan.violations
    assert plan.containers == {"a/o": "a/c0"}
    assert "downloads" in plan.trace["no_proof"]
