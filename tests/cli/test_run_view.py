"""A run on the screen: live, as lines, and as the report at its end."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from dataclasses import asdict, replace
from typing import Any

import pytest
from rich.console import Console

from berth.cli import run_view
from berth.cli.output import homes
from berth.cli.run_view import RunView, print_report, rate
from berth.runtime.application import Application
from berth.runtime.measures import BatchMeasures, InstanceMeasures, StreamMeasures, measured
from berth.runtime.placement import Placement
from berth.runtime.running import Migration
from berth.runtime.tally import RunTally
from tests.runtime.words import CHAIN, START, batch, chain, chain_reports

TIMES = {1: 40.0, 2: 7.0, 3: 8.0, 4: 100.0, 5: 50.0, 6: 30.0, 7: 20.0, 8: 10.0}


class Still(RunTally):
    """A tally whose clock stands a moment after the last batch."""

    def now(self, now_ms: float | None = None) -> Any:
        return super().now(START + 60_300 if now_ms is None else now_ms)


def ran(batches: int = 60) -> Still:
    tally = Still(chain(), CHAIN, START - 2000)
    for number in range(batches):
        done = batch(
            chain_reports(),
            CHAIN,
            TIMES,
            began=number * 1000 + 200,
            ended=number * 1000 + 1000,
            state_bytes={"count": 2048.0},
        )
        tally.add(measured(done, chain()))
    return tally


def screen(width: int) -> Console:
    return Console(width=width, file=io.StringIO(), highlight=False)


def shown(what: Any, width: int = 80) -> list[str]:
    console = screen(width)
    with console.capture() as capture:
        console.print(what)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.fixture(params=[80, 120])
def out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Console:
    console = screen(request.param)
    monkeypatch.setattr(run_view, "out", console)
    return console


def printed(console: Console) -> str:
    file: Any = console.file
    return str(file.getvalue())


def test_the_live_view() -> None:
    """Every operator with its node, rate and busy time; every stream with its rates; the latency."""
    tally = ran()
    tally.migrated(asdict(Migration({"count": ("rome", "tokyo")}, 1.75, 2048.0)))
    assert shown(RunView(tally, "tag-and-count")) == [
        "tag-and-count · 1 min 2 s · 60 batches · 6,000 rows · 100 rows/s",
        "latency 800 ms in the last batch, within 800 ms in 95 % of them",
        "1 migration, the last one: count from rome to tokyo, 1.8 s of pause",
        "",
        "operator  node          rows/s  rows in  rows out   busy  ms/row    state",
        "posts     rome             100    6,000     6,000  5.5 %    0.55",
        "tag       paris, tokyo     100    6,000    15,000   15 %     1.5",
        "count     tokyo            250   15,000     2,400    5 %     0.2  2.05 kB",
        "store     rome              40    2,400         0    1 %    0.25",
        "",
        "stream          rows/s   bytes/s    rows   bytes",
        "posts -> tag       100   10 kB/s   6,000  600 kB",
        "tag -> count       250  2.5 kB/s  15,000  150 kB",
        "count -> store      40   400 B/s   2,400   24 kB",
    ]


def test_before_the_first_batch() -> None:
    """The plan, and what it waits for."""
    view = RunView(ran(0), "tag-and-count")
    assert view.line() == "tag-and-count · 1 min 2 s · waiting for the first batch"
    assert any(line.split()[:3] == ["tag", "paris,", "tokyo"] for line in shown(view))


def test_the_line() -> None:
    """What a log gets every ten seconds; a run that stands still says so."""
    assert RunView(ran(), "app").line() == (
        "app · 1 min 2 s · 60 batches · 6,000 rows · 100 rows/s · "
        "latency 800 ms in the last batch, within 800 ms in 95 % of them"
    )
    assert "1 batch · 100 rows · 0 rows/s · no batch for 59 s" in RunView(ran(1), "app").line()


def test_a_run_that_is_not_by_the_plan() -> None:
    """It is red, and names both nodes."""
    words = [replace(each, node="oslo") for each in chain_reports() if each.operator == "store"]
    tally = ran()
    tally.add(measured(batch(words, CHAIN, number=60), chain()))
    assert "x batch 60: store ran on oslo, planned on rome" in shown(RunView(tally, "app"))


def test_names_are_no_markup() -> None:
    """Operators and nodes may be called anything."""
    app = Application("app")
    app.source(lambda spark: spark, name="[red]in")
    app.sink(lambda rows, batch_id: None, name="[bold]", inputs=["[red]in"])
    tally = Still(app, Placement("app", {"[red]in": ("[dim]n",), "[bold]": ("[x]",)}), START)
    text = "\n".join(shown(RunView(tally, "[blink]")))
    assert "[red]in" in text
    assert "[dim]n" in text
    assert "[red]in -> [bold]" in text
    assert "[blink]" in text


def huge() -> RunTally:
    """Long names, many nodes, large numbers."""
    app = Application("edge")
    app.source(lambda spark: spark, name="temperature_readings_from_sensors")
    name = "remove_duplicates_within_window"
    app.operator(lambda rows: rows, name=name, inputs=["temperature_readings_from_sensors"], parallelism=8)
    app.sink(lambda rows, batch_id: None, name="store", inputs=[name])
    cities = ("frankfurt-am-main", "paris", "tokyo", "paris", "rome", "oslo", "vienna", "warsaw")
    nodes = {"temperature_readings_from_sensors": ("rome",), name: cities, "store": ("rome",)}
    placement = Placement("edge", nodes)
    tally = Still(app, placement, START)
    tally.add(
        BatchMeasures(
            number=0,
            began_ms=START,
            ended_ms=START + 60_000,
            placement=placement,
            reports=(),
            run_ms={},
            instances=tuple(InstanceMeasures(each, each, "rome", 10**12, 10**11, 1.5e6) for each in nodes),
            streams=tuple(StreamMeasures(*ends, 123_456_789, 98_765_432_109) for ends in app.streams),
            rows=10**12,
            verified_tasks=4,
            differences=(),
            state_bytes={name: 1.5e9},
        )
    )
    return tally


def test_little_room() -> None:
    """In 80 columns names are folded, numbers stay whole."""
    lines = shown(RunView(huge(), "edge"))
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).split()
    assert {"16.7G", "1T", "100G", "98.8", "1.65", "GB/s", "123M", "paris", "x2,"} <= set(words)


def test_the_report(out: Console) -> None:
    """The tables over the whole run, and the proof of placement."""
    tally = ran()
    tally.migrated(asdict(Migration({"count": ("rome", "tokyo")}, 1.75, 2048.0)))
    tally.end(START + 63_000)
    print_report(tally)
    lines = [line.rstrip() for line in printed(out).splitlines()]
    assert lines[:3] == [
        "tag-and-count ran for 1 min 5 s: 60 batches, 6,000 rows, 100 rows/s",
        "end-to-end latency: half of the batches within 800 ms, 95 % within 800 ms, all within 800 ms",
        "placement: 480 tasks, all on their planned nodes",
    ]
    assert "count     tokyo            251   15,000     2,400  5.02 %     0.2  2.05 kB" in lines
    assert "tag -> count       251  2.51 kB/s  15,000  150 kB" in lines
    assert lines[-2:] == [
        "migration  moved                     pause    state",
        "1          count from rome to tokyo  1.8 s  2.05 kB",
    ]


def test_the_report_of_nothing(out: Console) -> None:
    """A run that was stopped before its first batch has a report, too."""
    print_report(RunTally(chain(), CHAIN, START))
    assert "ran for 0 s: 0 batches, 0 rows, 0 rows/s" in printed(out)
    assert "latency" not in printed(out)


def test_the_report_of_a_run_that_was_not_by_the_plan(out: Console) -> None:
    """It doesn't say that all was well."""
    words = [replace(each, node="oslo") for each in chain_reports() if each.operator == "store"]
    tally = RunTally(chain(), CHAIN, START)
    tally.add(measured(batch(words, CHAIN), chain()))
    print_report(tally)
    assert "x batch 0: store ran on oslo, planned on rome" in printed(out)
    assert "all on their planned nodes" not in printed(out)


