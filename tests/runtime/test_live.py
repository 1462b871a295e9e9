"""What a run says of itself while it runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from berth.files.run_folder import NOW_FILE, alive
from berth.runtime import live
from berth.runtime.live import Live
from berth.runtime.run_report import RunTally
from tests.runtime.test_run_report import CHAIN, START, chain, taken


def test_how_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the view, with the keys of the report; not more often than once a second."""
    clock = [10.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    tally = RunTally(chain(), CHAIN, START)
    telling = Live(tally, tmp_path)
    telling.add(taken(1000, 2000))
    now = json.loads((tmp_path / NOW_FILE).read_text())
    report = tally.document()
    assert (now["batches"], now["rows"], now["plan"]) == (1, report["rows"], report["plan"])
    assert now["operators"][0].keys() == report["operators"][0].keys() - {"instances"}
    assert now["latency_ms"].keys() == report["latency_ms"].keys() | {"last"}
    assert now["process"]["pid"] == os.getpid()
    clock[0] += 0.5
    telling.add(taken(2000, 3000))
    assert json.loads((tmp_path / NOW_FILE).read_text())["batches"] == 1
    clock[0] += 0.5
    telling.add(taken(3000, 4000))
    assert json.loads((tmp_path / NOW_FILE).read_text())["batches"] == 3


def test_a_folder_that_can_not_be_written_ends_no_run(tmp_path: Path) -> None:
    """The batches count all the same."""
    tally = RunTally(chain(), CHAIN, START)
    Live(tally, tmp_path / "gone").add(taken(1000, 2000))
    assert tally.document()["batches"] == 1


@pytest.mark.parametrize(
    ("process", "there"),
    [
        (None, False),
        ({"pid": "1"}, False),
        ({"pid": 2**22 + 1}, True),
        ({"pid": 1, "host": "another.machine"}, True),
    ],
)
def test_who_is_still_there(process: object, there: bool) -> None:
    """As far as can be seen from here."""
    assert alive(process) is there
    assert alive({"pid": os.getpid(), "host": os.uname().nodename})
    assert not alive({"pid": 2**22 + 1, "host": os.uname().nodename})
