"""Plan files: any plan is read, ours are written in the contract's order."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies

from berth.files import load_plan, plan_document, plan_from, plan_text, save_plan
from berth.model import BadInput, Download, Plan

FULL = Plan(
    assignment={"app/source#0": "rome", "app/source#1": "paris"},
    problem="edge",
    policy="odp",
    seed=3,
    goal={"response_time": 1.0},
    status="optimal",
    reason=None,
    objective=31.4,
    bound=31.4,
    gap=0.0,
    seconds=0.12,
    containers={"app/source#0": "app/c0"},
    downloads=(Download("camera", "rome", "paris"),),
    reuse={"second/tag": "app/tag"},
    skipped=("second/source",),
    metrics={"response_time_ms": 31.4},
    violations=("node rome: cpu 5 needed, 4 there",),
    trace={"messages": 12, "bounds": {"response_time": [1, 2]}},
)


def test_round_trip(tmp_path: Path) -> None:
    """A plan that is written and read again is the same."""
    save_plan(FULL, tmp_path / "plan.json")
    assert load_plan(tmp_path / "plan.json") == FULL


texts = strategies.text(max_size=8)
numbers = strategies.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(
    strategies.builds(
        Plan,
        assignment=strategies.dictionaries(texts, texts, max_size=4),
        problem=texts,
        seed=strategies.integers(),
        goal=strategies.dictionaries(texts, numbers, max_size=3),
        reason=strategies.none() | texts,
        objective=strategies.none() | numbers,
        containers=strategies.dictionaries(texts, texts, max_size=3),
        reuse=strategies.dictionaries(texts, texts, max_size=3),
        skipped=strategies.lists(texts, max_size=3).map(tuple),
        metrics=strategies.dictionaries(texts, numbers, max_size=3),
        violations=strategies.lists(texts, max_size=3).map(tuple),
        trace=strategies.dictionaries(texts, numbers | texts, max_size=3),
    )
)
def test_any_plan_round_trips(plan: Plan) -> None:
    """Whatever the names hold, text and all numbers come back as they were."""
    assert plan_from(json.loads(plan_text(plan))) == plan


def test_order_of_keys() -> None:
    """Keys come in the contract's order."""
    order = "format problem policy seed goal status reason objective bound gap seconds assignment containers"
    rest = "downloads reuse skipped metrics violations warnings trace"
    assert " ".join(plan_document(FULL)) == f"{order} {rest}"


def test_what_means_nothing_is_left_out() -> None:
    """A plan without containers, downloads, reuse and trace has no such keys."""
    absent = {"containers", "downloads", "reuse", "skipped", "trace"}
    assert absent.isdisjoint(plan_document(Plan({"a/b": "rome"})))


def test_only_the_assignment_is_needed(tmp_path: Path) -> None:
    """A plan that somebody wrote by hand, in YAML too."""
    (tmp_path / "plan.yaml").write_text("assignment: {app/source: rome}")
    assert load_plan(tmp_path / "plan.yaml").assignment == {"app/source": "rome"}


def test_unknown_keys_are_left_alone() -> None:
    """Other tools may write more into a plan than berth knows."""
    plan = plan_from({"assignment": {}, "author": "me", "downloads": [], "nested": {"deep": [1]}})
    assert plan == Plan({})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"assignment": None}, "assignment: expected a mapping, found null"),
    ({"assignment": ["rome"]}, "assignment: expected a mapping, found a list"),
    ({"assignment": {"a/b": 1}}, "assignment.a/b: expected a string, found 1"),
    ({"assignment": {"a/b": None}}, "assignment.a/b: expected a string, found null"),
    ({"format": "berth-plan/v9"}, "format: expected 'berth-plan/v1', found 'berth-plan/v9'"),
    ({"seed": 1.5}, "seed: expected a whole number, found 1.5"),
    ({"seed": True}, "seed: expected a whole number, found true"),
    (
        {"status": "good"},
        "status: expected 'optimal' or 'feasible' or 'infeasible' or 'unknown', found 'good'",
    ),
    ({"objective": "31"}, "objective: expected a number or null, found '31'"),
    ({"objective": float("nan")}, "objective: nan is not a finite number"),
    ({"containers": []}, "containers: expected a mapping, found a list"),
    ({"downloads": {}}, "downloads: expected a list, found a mapping"),
    ({"downloads": [{"object": "o", "from": "rome"}]}, "downloads[0].to: is needed"),
    (
        {"downloads": [{"object": "o", "from": "rome", "to": "paris", "via": "x"}]},
        "downloads[0].via: unknown",
    ),
    ({"reuse": {"a/b": ["c/b"]}}, "reuse.a/b: expected a string, found a list"),
    ({"skipped": "a/b"}, "skipped: expected a list, found 'a/b'"),
    ({"skipped": [1]}, "skipped[0]: expected a string, found 1"),
    ({"metrics": {"traffic": "1"}}, "metrics.traffic: expected a number, found '1'"),
    ({"violations": [None]}, "violations[0]: expected a string, found null"),
    ({"trace": 1}, "trace: expected a mapping, found 1"),
]


@pytest.mark.parametrize(("fields", "beginning"), WRONG)
def test_wrong_types_are_named(fields: dict[str, Any], beginning: str) -> None:
    """A field of a wrong kind is one line with its path."""
    with pytest.raises(BadInput) as caught:
        plan_from({"assignment": {}, **fields})
    (line,) = caught.value.mistakes
    assert line.startswith(beginning)


@pytest.mark.parametrize("document", [None, [], "plan", {}])
def test_no_plan_at_all(document: Any) -> None:
    """Without an assignment there is no plan."""
    with pytest.raises(BadInput, match=r"^(the file: expected a mapping|assignment: is needed)"):
        plan_from(document)


def test_mistakes_name_the_file(tmp_path: Path) -> None:
    """Commands that read a plan read a problem, too: the line says which of them is wrong."""
    file = tmp_path / "before.json"
    file.write_text('{"format": "berth-plan/v1",\n "assignment": {"a/s": 1}}')
    with pytest.raises(BadInput) as error:
        load_plan(file)
    assert error.value.mistakes == (f"{file}:2: assignment.a/s: expected a string, found 1",)