def test_lines_where_nothing_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """One every ten seconds, here sooner; the last thread is gone with the block."""
    console = screen(80)
    monkeypatch.setattr(run_view, "err", console)
    monkeypatch.setattr(run_view, "LINE_SECONDS", 0.05)
    with RunView(ran(), "app").shown() as view, view.aside():
        time.sleep(0.4)
    lines = printed(console).splitlines()
    assert len(lines) >= 2
    assert set(lines) == {view.line()}
    time.sleep(0.2)
    assert len(printed(console).splitlines()) == len(lines)


def test_live_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn, leaves the terminal to a question, comes back, and clears up behind itself."""
    console = Console(width=80, height=40, file=io.StringIO(), force_terminal=True, highlight=False)
    monkeypatch.setattr(run_view, "err", console)
    with RunView(ran(), "app").shown() as view:
        time.sleep(0.1)
        assert "posts -> tag" in printed(console)
        with view.aside():
            drawn = printed(console).count("posts -> tag")
            time.sleep(1.2)
            assert printed(console).count("posts -> tag") == drawn
        assert printed(console).count("posts -> tag") > drawn
    assert "\x1b[2K" in printed(console)[-400:]
    assert printed(console).count("\x1b[?25l") == printed(console).count("\x1b[?25h") > 0


def test_numbers() -> None:
    """As people read them."""
    assert [rate(each) for each in (0, 0.25, 12.345, 99.4, 1250.4, 2.5e7)] == [
        "0",
        "0.25",
        "12.3",
        "99.4",
        "1,250",
        "25M",
    ]
    assert homes(["rome", "paris", "rome", "rome"]) == "rome x3, paris"


def test_needs_no_spark() -> None:
    """The view is there before pyspark is."""
    code = (
        "import sys, berth.cli.run_view, berth.runtime.tally; "
        "import berth.runtime.feeds, berth.runtime.probing; "
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
