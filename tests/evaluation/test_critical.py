"""The critical path, which the drawings mark."""

from __future__ import annotations

import pytest

from berth.drawing.views import situation_of
from berth.evaluation import evaluate
from berth.evaluation.situation import critical_path
from berth.model import Plan, Problem
from tests.drawing.problems import (
    diamond,
    incomplete,
    large,
    nothing_placed,
    reused,
    several_applications,
    without_link,
)


def names_on_path(problem: Problem, plan: Plan, application: int | None = None) -> list[str]:
    situation = situation_of(problem, plan)
    assert situation is not None
    return [problem.instances.names[number] for number in critical_path(situation, application)]


def test_the_slowest_way_is_found() -> None:
    """Of two operators with two instances each, the one with more work and the instance that is far away."""
    assert names_on_path(*diamond()) == ["diamond/source", "diamond/slow#1", "diamond/sink"]


def test_its_length_is_the_response_time() -> None:
    """Work and delays along the path sum up to the metric."""
    problem, plan = large()
    situation = situation_of(problem, plan)
    assert situation is not None
    path = critical_path(situation)
    nodes = situation.node_of[path]
    work = (problem.instances.work_ms[path] / problem.network.speed[nodes]).sum()
    delays = problem.network.table.delay_ms[nodes[:-1], nodes[1:]].sum()
    assert work + delays == pytest.approx(evaluate(problem, plan).metrics["response_time_ms"])


def test_every_application_has_its_own() -> None:
    """The path of all is that of the slowest application."""
    problem, plan = several_applications()
    paths = [names_on_path(problem, plan, number) for number in range(3)]
    assert [path[0].split("/")[0] for path in paths] == ["one", "two", "lonely"]
    assert names_on_path(problem, plan) in paths


def test_paths_go_through_what_is_reused() -> None:
    """The second application's path begins at the operator that reads for both."""
    assert names_on_path(*reused(), application=1) == ["first/read", "first/tag", "second/show"]


@pytest.mark.parametrize("make", [incomplete, without_link, nothing_placed])
def test_there_is_none_where_there_is_no_response_time(make: object) -> None:
    """An instance without a node, or a link that is missing."""
    assert callable(make)
    assert names_on_path(*make()) == []
