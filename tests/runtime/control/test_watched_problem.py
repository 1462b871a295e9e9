"""The problem of a watch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berth.evaluation import evaluate
from berth.files import problem_from
from berth.model import Application, BadInput, Operator, Plan, Stream
from berth.runtime.control.watched_problem import (
    document_to_measure,
    homeless_operators,
    kept_operators,
    load_watched,
    source_rate,
    unmeasured_streams,
    waits_for_rates,
    with_operators_kept,
    with_state,
    with_wishes_of,
    without_nodes,
)

from .situations import chain, with_objective, work_on


def test_dead_nodes_host_nothing() -> None:
    """Neither operators nor data; the others stay as they are."""
    alive = without_nodes(chain(), {"oslo"})
    assert [node.hosts for node in alive.network.nodes] == [True, True, False]
    assert homeless_operators(alive) == {"app/sink": ("oslo",)}


def test_state_is_spread_over_instances() -> None:
    """What a run tells is of the whole operator, what a problem says is of each instance."""
    problem = with_state(chain(work={"parallelism": 4}), "app", {"work": 1000.0, "unknown": 3.0})
    assert [operator.state_bytes for operator in problem.applications[0].operators] == [0.0, 250.0, 0.0]
    assert with_state(problem, "other", {"work": 9.0}).applications[0].operators[1].state_bytes == 250.0


def test_kept_operators_have_no_choice() -> None:
    """They stay on the nodes of their instances that are alive."""
    problem = chain(work={"parallelism": 3})
    plan = Plan({**work_on("paris", problem).assignment, "app/work#2": "oslo"})
    kept = with_operators_kept(problem, plan, {"app/work"})
    assert kept.applications[0].operators[1].candidates == ("paris", "oslo")
    dead = with_operators_kept(without_nodes(problem, {"oslo"}), plan, {"app/work"})
    assert dead.applications[0].operators[1].candidates == ("paris",)
    gone = with_operators_kept(without_nodes(problem, {"oslo", "paris"}), plan, {"app/work"})
    assert gone.applications[0].operators[1].candidates is None


def test_frozen_names_are_checked() -> None:
    """With or without the application's name; what is none gets a suggestion."""
    problem = chain()
    assert kept_operators(problem, {"work"}, "app") == {"app/work"}
    assert kept_operators(problem, {"app/work"}, "app") == {"app/work"}
    with pytest.raises(BadInput, match=r"--freeze: no operator named 'wrok'; did you mean 'work'\?"):
        kept_operators(problem, {"wrok"}, "app")


def test_other_applications_are_not_moved() -> None:
    """Nobody runs them here."""
    other = Application("other", (Operator("only"),))
    problem = replace(chain(), applications=(*chain().applications, other))
    assert kept_operators(problem, (), "app") == {"other/only"}
    assert kept_operators(problem, (), None) == frozenset()


def test_rates_of_sources() -> None:
    """A source with two consumers sends its output to both, and counts once; unknown rates are told."""
    problem = chain()
    assert source_rate(problem, "app") == 1000.0
    application = problem.applications[0]
    streams = (*application.streams, Stream("source", "sink"))
    both = replace(problem, applications=(replace(application, streams=streams),))
    assert source_rate(both, "app") == 1000.0
    assert source_rate(problem, "other") is None
    unknown = chain(rate=None)
    assert source_rate(unknown, "app") is None
    assert unmeasured_streams(unknown) == ["app/source -> work", "app/work -> sink"]
    assert unmeasured_streams(problem) == ["app/source -> work", "app/work -> sink"]
    sized = tuple(replace(stream, tuple_bytes=10.0) for stream in application.streams)
    assert unmeasured_streams(replace(problem, applications=(replace(application, streams=sized),))) == []


def test_which_objectives_wait_for_rates() -> None:
    """Those that rates would cure, and no others."""
    unknown = chain(rate=None)
    assert not waits_for_rates(unknown)
    assert waits_for_rates(with_objective(unknown, network_usage=1.0))
    assert not waits_for_rates(with_objective(chain(), network_usage=1.0))
    assert not waits_for_rates(with_objective(unknown, processing_power=1.0))
    assert waits_for_rates(with_objective(chain(), utilisation_max=1.0))


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
    wanted = load_watched(path)
    assert wanted.objective == objective
    assert wanted.objective_scale == "raw"
    document = document_to_measure(wanted)
    assert problem_from(document).objective == {"response_time": 1.0}
    assert "bytes_per_s" not in document["applications"][0]["streams"][0]


def test_a_limit_of_utilisation_may_wait_for_loads(tmp_path: Path) -> None:
    """It is wished from the start, binds what is known, and holds for what was measured."""
    network = {**DOCUMENT["network"], "max_utilisation": 0.5}
    applications = json.loads(json.dumps(DOCUMENT["applications"]))
    applications[0]["operators"][1]["work_ms"] = 10
    path = written(tmp_path, network=network, applications=applications)
    with pytest.raises(BadInput, match="max_utilisation"):
        problem_from(json.loads(path.read_text()))
    wanted = load_watched(path)
    assert wanted.network.max_utilisation == 0.5
    plan = Plan({"app/source": "rome", "app/sink": "paris"})
    assert evaluate(wanted, plan).violations == ()
    document = document_to_measure(wanted)
    assert "max_utilisation" not in document["network"]
    document["applications"][0]["streams"][0] |= {"bytes_per_s": 6000, "tuple_bytes": 100}
    measured = with_wishes_of(wanted, problem_from(document))
    (line,) = evaluate(measured, plan).violations
    assert line.startswith("node paris: 0.6 processors needed, 0.5 there")


def test_known_rates_are_as_anywhere(tmp_path: Path) -> None:
    """Nothing has to wait then."""
    assert load_watched(written(tmp_path)).objective == {"response_time": 1.0}


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
        load_watched(written(tmp_path, **more))


def test_no_mapping_at_all(tmp_path: Path) -> None:
    """A list is no problem."""
    (tmp_path / "problem.json").write_text("[]")
    with pytest.raises(BadInput):
        load_watched(tmp_path / "problem.json")
