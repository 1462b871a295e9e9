"""Telemetry that calls things by other names than the problem does."""

import json
from pathlib import Path

import pytest

from berth.files.names_file import Names
from berth.model import BadInput
from berth.pipeline.feeds import FEEDS
from berth.pipeline.ingest.records import read_lines
from berth.pipeline.ingest.renaming import renamed
from berth.spark import SparkSession
from tests.pipeline.telemetry import (
    Entry,
    heartbeat,
    operator,
    probe,
    run_ingest,
    stream,
    write_feed,
    write_lines,
)


def named(spark: SparkSession, folder: Path, feed: str, record: Entry, names: Names) -> Entry:
    """A record with the problem's names."""
    (which,) = (each for each in FEEDS if each.name == feed)
    write_lines(folder / "line.jsonl", [record])
    (row,) = renamed(read_lines(spark, which, [str(folder / "line.jsonl")]), which, names).collect()
    return {name: row[name] for name in record}


def test_nodes(spark: SparkSession, tmp_path: Path) -> None:
    """Both ends of a probe at once, also where names are swapped; those that nobody renames stay."""
    names = Names(nodes={"rome": "paris", "paris": "rome", "it's": "7"})
    found = named(spark, tmp_path, "probes", probe(), names)
    assert (found["from"], found["to"]) == ("paris", "rome")
    assert named(spark, tmp_path, "heartbeats", heartbeat(node="it's"), names)["node"] == "7"
    assert named(spark, tmp_path, "heartbeats", heartbeat(node="other"), names)["node"] == "other"


def test_operators(spark: SparkSession, tmp_path: Path) -> None:
    """A name for one application comes before one for all; instances follow their operators."""
    names = Names(operators={"Map": "split", "app/Map": "join", "old/Map": "app/split"})
    ends = ("application", "from", "to")
    of = {"from": "source", "to": "Map"}
    assert [named(spark, tmp_path, "streams", stream(**of), names)[key] for key in ends] == [
        "app",
        "source",
        "join",
    ]
    other = stream(application="other", **of)
    assert [named(spark, tmp_path, "streams", other, names)[key] for key in ends] == [
        "other",
        "source",
        "split",
    ]
    old = stream(application="old", **of)
    assert [named(spark, tmp_path, "streams", old, names)[key] for key in ends] == ["app", "source", "split"]
    found = named(
        spark, tmp_path, "operators", operator(application="old", operator="Map", instance="Map#2"), names
    )
    assert (found["application"], found["operator"], found["instance"]) == ("app", "split", "split#2")


def test_instances(spark: SparkSession, tmp_path: Path) -> None:
    """One that has a name of its own tells its operator and, where that is in the name, its application."""
    names = Names(instances={"worker-3": "app/split#1"}, operators={"Join": "join"})
    record = operator(application="job-17", operator="tasks", instance="worker-3")
    found = named(spark, tmp_path, "operators", record, names)
    assert (found["application"], found["operator"], found["instance"]) == ("app", "split", "split#1")
    joined = named(spark, tmp_path, "operators", operator(operator="Join", instance="Join"), names)
    assert (joined["operator"], joined["instance"]) == ("join", "join")


def test_ingest(spark: SparkSession, tmp_path: Path) -> None:
    """The tables and the problem have the problem's names, the quarantine what the record was."""
    feed = {
        "probes": [probe(**{"from": "a", "to": "b"}), probe(**{"from": "a", "to": "c"})],
        "operators": [operator(operator="Flat", instance="Flat#1", node="a")],
        "streams": [stream(to="Flat")],
    }
    write_feed(tmp_path / "telemetry", feed)
    names = tmp_path / "names.yaml"
    names.write_text("nodes: {a: rome, b: paris}\noperators: {Flat: split}\n")
    result = run_ingest(spark, tmp_path / "telemetry", tmp_path / "out", names=names)
    assert list(result.links()) == [("rome", "paris")]
    assert list(result.operators()) == [("app", "split")]
    assert list(result.streams()) == [("app", "source", "split")]
    ((_, _, record, reason),) = result.quarantine()
    assert (json.loads(str(record))["from"], reason) == ("a", "to: unknown node")
    names.write_text("a: roma")
    with pytest.raises(BadInput, match="no node or operator or instance named 'roma'"):
        run_ingest(spark, tmp_path / "telemetry", tmp_path / "out", names=names)
