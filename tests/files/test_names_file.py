"""Files of names: parts or one mapping, and mistakes in them."""

import json
from pathlib import Path
from typing import Any

import pytest

from berth.files import problem_from
from berth.files.names_file import Names, load_names
from berth.model import BadInput, Problem
from tests.pipeline.telemetry import PROBLEM


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_from(PROBLEM)


def read(tmp_path: Path, problem: Problem, document: Any) -> Names:
    (tmp_path / "names.json").write_text(json.dumps(document))
    return load_names(tmp_path / "names.json", problem)


def test_parts(tmp_path: Path, problem: Problem) -> None:
    """Each for names of its kind, with or without the application."""
    parts = {
        "nodes": {"10.0.0.1": "rome"},
        "operators": {"Flat Map": "split", "old/Join": "app/join"},
        "instances": {"worker-3": "app/split#1"},
    }
    assert read(tmp_path, problem, parts) == Names(**parts)


def test_one_mapping_for_all(tmp_path: Path, problem: Problem) -> None:
    """What a name is the name of follows from the problem; an operator with one instance is both."""
    found = read(tmp_path, problem, {"10.0.0.1": "rome", "Join": "join", "worker-3": "split#1"})
    assert found.nodes == {"10.0.0.1": "rome"}
    assert found.operators == {"Join": "join"}
    assert found.instances == {"Join": "join", "worker-3": "split#1"}


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ([], "the file: expected a mapping from names in the telemetry to names in the problem"),
        (
            {"host-1": "roma"},
            "host-1: no node or operator or instance named 'roma'; did you mean 'rome'?",
        ),
        ({"nodes": {"a": "split"}}, "nodes.a: no node named 'split'"),
        ({"nodes": {"a": 7}}, "nodes.a: expected the name of a node, operator or instance, found 7"),
        ({"node": {"a": "rome"}}, "node: no part named 'node'; did you mean 'nodes'?"),
    ],
)
def test_mistakes(tmp_path: Path, problem: Problem, document: Any, line: str) -> None:
    """With the file's name and the path of the field."""
    with pytest.raises(BadInput) as caught:
        read(tmp_path, problem, document)
    assert caught.value.mistakes[0].partition("names.json:")[2].lstrip("0123456789: ").startswith(line)
