from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from berth.files import load_plan
from berth.model import BadInput, Plan
from berth.runtime.control.history import SCHEMA, TABLE_EVERY, Event, History, read_history, table_of

EVERYTHING = Event(
    1_700_000_000.25,
    "migrated",
    "because",
    3,
    {"app/work": "paris"},
    "oslo",
    10.0,
    5.0,
    6.0,
    0.5,
    {"app/work": ("rome", "paris")},
    2.5,
    64.0,
    1000.0,
)


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    """All fields, and the empty ones as empty."""
    least = Event(1_700_000_000.0, "looked")
    with History(tmp_path) as history:
        history.record(EVERYTHING)
        history.record(least)
    assert read_history(tmp_path) == [EVERYTHING, least]
    assert json.loads((tmp_path / "history.jsonl").read_text().splitlines()[1]) == {
        "time": "2023-11-14T22:13:20.000+00:00",
        "event": "looked",
    }


def test_the_table_has_the_same_events(tmp_path: Path) -> None:
    """As others read it, with the types that are promised."""
    with History(tmp_path) as history:
        history.record(EVERYTHING)
        history.record(Event(1_700_000_001.0, "node lost", node="oslo"))
    table = tmp_path / "history.parquet"
    rows = duckdb.sql(
        f"select event, node, gain, moved[1].instance, moved[1].to, assignment['app/work'], "
        f"epoch_ms(time) from '{table}' order by time"
    ).fetchall()
    assert rows[0] == ("migrated", "oslo", 0.5, "app/work", "paris", "paris", 1_700_000_000_250)
    assert rows[1][:3] == ("node lost", "oslo", None)
    assert table_of([]).schema == SCHEMA
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_the_table_is_written_now_and_then(tmp_path: Path) -> None:
    """Not only at the end, which a crash never reaches."""
    history = History(tmp_path)
    for number in range(TABLE_EVERY):
        assert not (tmp_path / "history.parquet").exists()
        history.record(Event(float(number), "looked"))
    assert (tmp_path / "history.parquet").exists()
    history.close()


def test_every_plan_is_a_file_and_the_same_plan_is_the_same_file(tmp_path: Path) -> None:
    """Numbers go on in a later watch of the folder."""
    one, two = Plan({"app/work": "rome"}), Plan({"app/work": "paris"})
    with History(tmp_path) as history:
        assert [history.plan_number(plan) for plan in (one, two, one)] == [1, 2, 1]
    assert load_plan(tmp_path / "plans" / "0002.json").assignment == two.assignment
    with History(tmp_path) as later:
        assert later.plan_number(two) == 3


def test_a_later_watch_goes_on_with_the_same_record(tmp_path: Path) -> None:
    """Nothing that is written is written again."""
    for number in range(3):
        with History(tmp_path) as history:
            history.record(Event(float(number), "started"))
    assert [event.time for event in read_history(tmp_path)] == [0.0, 1.0, 2.0]


def test_half_a_line_is_no_event(tmp_path: Path) -> None:
    """What a crash cut off is left out when reading, and taken away before the next line is written."""
    with History(tmp_path) as history:
        history.record(Event(1.0, "started"))
    with (tmp_path / "history.jsonl").open("ab") as file:
        file.write(b'{"time": "2023-11-14T22:13')
    assert [event.event for event in read_history(tmp_path)] == ["started"]
    with History(tmp_path) as history:
        history.record(Event(2.0, "finished"))
    assert [event.event for event in read_history(tmp_path)] == ["started", "finished"]


def test_what_is_recorded_survives_a_kill(tmp_path: Path) -> None:
    """Every event that was told is in the file, whenever the process is killed."""
    program = (
        "import sys, time; from pathlib import Path; "
        "from berth.runtime.control.history import Event, History\n"
        "history = History(Path(sys.argv[1]), lambda event: print(event.time, flush=True))\n"
        "for number in range(100000): history.record(Event(float(number), 'looked', 'x' * 500))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    told = [float(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    written = [event.time for event in read_history(tmp_path)]
    assert written == [float(number) for number in range(len(written))]
    assert len(told) > 5
    assert told[-1] <= written[-1]


def test_a_folder_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    """A line, no traceback."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="can't be written"):
        History(tmp_path / "file" / "below")


def test_nothing_was_recorded_yet(tmp_path: Path) -> None:
    """An empty folder has no events."""
    assert read_history(tmp_path) == []
