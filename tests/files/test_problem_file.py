"""What a problem file becomes."""

from pathlib import Path

import numpy as np
import pytest

from berth.files import load, problem_from
from berth.model import Apart, Containers, DataObject, Link, Read, Stream, Together, Where
from tests.files.documents import GONE, problem_document, put

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_load(file: Path) -> None:
    """Every example is a valid problem that has its file's name."""
    assert load(file).name == file.stem


def test_every_field_arrives() -> None:
    """Fields are where the model has them."""
    problem = problem_from(problem_document())
    rome, paris, store = problem.network.nodes
    assert (rome.capacity, rome.speed, rome.coordinates) == ({"cpu": 4, "memory": 8.0e9}, 1.5, (1.0, -2.0))
    assert (paris.hosts, paris.speed, paris.availability, paris.nic_bytes_per_s) == (True, 1.0, 1.0, np.inf)
    assert (store.hosts, store.holds) == (False, {"camera"})
    assert problem.network.links[2] == Link("store", "paris", 7)
    assert problem.network.headroom == 0.1
    assert problem.objects == (DataObject("camera", 5.0e6),)
    first, second = problem.applications
    assert first.rules == (
        Together(("tag", "count")),
        Apart(("tag",), "zone"),
        Where({"zone": "south"}, ("source",)),
    )
    assert first.containers == Containers(3, {"cpu": 1})
    assert first.operators[0].candidates == ("rome",)
    assert first.operators[1].candidates == ("rome", "paris")
    assert first.operators[2].candidates is None
    assert first.streams == (Stream("source", "tag", 900, "all"), Stream("tag", "count"))
    assert second.operators[0].reads == (Read("camera", 0.5),)
    assert second.throughput_per_s is None
    assert problem.objective == {"response_time": 1.0, "availability": 0.5}
    assert problem.objective_bounds == {"response_time": (10.0, 90.0)}


def test_defaults() -> None:
    """Without an objective the response time counts, and sharing is on."""
    document = problem_document()
    for key in ("objective", "objective_bounds", "objective_scale", "sharing"):
        put(document, key, GONE)
    problem = problem_from(document)
    assert problem.objective == {"response_time": 1.0}
    assert problem.objective_scale == "normalised"
    assert problem.sharing


def test_weights_of_zero_say_nothing() -> None:
    """A weight of 0 is as good as none, even on a metric that can't be known here."""
    document = problem_document()
    put(document, "objective.traffic", 0)
    assert list(problem_from(document).objective) == ["response_time", "availability"]


@pytest.mark.parametrize(("here", "there"), [(1, "1"), (True, "true"), ("1.5", 1.5)])
def test_labels_are_compared_as_text(here: object, there: object) -> None:
    """A zone 1 is a zone '1', however the two places write it."""
    document = problem_document()
    put(document, "network.nodes[0].labels.zone", here)
    put(document, "applications[0].rules[2].where.zone", there)
    graph = problem_from(document).instances
    assert graph.allowed_nodes[0].tolist() == [0]


def test_whole_numbers_as_floats() -> None:
    """2.0 instances are two."""
    document = problem_document()
    put(document, "applications[0].operators[1].parallelism", 2.0)
    assert problem_from(document).instances.names[1:3] == ["first/tag#0", "first/tag#1"]


@pytest.mark.parametrize(
    "application",
    [{"name": "a", "operators": [{"name": "b"}]}, {"name": "a", "operators": [{"name": "b"}], "streams": []}],
)
def test_an_application_of_one_operator(application: dict[str, object]) -> None:
    """One operator without streams is an application."""
    document = problem_document()
    put(document, "applications[1]", application)
    assert problem_from(document).instances.names[-1] == "a/b"


def test_a_link_may_leave_its_delay_to_others() -> None:
    """To the coordinates of its ends, or to the matrix."""
    document = problem_document()
    put(document, "network.links[0].delay_ms", GONE)
    assert problem_from(document).network.table.delay_ms[0, 1] == pytest.approx(5.5)
    put(document, "network.delay_ms", [[0, 9, 9], [9, 0, 9], [9, 9, 0]])
    put(document, "network.links[1].delay_ms", GONE)
    table = problem_from(document).network.table
    assert table.delay_ms[0].tolist() == [0, 9, 9]
    assert table.cost[0].tolist() == [0, 3, 9]
