"""Whole ingests against the oracle: feeds with noise, outages and wild values, at once and in windows."""

import json
import math
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from berth.files import load
from berth.model import BadInput
from berth.pipeline.ingest import IngestOptions, checks, ingest
from berth.spark import SparkSession
from tests.oracle import telemetry as oracle
from tests.pipeline.telemetry import (
    PROBLEM,
    START,
    Entry,
    Ingested,
    copied,
    heartbeat,
    probe,
    run_ingest,
    without,
    write_feed,
    write_problem,
)

COPIES = 5
WINDOW_S = 600
TABLES = ("links", "nodes", "operators", "streams", "quarantine")


@pytest.fixture(scope="module")
def random_telemetry(tmp_path_factory: pytest.TempPathFactory) -> tuple[Entry, Path, oracle.Telemetry]:
    """A problem, the folder of its telemetry, and what the oracle reads there."""
    folder = tmp_path_factory.mktemp("random")
    problem, feed = copied(COPIES)
    write_feed(folder / "telemetry", feed)
    return problem, folder / "telemetry", oracle.read(folder / "telemetry", problem, time.time() * 1000)


@pytest.fixture(scope="module")
def at_once(spark: SparkSession, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> Ingested:
    """One estimate over all."""
    problem, folder, _ = random_telemetry
    return run_ingest(spark, folder, folder.parent / "at-once", problem)


@pytest.fixture(scope="module")
def windowed(spark: SparkSession, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> Ingested:
    """An estimate for every window."""
    problem, folder, _ = random_telemetry
    return run_ingest(
        spark, folder, folder.parent / "windowed", problem, window_s=WINDOW_S, weight=0.4, reference_mips=1000
    )


def same(found: dict[Any, Entry], wanted: dict[Any, Entry], tolerances: dict[str, float]) -> None:
    """The same keys, and the same values within relative tolerances."""
    assert set(found) == set(wanted)
    for key, row in wanted.items():
        for name, tolerance in tolerances.items():
            value = found[key][name]
            if row[name] is None:
                assert value is None, (key, name)
            else:
                assert value == pytest.approx(row[name], rel=tolerance, abs=1e-12), (key, name)


RATES = {"bytes_per_s": 1e-9, "tuples_per_s": 1e-9, "tuple_bytes": 1e-9, "samples": 0}


def test_links(at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> None:
    """Both directions pooled, in the direction of the problem's link; wild probes move nothing."""
    problem, _, telemetry = random_telemetry
    same(at_once.links(), oracle.links(telemetry, problem), {"delay_ms": 0.02, "samples": 0})
    assert {"from": "7-0", "to": "paris-0"}.items() <= at_once.links()["7-0", "paris-0"].items()


def test_nodes(at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> None:
    """Outages to the millisecond; the speed by the oracle's reference."""
    problem, _, telemetry = random_telemetry
    exact = {"availability": 1e-9, "interval_ms": 0, "run_queue": 1e-9, "samples": 0}
    same(at_once.nodes(), oracle.nodes(telemetry, problem), exact | {"mips": 0.01, "speed": 0.01})


def test_operators(at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> None:
    """Work on the reference processor; selectivity where every input was measured."""
    problem, _, telemetry = random_telemetry
    tolerances = {"work_ms": 0.01, "selectivity": 1e-9, "samples": 0}
    same(at_once.operators(), oracle.operators(telemetry, problem), tolerances)


def test_streams(at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> None:
    """Rates over the time that the records cover."""
    same(at_once.streams(), oracle.streams(random_telemetry[2]), RATES)


def test_one_window_over_all(
    at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]
) -> None:
    """From the feed's first record to its last; smoothed values are the values."""
    telemetry = random_telemetry[2]
    times = [record["ts"] for folder in oracle.FOLDERS for record in getattr(telemetry, folder)]
    for name, measure in (("links", "delay_ms"), ("nodes", "speed"), ("streams", "bytes_per_s")):
        table = at_once.table(name)
        assert set(table["window_start"]) == {pd.Timestamp(min(times), unit="ms", tz="UTC")}
        assert set(table["window_end"]) == {pd.Timestamp(max(times), unit="ms", tz="UTC")}
        pd.testing.assert_series_equal(table[measure], table[f"smoothed_{measure}"], check_names=False)


def test_the_problem_has_what_the_tables_say(at_once: Ingested) -> None:
    """Every measured value, and the problem's own where there is none."""
    network = at_once.problem["network"]
    links = {(link["from"], link["to"]): link["delay_ms"] for link in network["links"]}
    for ends, row in at_once.links().items():
        assert links[ends] == row["delay_ms"]
    assert links["rome-0", "silent-0"] == 30
    nodes = {node["name"]: node for node in network["nodes"]}
    for name, row in at_once.nodes().items():
        for measure in ("availability", "speed", "run_queue"):
            assert nodes[name][measure] == row[measure]
    assert nodes["silent-1"] == {"name": "silent-1", "availability": 0.8, "speed": 4.0, "run_queue": 2}
    operators = {entry["name"]: entry for entry in at_once.problem["applications"][0]["operators"]}
    assert operators["split"]["work_ms"] == at_once.operators()["app-0", "split"]["work_ms"]
    assert operators["log"]["work_ms"] == 2
    assert at_once.problem["applications"][1]["operators"] == [{"name": "only", "work_ms": 3}]


def test_the_problem_can_be_loaded(at_once: Ingested) -> None:
    """It is what `berth solve` takes."""
    assert len(load(at_once.out / "problem.json").network.nodes) == 5 * COPIES


def test_what_was_never_measured_is_listed(at_once: Ingested) -> None:
    """By kind, with the names; and nothing else is."""
    unmeasured = {kind: entry["names"] for kind, entry in at_once.report["unmeasured"].items()}
    copies = range(COPIES)
    assert unmeasured["availability of nodes"] == [f"silent-{number}" for number in copies]
    assert unmeasured["delay_ms of links"] == [f"rome-{number} -> silent-{number}" for number in copies]
    assert "app-0/log" in unmeasured["work_ms of operators"]
    assert "app-0/join" not in unmeasured.get("selectivity of operators", [])
    assert unmeasured["bytes_per_s of streams"] == [f"app-{number}/join -> sink" for number in copies]


def test_nothing_is_in_quarantine(
    at_once: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]
) -> None:
    """Every record counts, and the report says how many."""
    telemetry = random_telemetry[2]
    assert telemetry.bad == []
    assert at_once.quarantine() == []
    assert at_once.report["records"] == {name: len(getattr(telemetry, name)) for name in oracle.FOLDERS}
    assert at_once.report["files"] == dict.fromkeys(oracle.FOLDERS, 1)


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_by_duckdb_and_pandas(at_once: Ingested, windowed: Ingested, name: str) -> None:
    """Both see the same rows, also of a table without any."""
    for result in (at_once, windowed):
        table = result.table(name)
        with duckdb.connect() as database:
            found = database.sql(f"select * from '{result.out / name}/*.parquet'").df()
        assert list(found.columns) == list(table.columns)
        assert len(found) == len(table)
        keys = [key for key in table.columns if table[key].dtype == object or key == "window_start"]
        numbers = table.select_dtypes("number").columns
        theirs, ours = (rows.sort_values(keys)[numbers].to_numpy(float) for rows in (found, table))
        np.testing.assert_array_equal(theirs, ours)


def by_window(result: Ingested, name: str, *keys: str) -> dict[Any, Entry]:
    """The rows of a table by the window's start in ms and the keys."""
    rows = result.rows(name, "window_start", *keys)
    return {(round(key[0].timestamp() * 1000), *key[1:]): row for key, row in rows.items()}


def in_windows(telemetry: oracle.Telemetry, estimate: Any) -> dict[Any, Entry]:
    """What the oracle estimates from the records of each window alone."""
    return {
        (round(start), *(key if isinstance(key, tuple) else (key,))): row
        for start, part in oracle.windows(telemetry, WINDOW_S).items()
        for key, row in estimate(part).items()
    }


def test_windows_of_links_and_streams(
    windowed: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]
) -> None:
    """Each from its own records."""
    problem, _, telemetry = random_telemetry
    links = in_windows(telemetry, lambda part: oracle.links(part, problem))
    same(by_window(windowed, "links", "from", "to"), links, {"delay_ms": 0.04, "samples": 0})
    streams = in_windows(telemetry, oracle.streams)
    same(by_window(windowed, "streams", "application", "from", "to"), streams, RATES)
    ends = windowed.table("links")
    assert set(ends["window_end"] - ends["window_start"]) == {pd.Timedelta(seconds=WINDOW_S)}


def test_windows_of_nodes(windowed: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]) -> None:
    """Silence is cut at the ends of windows, and a window without a heartbeat has its part of it."""
    telemetry = random_telemetry[2]
    first, last = oracle.feed(telemetry)
    found = by_window(windowed, "nodes", "node")
    width = WINDOW_S * 1000
    starts = range(int(first // width * width), int(last) + 1, width)
    for start in starts:
        for node, share in oracle.availability(telemetry, start, start + width).items():
            # the oracle takes a node's interval over all time, which nobody knows when a window closes
            assert found[start, node]["availability"] == pytest.approx(share, abs=0.05), (start, node)
    assert len(found) == len(starts) * 4 * COPIES


def test_windows_of_operators(
    windowed: Ingested, random_telemetry: tuple[Entry, Path, oracle.Telemetry]
) -> None:
    """Work by the speed that the node had in that window."""
    problem, _, telemetry = random_telemetry
    operators = in_windows(telemetry, lambda part: oracle.operators(part, problem, 1000))
    tolerances = {"work_ms": 0.03, "selectivity": 1e-9, "samples": 0}
    same(by_window(windowed, "operators", "application", "operator"), operators, tolerances)


@pytest.mark.parametrize(
    ("name", "keys", "measures"),
    [
        ("links", ["from", "to"], ["delay_ms"]),
        ("nodes", ["node"], ["availability", "speed", "run_queue"]),
        ("operators", ["application", "operator"], ["work_ms", "selectivity"]),
        ("streams", ["application", "from", "to"], ["bytes_per_s", "tuples_per_s", "tuple_bytes"]),
    ],
)
def test_smoothed_columns(windowed: Ingested, name: str, keys: list[str], measures: list[str]) -> None:
    """The moving average of the column beside it, with the weight asked for."""
    for _, rows in windowed.table(name).sort_values("window_start").groupby(keys):
        for measure in measures:
            values = [None if math.isnan(value) else value for value in rows[measure]]
            wanted = [math.nan if value is None else value for value in oracle.smooth(values, 0.4)]
            assert rows[f"smoothed_{measure}"].tolist() == pytest.approx(wanted, rel=1e-9, nan_ok=True)


def test_the_newest_average_goes_into_the_problem(windowed: Ingested) -> None:
    """Not the newest value."""
    table = windowed.table("links").sort_values("window_start")
    newest = table.groupby(["from", "to"]).last()["smoothed_delay_ms"]
    links = {(link["from"], link["to"]): link["delay_ms"] for link in windowed.problem["network"]["links"]}
    for ends, value in newest.items():
        assert links[ends] == pytest.approx(value, rel=1e-12)


def test_heartbeats_that_say_only_whether_a_node_is_up(spark: SparkSession, tmp_path: Path) -> None:
    """Availability follows from all of them; speed and run queue from those that tell them."""
    beats = [heartbeat(ts=START + 1000 * at, mips=None) for at in range(10)]
    beats += [without(heartbeat(ts=START + 1000 * at, node="7"), "run_queue") for at in range(10)]
    beats += [{"ts": START + 1000 * at, "node": "paris", "up": at < 5} for at in range(10)]
    write_feed(tmp_path / "telemetry", {"heartbeats": beats})
    result = run_ingest(spark, tmp_path / "telemetry", tmp_path / "out")
    assert result.quarantine() == []
    told = {name: (row["speed"], row["run_queue"], row["mips"]) for name, row in result.nodes().items()}
    assert told == {
        "rome": (None, 1.0, None),
        "7": (0.5, None, pytest.approx(1000.0)),
        "paris": (None, None, None),
    }
    assert result.nodes()["paris"]["availability"] == pytest.approx(5 / 9)
    nodes = {node["name"]: node for node in result.problem["network"]["nodes"]}
    assert (nodes["paris"]["speed"], nodes["paris"]["run_queue"]) == (2.0, 3)
    assert result.report["unmeasured"]["speed of nodes"]["names"] == ["rome", "paris", "kä%s+e", "silent"]


def test_sizes_of_tuples_go_into_the_problem(at_once: Ingested) -> None:
    """Of every stream that carried any."""
    for application in at_once.problem["applications"]:
        for stream in application.get("streams", ()):
            row = at_once.streams().get((application["name"], stream["from"], stream["to"]))
            assert stream.get("tuple_bytes") == (None if row is None else row["tuple_bytes"])
    listed = at_once.report["unmeasured"]["tuple_bytes of streams"]["names"]
    assert listed == [f"app-{number}/join -> sink" for number in range(COPIES)]


def directed(spark: SparkSession, folder: Path) -> Ingested:
    """A network whose directions differ, with a feed of one moment and some unknown names."""
    network = {**PROBLEM["network"], "symmetric": False}
    records = [probe(rtt_ms=20), probe(**{"from": "paris", "to": "rome"}, rtt_ms=40), probe(to="nobody")]
    write_feed(folder / "telemetry", {"probes": records, "heartbeats": [heartbeat(), heartbeat(node="x")]})
    return run_ingest(spark, folder / "telemetry", folder / "out", {**PROBLEM, "network": network})


def test_small_feeds(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each direction has its delay; one moment has no availability; names are found by a join, too.

    A second run, without any record, takes the place of the first: empty tables, the problem as it was.
    """
    monkeypatch.setattr(checks, "_MOST_LITERALS", 2)
    result = directed(spark, tmp_path)
    columns = {name: list(result.table(name).columns) for name in TABLES}
    assert {ends: row["delay_ms"] for ends, row in result.links().items()} == {
        ("rome", "paris"): pytest.approx(10),
        ("paris", "rome"): pytest.approx(20),
    }
    rome = result.nodes()["rome"]
    assert (rome["availability"], rome["speed"], rome["run_queue"]) == (None, 1.0, 1.0)
    assert "rome" in result.report["unmeasured"]["availability of nodes"]["names"]
    assert sorted(row[3] for row in result.quarantine()) == ["node: unknown node", "to: unknown node"]
    for file in (tmp_path / "telemetry").rglob("*.jsonl"):
        file.unlink()
    again = run_ingest(spark, tmp_path / "telemetry", tmp_path / "out")
    for name in TABLES:
        assert len(again.table(name)) == 0
        assert list(again.table(name).columns) == columns[name]
    assert again.problem == PROBLEM
    assert again.report["unmeasured"]["availability of nodes"]["count"] == len(PROBLEM["network"]["nodes"])


def refused(telemetry: Path, out: Path, problem: Path) -> tuple[str, ...]:
    """The lines of an ingest that doesn't begin; it never comes to using a session."""
    with pytest.raises(BadInput) as caught:
        ingest(None, telemetry, problem, out, IngestOptions())  # type: ignore[arg-type]
    return caught.value.mistakes


def test_bad_folders(tmp_path: Path) -> None:
    """One line each, before Spark does anything."""
    problem = write_problem(tmp_path / "p")
    (line,) = refused(tmp_path / "nowhere", tmp_path / "out", problem)
    assert line == f"{tmp_path / 'nowhere'}: no such folder"
    (tmp_path / "t" / "probe").mkdir(parents=True)
    (line,) = refused(tmp_path / "t", tmp_path / "out", problem)
    assert "none of the folders probes, heartbeats, operators, streams" in line
    assert "probe" in line.split("; ")[1]
    (tmp_path / "t" / "probes").mkdir()
    for inside in ("t", "t/probes/out"):
        (line,) = refused(tmp_path / "t", tmp_path / inside, problem)
        assert line.startswith("--out: ")
    (tmp_path / "file").write_text("")
    (line,) = refused(tmp_path / "t", tmp_path / "file", problem)
    assert line.startswith(f"{tmp_path / 'file'}: can't be written")
    (tmp_path / "other" / "heartbeats").mkdir(parents=True)
    (line,) = refused(tmp_path / "t", tmp_path / "other", problem)
    assert line.endswith("has a folder 'heartbeats': it is telemetry, and would be overwritten")


def test_a_bad_problem(tmp_path: Path) -> None:
    """Its mistakes, with their fields."""
    broken = json.loads(json.dumps(PROBLEM))
    broken["network"]["nodes"][0]["speed"] = -1
    (tmp_path / "t" / "probes").mkdir(parents=True)
    (line,) = refused(tmp_path / "t", tmp_path / "out", write_problem(tmp_path, broken))
    assert ": network.nodes[0].speed: -1" in line
    assert not (tmp_path / "out").exists()
