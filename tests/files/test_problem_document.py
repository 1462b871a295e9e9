"""Problems written as the data of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from berth.files import problem_from
from berth.files.document import read_document
from berth.files.problem_document import problem_document
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
    Stream,
    Together,
    Where,
)
from tests.generators.test_generate import same

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["edge-cameras", "edge-pipeline", "tag-and-count", "two-source-join"])
def test_examples_stay_what_they_are(name: str) -> None:
    """Read, written and read again."""
    problem = problem_from(read_document(EXAMPLES / f"{name}.yaml"))
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
        rules=(Together(("s", "t")), Apart(("t",), "zone"), Apart(("t",)), Where({"zone": "x"}, ("s",))),
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
