from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from berth.files import problem_from
from berth.model import BadInput
from berth.runtime.control.wanted import load_wanted

DOCUMENT: dict[str, Any] = {
    "format": "berth/v1",
    "name": "unknown",
    "network": {
        "nodes": [{"name": "rome"}, {"name": "paris"}],
        "links": [{"from": "rome", "to": "paris", "delay_ms": 3}],
    },
    "applications": [
        {
            "name": "app",
            "operators": [{"name": "source"}, {"name": "sink"}],
            "streams": [{"from": "source", "to": "sink"}],
        }
    ],
}


def written(folder: Path, **more: Any) -> Path:
    path = folder / "problem.json"
    path.write_text(json.dumps({**DOCUMENT, **more}))
    return path


def test_an_objective_may_wait_for_rates(tmp_path: Path) -> None:
    """The problem wants it, and its document can be loaded without it."""
    objective = {"network_usage": 2.0, "response_time": 1.0}
    path = written(tmp_path, objective=objective, objective_scale="raw")
    with pytest.raises(BadInput, match="has no rate"):
        problem_from(json.loads(path.read_text()))
    wanted = load_wanted(path)
    assert wanted.problem.objective == objective
    assert wanted.problem.objective_scale == "raw"
    assert problem_from(wanted.document).objective == {"response_time": 1.0}
    assert "bytes_per_s" not in wanted.document["applications"][0]["streams"][0]


def test_known_rates_are_as_anywhere(tmp_path: Path) -> None:
    """Nothing has to wait then."""
    assert load_wanted(written(tmp_path)).problem.objective == {"response_time": 1.0}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"objective": {"processing_power": 1.0}}, "has no throughput_per_s"),
        ({"objective": {"netwrok_usage": 1.0}}, "netwrok_usage"),
        ({"objective": {"network_usage": 1.0}, "name": 3}, "name"),
        ({"objective": {"network_usage": 1.0}, "network": {}}, "nodes"),
        ({"objective": [1]}, "objective"),
    ],
)
def test_what_rates_would_not_cure_is_refused(tmp_path: Path, more: dict[str, Any], line: str) -> None:
    """With the lines of the file as it is."""
    with pytest.raises(BadInput, match=line):
        load_wanted(written(tmp_path, **more))


def test_no_mapping_at_all(tmp_path: Path) -> None:
    """A list is no problem."""
    (tmp_path / "problem.json").write_text("[]")
    with pytest.raises(BadInput):
        load_wanted(tmp_path / "problem.json")
