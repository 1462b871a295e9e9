"""What a problem file becomes, and a problem written as one."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berth.files import load, problem_document, problem_from
from berth.files.document import read_document
from berth.files.problem_file import with_coordinates
from berth.model import (
    Apart,
    Application,
    Containers,
    DataObject,
    Link,
    Network,
    Node,
    Operator,
    Problem,
    Read,
    Spread,
    Stream,
    Together,
    Where,
)
from tests.files import documents
from tests.files.documents import GONE, put
from tests.generators.test_generate import same

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_load(file: Path) -> None:
    """Every example is a valid problem that has its file's name."""
    assert load(file).name == file.stem


def test_every_field_arrives() -> None:
    """Fields are where the model has them."""
    problem = problem_from(documents.problem_document())
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
        Spread(("tag", "count"), 3, "zone"),
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
    document = documents.problem_document()
    for key in ("objective", "objective_bounds", "objective_scale", "sharing"):
        put(document, key, GONE)
    problem = problem_from(document)
    assert problem.objective == {"response_time": 1.0}
    assert problem.objective_scale == "normalised"
    assert problem.sharing


def test_weights_of_zero_say_nothing() -> None:
    """A weight of 0 is as good as none, even on a metric that can't be known here."""
    document = documents.problem_document()
    put(document, "objective.traffic", 0)
    assert list(problem_from(document).objective) == ["response_time", "availability"]


@pytest.mark.parametrize(("here", "there"), [(1, "1"), (True, "true"), ("1.5", 1.5)])
def test_labels_are_compared_as_text(here: object, there: object) -> None:
    """A zone 1 is a zone '1', however the two places write it."""
    document = documents.problem_document()
    put(document, "network.nodes[0].labels.zone", here)
    put(document, "applications[0].rules[2].where.zone", there)
    graph = problem_from(document).instances
    assert graph.allowed_nodes[0].tolist() == [0]


def test_whole_numbers_as_floats() -> None:
    """2.0 instances are two."""
    document = documents.problem_document()
    put(document, "applications[0].operators[1].parallelism", 2.0)
    put(document, "applications[0].rules", [{"spread": ["tag"], "most": 1.0}])
    problem = problem_from(document)
    assert problem.instances.names[1:3] == ["first/tag#0", "first/tag#1"]
    assert repr(problem.applications[0].rules) == "(Spread(operators=('tag',), most=1, by=None),)"


@pytest.mark.parametrize(
    "application",
    [{"name": "a", "operators": [{"name": "b"}]}, {"name": "a", "operators": [{"name": "b"}], "streams": []}],
)
def test_an_application_of_one_operator(application: dict[str, object]) -> None:
    """One operator without streams is an application."""
    document = documents.problem_document()
    put(document, "applications[1]", application)
    assert problem_from(document).instances.names[-1] == "a/b"


def test_a_link_may_leave_its_delay_to_others() -> None:
    """To the coordinates of its ends, or to the matrix."""
    document = documents.problem_document()
    put(document, "network.links[0].delay_ms", GONE)
    assert problem_from(document).network.table.delay_ms[0, 1] == pytest.approx(5.5)
    put(document, "network.delay_ms", [[0, 9, 9], [9, 0, 9], [9, 9, 0]])
    put(document, "network.links[1].delay_ms", GONE)
    table = problem_from(document).network.table
    assert table.delay_ms[0].tolist() == [0, 9, 9]
    assert table.cost[0].tolist() == [0, 3, 9]


@pytest.mark.parametrize("name", ["edge-cameras", "edge-pipeline", "tag-and-count", "two-source-join"])
def test_examples_stay_what_they_are(name: str) -> None:
    """Read, written and read again."""
    problem = problem_from(read_document(FOLDER / f"{name}.yaml"))
    assert same(problem_from(problem_document(problem)), problem)


def test_every_field_is_written() -> None:
    """A problem with everything that differs from its default."""
    node = Node(
        "one",
        capacity={"cpu": 4},
        speed=2.0,
        availability=0.9,
        run_queue=1.0,
        nic_bytes_per_s=1e8,
        cost_per_hour=0.5,
        carbon_g_per_hour=30.0,
        coordinates=(1.0, 2.0),
        height_ms=0.5,
        holds=frozenset({"b", "a"}),
        labels={"zone": "x"},
    )
    network = Network(
        (node, Node("two", capacity={"cpu": 4}, labels={"zone": "y"}), Node("three", hosts=False)),
        links=(Link("one", "two", 3.0, 0.9, 1e6, 2.0, 0.1), Link("one", "three", delay_ms=1.0)),
        matrices={"delay_ms": np.array([[0.0, np.nan, 1.0], [2.0, 0.0, 3.0], [np.nan, 4.0, 0.0]])},
        symmetric=False,
        routing="shortest_path",
        duplex="half",
        one_port=True,
        headroom=0.1,
    )
    operators = (
        Operator("s", candidates=("one",), emits_bytes_per_s=5.0, state_bytes=7.0),
        Operator(
            "t",
            candidates=("one", "two"),
            demand={"cpu": 1},
            work_ms=2.0,
            parallelism=2,
            selectivity=0.5,
            output_bytes=9.0,
            type="tag",
            reads=(Read("a", 0.5),),
            placement_cost={"one": 2.5},
        ),
    )
    application = Application(
        "app",
        operators,
        (Stream("s", "t", 10.0, "all"),),
        throughput_per_s=1.0,
        max_response_time_ms=100.0,
        min_availability=0.5,
        containers=Containers(2, {"cpu": 2}),
        rules=(
            Together(("s", "t")),
            Apart(("t",), "zone"),
            Apart(("t",)),
            Where({"zone": "x"}, ("s",)),
            Spread(("t",), 2),
        ),
    )
    problem = Problem(
        "whole",
        network,
        (application,),
        objects=(DataObject("a", 1.0), DataObject("b", 2.0)),
        sharing=False,
        objective={"response_time": 1.0, "traffic": 2.0},
        objective_scale="raw",
        objective_bounds={"traffic": (0.0, 9.0)},
    )
    document = problem_document(problem)
    assert same(problem_from(document), problem)
    assert document["network"]["nodes"][0]["holds"] == ["a", "b"]
    assert document["network"]["nodes"][2] == {"name": "three", "hosts": False}


BARE_NODES = [
    {"name": "a", "speed": 2},
    {"name": "b", "coordinates": [9, 9, 9], "height_ms": 4},
    {"name": "c"},
]
BARE: dict[str, Any] = {
    "name": "p",
    "network": {"nodes": BARE_NODES, "links": []},
    "objective": {"traffic": 1},
}
POSITIONS = np.array([[1.00001, 2.0], [3.123456, 4.0], [5.0, 6.0]])


def test_only_coordinates_change() -> None:
    """Old coordinates and heights go, as they are of another space; all else stays, and the input does."""
    before = copy.deepcopy(BARE)
    changed = with_coordinates(BARE, POSITIONS, None, {2})
    assert before == BARE
    assert changed["network"]["nodes"] == [
        {"name": "a", "speed": 2, "coordinates": [1.0, 2.0]},
        {"name": "b", "coordinates": [3.1235, 4.0]},
        {"name": "c"},
    ]
    assert changed["objective"] == {"traffic": 1}


def test_heights_go_beside() -> None:
    """Rounded as coordinates are."""
    changed = with_coordinates(BARE, POSITIONS, np.array([0.01, 1.23456, 2.0]), set())
    assert [node["height_ms"] for node in changed["network"]["nodes"]] == [0.01, 1.2346, 2.0]
