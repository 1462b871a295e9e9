"""What is exported and read back is the plan that it was."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies

from berth.connectors import Request, System, evaluate_packing, exported, load_any, write_all
from berth.evaluation import evaluate
from berth.files import plan_from, problem_from
from berth.model import BadInput, Plan, Problem
from tests.oracle.problems import plans, problems

BOTH = Request((System.HERON, System.NOMAD))
NOMAD = Request((System.NOMAD,))
HERON = Request((System.HERON,))
ODD_NAMES = strategies.text("ab.-_\\:,$üé%{}\u0001'\"", min_size=1, max_size=6)


@strategies.composite
def packing_problems(draw: strategies.DrawFn) -> dict[str, Any]:
    """Problems whose applications all have containers."""
    document: dict[str, Any] = draw(problems(rates_known=True, max_nodes=3, max_operators=3))
    for application in document["applications"]:
        application.setdefault("containers", {"count": 3, "capacity": {"cpu": 4}})
    return document


def read_back(problem: Problem, plan: Plan, request: Request) -> Plan:
    with TemporaryDirectory() as folder:
        write_all(exported(problem, plan, request), Path(folder))
        return load_any(problem, [Path(folder)]).plan


def containers_that_count(problem: Problem, plan: Plan) -> dict[str, str]:
    packing = {application.name for application in problem.applications if application.containers}
    return {name: place for name, place in plan.containers.items() if name.partition("/")[0] in packing}


@settings(max_examples=50, deadline=None)
@given(strategies.data())
def test_jobs(data: strategies.DataObject) -> None:
    """Jobs alone hold a plan, whatever it breaks: where everything runs, containers, reuse and downloads."""
    document = data.draw(problems(max_nodes=3))
    problem = problem_from(document)
    plan = plan_from(data.draw(plans(document)))
    back = read_back(problem, plan, NOMAD)
    assert back.assignment == plan.assignment
    assert back.containers == containers_that_count(problem, plan)
    assert (back.reuse, back.skipped) == (plan.reuse, plan.skipped)
    assert set(back.downloads) == set(plan.downloads)


@settings(max_examples=40, deadline=None)
@given(strategies.data())
def test_packing_plans_and_jobs(data: strategies.DataObject) -> None:
    """Together they are the plan, and the judge finds the same; the packing plan alone has its containers."""
    document = data.draw(packing_problems())
    problem = problem_from(document)
    plan = plan_from(data.draw(plans(document, wrong=False)))
    back = read_back(problem, plan, BOTH)
    assert back.assignment == plan.assignment
    assert back.containers == plan.containers
    assert evaluate(problem, back) == evaluate(problem, plan)
    packed = read_back(problem, plan, HERON)
    assert packed.assignment == {}
    assert packed.containers == plan.containers


@settings(max_examples=40, deadline=None)
@given(strategies.data())
def test_packing_plan_alone_is_judged(data: strategies.DataObject) -> None:
    """What is computed of containers is what the judge computes of the whole plan; all else is unknown."""
    document = data.draw(packing_problems())
    problem = problem_from(document)
    plan = plan_from(data.draw(plans(document, wrong=False)))
    assume(not plan.reuse and not plan.skipped)
    whole, packed = (
        evaluate(problem, plan),
        evaluate_packing(problem, replace(plan, assignment={}, downloads=())),
    )
    figures = ("containers_used", "container_traffic_bytes_per_s")
    assert packed.metrics == {key: whole.metrics[key] for key in figures}
    over = [line for line in whole.violations if line.startswith("container ") and "needed" in line]
    unplaced = [f"instance {name}: not placed" for name in problem.instances.names]
    assert list(packed.violations) == unplaced + over


def odd_problem(applications: list[str], nodes: list[str], containers: bool) -> dict[str, Any]:
    operators = [{"name": "in"}, {"name": "in-1"}, {"name": "in_1", "parallelism": 3}]
    extra = {"containers": {"count": 2, "capacity": {}}} if containers else {}
    return {
        "format": "berth/v1",
        "name": "odd",
        "network": {"nodes": [{"name": name} for name in nodes], "links": []},
        "applications": [{"name": name, "operators": operators, **extra} for name in applications],
    }


@settings(max_examples=40, deadline=None)
@given(
    strategies.lists(ODD_NAMES, min_size=1, max_size=3, unique=True),
    strategies.lists(ODD_NAMES, min_size=1, max_size=3, unique=True),
    strategies.booleans(),
    strategies.randoms(use_true_random=False),
)
def test_odd_names(applications: list[str], nodes: list[str], containers: bool, random: Any) -> None:
    """Names that Nomad or a file system would refuse are mapped, no two to the same, and come back."""
    problem = problem_from(odd_problem(applications, nodes, containers))
    assignment = {name: random.choice(nodes) for name in problem.instances.names}
    packing = {name: f"{name.partition('/')[0]}/c{random.randrange(2)}" for name in assignment}
    plan = Plan(assignment=assignment, containers=packing if containers else {})
    documents = exported(problem, plan, NOMAD)
    assert len({written.document["Job"]["ID"] for written in documents.values()}) == len(applications)
    for file, written in documents.items():
        assert "/" not in file
        job = written.document["Job"]
        groups = [group["Name"] for group in job["TaskGroups"]]
        tasks = [task["Name"] for group in job["TaskGroups"] for task in group["Tasks"]]
        assert len(set(groups)) == len(groups)
        for name in (job["ID"], *groups, *tasks):
            assert name
            assert not set(name) & set("/\\ #$%{}\u0001")
    back = read_back(problem, plan, NOMAD)
    assert (back.assignment, back.containers) == (plan.assignment, plan.containers)


def test_several_files(tmp_path: Path) -> None:
    """A folder holds what its files hold; one file of two applications' is half of a plan."""
    problem = problem_from(odd_problem(["a", "b"], ["x"], containers=False))
    plan = Plan(assignment=dict.fromkeys(problem.instances.names, "x"))
    files = write_all(exported(problem, plan, NOMAD), tmp_path / "new")
    assert [file.name for file in files] == ["a.nomad.json", "b.nomad.json"]
    assert load_any(problem, [tmp_path / "new"]).plan.assignment == plan.assignment
    half = load_any(problem, files[:1]).plan
    assert half.assignment == {name: "x" for name in plan.assignment if name.startswith("a/")}
    only = exported(problem, plan, replace(NOMAD, application="b"))
    assert write_all(only, tmp_path / "b.json") == [tmp_path / "b.json"]
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads(files[1].read_text())


def test_where_it_can_not_be_written(tmp_path: Path) -> None:
    """Several files need a folder, and a folder needs one above it."""
    problem = problem_from(odd_problem(["a", "b"], ["x"], containers=False))
    documents = exported(problem, Plan(), NOMAD)
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file", tmp_path / "none" / "deep"):
        with pytest.raises(BadInput, match=target.name):
            write_all(documents, target)
