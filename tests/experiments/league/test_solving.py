"""Single runs of the league: outcomes told apart, processor time, the problems themselves."""

import time
from pathlib import Path

import pytest

from berth.experiments.experiment import Run, Setting
from berth.experiments.league import solving
from berth.experiments.league.experiment import LEAGUE
from berth.experiments.league.fixtures import BY_NAME, ENTRIES, EXAMPLES, GROUPS, entries, problem_of
from berth.experiments.league.solving import BROKEN, CRASHED, NO_PLAN, NOT_MADE, PLAN, ProcessorBudget, solved
from berth.generators import GENERATORS
from berth.policies.registry import BUILT_IN

QUICK = Setting(quick=True, seed=3)


def outcome(problem: str, policy: str) -> str:
    return str(solved(problem, policy, 0, None, 0.5)["outcome"])


def test_outcomes() -> None:
    assert outcome("tag-and-count", "odp") == PLAN
    assert outcome("tag-and-count", "ffd") == NOT_MADE  # it packs containers, and there are none
    assert outcome("fat tree, 16 servers", "mopa") == NOT_MADE  # there are some, and it packs none
    assert outcome("edge-cameras", "round-robin") == BROKEN  # it knows no requirements
    assert outcome("edge-cameras", "top-down-bfs") == NO_PLAN


def test_an_error_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(solving.berth, "solve", broken)
    found = solved("tag-and-count", "odp", 0, None, 0.5)
    assert (found["outcome"], found["reason"]) == (CRASHED, "ZeroDivisionError: oh")


def test_rows() -> None:
    """Objectives are the problem's, whatever the policy minimises; the same seed gives the same plan."""
    chosen = {"problem": "tag-and-count", "group": GROUPS[0], "policy": "proc-nb", "seed": 0}
    (row,), (again,) = (list(LEAGUE.rows(Run("a", chosen), QUICK)) for _ in range(2))
    assert set(row) == set(LEAGUE.schema.names)
    assert row["objective"] == "response_time"
    assert row["own_goal"]
    assert row["bound"] is None
    assert row["value"] > 0
    assert (row["value"], row["outcome"]) == (again["value"], again["outcome"])
    exact = solved("tag-and-count", "odp", 0, None, 2.0)
    assert exact["bound"] == pytest.approx(exact["value"])
    assert not exact["own_goal"]
    assert solved("tag-and-count", "round-robin", 0, None, 2.0)["own_goal"]


def test_every_policy_on_every_problem() -> None:
    runs = list(LEAGUE.runs(QUICK))
    assert len({run.key for run in runs}) == len(runs)
    assert {run.parameters["policy"] for run in runs} == set(BUILT_IN)
    assert {entry.group for entry in entries(QUICK)} == set(GROUPS)


def test_every_example_and_generator_takes_part() -> None:
    """But for the example that is made not to fit."""
    files = {file.stem for file in EXAMPLES.glob("*.yaml")} - {"filling-cluster"}
    assert files <= set(BY_NAME)
    assert {entry.kind for entry in ENTRIES} - {None} == set(GENERATORS)


def test_a_measured_network_that_is_not_there(tmp_path: Path) -> None:
    names = {entry.name for entry in entries(Setting(data=tmp_path))}
    assert "stream tree, PlanetLab" not in names
    assert "stream tree, synthetic" in names


def test_bounds_of_applications() -> None:
    problem = problem_of("matrices, bound 6 s", 0, None)
    assert {application.max_response_time_ms for application in problem.applications} == {6000.0}


def test_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that gives a fourth of a processor, 2 s of it are 8 s on the clock."""
    now = {"clock": 0.0, "processor": 0.0}
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    monkeypatch.setattr(time, "process_time", lambda: now["processor"])
    budget = ProcessorBudget(2.0)
    now.update(clock=4.0, processor=1.0)
    assert budget.elapsed == 1.0
    assert budget.remaining == pytest.approx(4.0)
    part = budget.part(0.5)
    now.update(clock=6.0, processor=1.5)
    assert part.over
    assert not budget.over
    now.update(clock=8.0, processor=2.0)
    assert budget.over
