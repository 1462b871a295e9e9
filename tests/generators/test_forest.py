"""Forests of operator trees, as in paper 004."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import berth
from berth.files import problem_document, problem_from
from berth.model import BadInput, Problem


@pytest.fixture(scope="module")
def problem() -> Problem:
    return berth.generate("forest", seed=3)


def test_platform_is_that_of_the_paper(problem: Problem) -> None:
    """30 processors, speeds and cards U[50, 180], links U[60, 100] MB/s, constraints (2) and (4)."""
    network = problem.network
    assert len(network.nodes) == 30
    assert network.one_port
    assert network.duplex == "half"
    for values, low, high in (
        (network.speed, 50, 180),
        (network.nic_bytes_per_s / 1e6, 50, 180),
        (network.matrices["bandwidth_bytes_per_s"][~np.eye(30, dtype=bool)] / 1e6, 60, 100),
    ):
        assert values.min() >= low
        assert values.max() <= high
        assert np.ptp(values) > 0.7 * (high - low)
    links = network.matrices["bandwidth_bytes_per_s"]
    assert np.array_equal(links, links.T, equal_nan=True)


def test_applications_are_those_of_the_paper(problem: Problem) -> None:
    """Five binary trees of at most 50 operators over 10 objects; every bound of section 6.1."""
    assert len(problem.applications) == 5
    assert [3e6 <= item.bytes <= 13e6 for item in problem.objects] == [True] * 10
    for application in problem.applications:
        assert 25 <= len(application.operators) <= 50
        assert application.throughput_per_s is not None
        assert 1 <= application.throughput_per_s <= 2
        frequencies: dict[str, set[float]] = {}
        for operator in application.operators:
            inputs = sum(stream.receiver == operator.name for stream in application.streams)
            assert inputs + len(operator.reads) in ((1, 2) if inputs < 2 else (2,))
            assert 500 <= operator.work_ms <= 1500
            assert operator.output_bytes is not None
            assert 0.5e6 <= operator.output_bytes <= 1.5e6
            for read in operator.reads:
                assert 0 < read.per_s <= 1
                frequencies.setdefault(read.object, set()).add(read.per_s)
        assert all(len(values) == 1 for values in frequencies.values())


def test_trees_are_trees(problem: Problem) -> None:
    """Every operator but the root has one consumer, and all lead to the root."""
    for application in problem.applications:
        parents = {stream.sender: stream.receiver for stream in application.streams}
        assert len(parents) == len(application.streams) == len(application.operators) - 1
        for operator in application.operators:
            above = operator.name
            while above in parents:
                above = parents[above]
            assert above == "n0"


def test_every_object_has_its_replicas() -> None:
    """Three holders each; all processors where there are fewer."""
    for processors, holders in ((30, 3), (2, 2)):
        network = berth.generate("forest", seed=1, processors=processors).network
        assert [len(network.holders[f"object{k}"]) for k in range(10)] == [holders] * 10


def test_equal_structure_is_an_equal_type(problem: Problem) -> None:
    """Types are what the judge finds equal, and some are in several applications."""
    classes = problem.sharing_keys.classes.tolist()
    types = [item.operator.type for item in problem.instances.operators]
    assert len(set(zip(classes, types, strict=True))) == len(set(classes)) == len(set(types)) < len(types)
    owners: dict[str | None, set[int]] = {}
    for item in problem.instances.operators:
        owners.setdefault(item.operator.type, set()).add(item.application)
    assert any(len(applications) > 1 for applications in owners.values())


def test_trees_are_alike_as_asked_for() -> None:
    """The more likely subtrees come again, the fewer operators are told apart; at 0 little but leaves is."""
    kinds = []
    for alike in (0.0, 0.6, 1.0):
        applications = berth.generate("forest", seed=5, alike=alike, least_operators=50).applications
        assert [len(application.operators) for application in applications] == [50] * 5
        kinds.append(len({o.type for a in applications for o in a.operators}))
    assert kinds[0] > 150
    assert kinds[0] / 2 > kinds[1] > kinds[2]
    assert kinds[2] <= 50  # equal sizes: the same tree five times


def test_more_functions_make_fewer_equal_operators() -> None:
    """What operators do tells them apart, too."""
    kinds = [
        len({o.type for a in berth.generate("forest", functions=n).applications for o in a.operators})
        for n in (1, 100)
    ]
    assert kinds[0] < kinds[1]


@pytest.mark.parametrize("differing", [0, 1, 7, 20])
def test_as_many_operators_differ_as_asked_for(differing: int) -> None:
    """X4.5: the applications are one tree, of which some operators compute something else."""
    problem = berth.generate(
        "forest",
        seed=2,
        applications=3,
        processors=10,
        most_operators=20,
        least_operators=20,
        differing=differing,
    )
    types = [{operator.type for operator in application.operators} for application in problem.applications]
    for one, other in itertools.product(range(3), (1, 2)):
        if one == other:
            continue
        new = [o for o in problem.applications[other].operators if o.type not in types[one]]
        assert len(new) == differing


def test_ratio_of_communication_and_computation() -> None:
    """X4.4: results of CCR times the work, which is small."""
    for application in berth.generate("forest", ccr=60).applications:
        for operator in application.operators:
            assert 25 <= operator.work_ms <= 75
            assert operator.output_bytes == pytest.approx(60 * operator.work_ms / 1000 * 1e6)


def test_a_plan_on_few_processors_is_found() -> None:
    """It is a problem that policies answer."""
    problem = berth.generate("forest", processors=2, applications=1, most_operators=3)
    plan = berth.solve(problem, "odp", time_limit=20.0)
    assert plan.status in ("optimal", "feasible")
    assert plan.violations == ()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"alike": 1.5}, "--set alike: 1.5 is above 1"),
        ({"processors": 0}, "--set processors: 0 is below 1"),
        ({"least_speed": "200"}, "--set least_speed: 200.0 is above most_speed (180.0)"),
        ({"least_speed": "nan"}, "--set least_speed: nan is no number"),
        ({"differing": 51}, "--set differing: 51 is above most_operators (50)"),
        ({"least_operators": 51}, "--set least_operators: 51 is above most_operators (50)"),
        ({"processors": "many"}, "--set processors: expected a whole number, found 'many'"),
        ({"prozessors": 3}, "--set prozessors: kind forest has no parameter"),
    ],
)
def test_nonsense_is_refused(given: dict[str, object], line: str) -> None:
    """One line that names the parameter and its value."""
    with pytest.raises(BadInput) as error:
        berth.generate("forest", **given)  # type: ignore[arg-type]
    assert error.value.mistakes[0].startswith(line)


def test_reads_as_it_was_made(problem: Problem) -> None:
    """Written and read, it is the same problem, and it has no mistakes."""
    document = problem_document(problem)
    again = problem_from(document)
    assert problem_document(again) == document
    assert again.applications == problem.applications
    assert again.network.nodes == problem.network.nodes
