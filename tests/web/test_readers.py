"""Files are read in processes of their own: what takes too much costs such a process, and nothing else."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from starlette.testclient import TestClient

from berth.web.answers import Refused
from berth.web.readers import Readers, _Lane
from berth.web.reading import TIRED_BYTES, read_problem
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

SLOW = b"name: [" + b"[]," * 1_000_000 + b"]"
"""Four seconds of a processor, about."""
LARGE = b'{"name": [' + (b"[" * 10 + b"]" * 10 + b",") * 1_500_000 + b"0]}"
"""15 million lists: more than a gibibyte."""


@pytest.fixture
def lane() -> Iterator[_Lane]:
    made = _Lane(1, most_inside=3)
    yield made
    made.end()


def process_of(lane: _Lane) -> int:
    (reader,) = lane._running
    return reader._child.pid


def test_a_process_reads_one_file_after_the_other(lane: _Lane) -> None:
    """Problems and plans, right ones and wrong ones."""
    first = lane.read("problem", PROBLEM.encode(), "p.yaml", 2)
    assert first.result.name == "small"
    process = process_of(lane)
    wrong = lane.read("problem", PROBLEM.replace("to: sink", "to: snik").encode(), "p.yaml", 2)
    assert (wrong.result, wrong.count, wrong.mistakes[0].line) == (None, 1, 20)
    assert not wrong.beyond_limits
    plan = lane.read("plan", b'{"assignment": {"app/source": "rome"}}', "p.json", 2)
    assert plan.result.assignment == {"app/source": "rome"}
    assert process_of(lane) == process


def test_values_come_back_as_json(lane: _Lane) -> None:
    """The service never has those of a draft in its hands, only what it calls itself."""
    read = lane.read("problem", b"name: draft\nformat: [1]\nsizes: [.inf, [], {a: 0x10}]\n", "p.yaml", 2)
    assert (read.result, read.name, read.format) == (None, "draft", None)
    assert json.loads(read.data) == {"name": "draft", "format": [1], "sizes": [None, [], {"a": 16}]}
    assert lane.read("problem", b"name: [", "p.yaml", 2).data == b""


def test_the_size_of_the_service_is_not_the_reader_s(lane: _Lane) -> None:
    """A process takes over the most memory that its parent has had: that doesn't make it tired."""
    ballast = bytearray(TIRED_BYTES + 2**26)
    ballast[::4096] = b"x" * len(ballast[::4096])
    lane.read("problem", PROBLEM.encode(), "p.yaml", 2)
    process = process_of(lane)
    lane.read("problem", PROBLEM.encode(), "p.yaml", 2)
    assert process_of(lane) == process
    assert len(ballast) > TIRED_BYTES


def test_what_takes_too_long(lane: _Lane) -> None:
    """It is ended, and the next file gets a new process."""
    read = lane.read("problem", SLOW, "p.yaml", 1)
    assert read.beyond_limits
    assert [each.message for each in read.mistakes] == ["reading it takes more than 1 s; use the commands"]
    assert lane.read("problem", PROBLEM.encode(), "p.yaml", 2).result is not None


def test_what_takes_too_much_memory() -> None:
    """The same."""
    readers = Readers()
    try:
        read = readers.read("problem", LARGE, "p.json")
        assert read.beyond_limits
        words = "reading it takes more than 1024 MiB of memory; use the commands"
        assert [each.message for each in read.mistakes] == [words]
        assert readers.read("problem", PROBLEM.encode(), "p.yaml").result is not None
    finally:
        readers.end()


def test_a_process_that_stands_still(lane: _Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, too, long before its time is over: others wait for it."""
    lane.read("problem", PROBLEM.encode(), "p.yaml", 2)
    os.kill(process_of(lane), signal.SIGSTOP)
    monkeypatch.setattr("berth.web.readers.STUCK_SECONDS", 1.0)
    assert lane.read("problem", PROBLEM.encode(), "p.yaml", 10_000).beyond_limits
    assert lane.read("problem", PROBLEM.encode(), "p.yaml", 2).result is not None


def test_a_small_file_stays_small() -> None:
    """Answers have all aliases written out: a kilobyte must not become megabytes there."""
    few = "format: berth/v1\na: &a [" + "x, " * 200 + "x]\nb: &b [" + "*a, " * 50 + "*a]\n"
    assert "aliases" not in read_problem(few.encode(), "p.yaml").mistakes[0].message
    many = few + "c: [" + "*b, " * 60 + "*b]\n"
    assert "aliases" in read_problem(many.encode(), "p.yaml").mistakes[0].message


def test_a_process_that_dies_meanwhile(lane: _Lane) -> None:
    """Nobody pays for what happened before."""
    lane.read("problem", PROBLEM.encode(), "p.yaml", 2)
    dead = process_of(lane)
    os.kill(dead, signal.SIGKILL)
    assert lane.read("problem", PROBLEM.encode(), "p.yaml", 2).result is not None
    assert process_of(lane) != dead


def test_when_too_many_files_are_read() -> None:
    """Whoever comes then is told to come back."""
    with pytest.raises(Refused) as refused:
        _Lane(1, most_inside=0).read("problem", b"", "p.yaml", 2)
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "5"})


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their file isn't read any more: they are gone, or have asked again."""
    monkeypatch.setattr("berth.web.readers.PATIENCE_SECONDS", 0.0)
    lane = _Lane(1, most_inside=3)
    monkeypatch.setattr(lane._threads, "submit", lambda *_: Future())
    with pytest.raises(Refused, match="too many files are being read"):
        lane.read("problem", b"", "p.yaml", 2)


def test_over_rest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limits is refused, also as a draft; one that is there is listed with its mistake."""
    monkeypatch.setattr("berth.web.readers.SMALL_BYTES", 10**9)
    monkeypatch.setattr("berth.web.readers.SECONDS", 0)
    for draft in (False, True):
        answer = client.post(f"{API}/problems", content=b"format: berth/v1\n" + SLOW, params={"draft": draft})
        assert answer.status_code == 422
        assert "reading it takes more than 0 s" in answer.json()["mistakes"][0]["message"]
    assert [each["id"] for each in client.get(f"{API}/problems").json()] == ["small.yaml"]
    plan = {"problem": "small.yaml", "assignment": ASSIGNMENT}
    assert client.post(f"{API}/plans", json=plan).status_code == 201
