"""Every fault of a record that we could think of, in one feed: what is put aside, and why."""

import json
import time
from collections import Counter
from typing import Any

import pytest

from berth.spark import SparkSession
from tests.oracle import telemetry as oracle
from tests.pipeline.telemetry import (
    PROBLEM,
    START,
    Entry,
    Ingested,
    Line,
    as_bytes,
    heartbeat,
    operator,
    probe,
    run_ingest,
    stream,
    without,
    write_lines,
)

Faults = tuple[Ingested, oracle.Telemetry]
HOUR = 3_600_000
BUILD = {"probes": probe, "heartbeats": heartbeat, "operators": operator, "streams": stream}
NUMBERS = {
    "probes": {"rtt_ms": 86_400_000},
    "heartbeats": {"run_queue": 1e9, "mips": 1e12},
    "operators": {"tuples": 1e15, "busy_ms": 366 * 86_400_000},
    "streams": {"tuples": 1e15, "bytes": 1e18, "window_ms": 366 * 86_400_000},
}
NAMES = {
    "probes": ("from", "to"),
    "heartbeats": ("node",),
    "operators": ("application", "operator", "instance", "node"),
    "streams": ("application", "from", "to"),
}
NO_NUMBERS: tuple[Any, ...] = ("20", "", "NaN", "x", True, False, None, [1], {"value": 1}, [])
NO_NAMES: tuple[Any, ...] = (
    "",
    "Rome",
    "rome ",
    " rome",
    "rome/paris",
    "app/split",
    None,
    ["rome"],
    {"a": 1},
)
NO_TIMES: tuple[Any, ...] = (
    *(None, True, "", " ", "yesterday", "now", "today", "epoch", [START], {"$date": START}),
    *(-1, -0.5, "-5", "15:06:40", "T15:06:40", "2025-13-01", "2025-02-30", "2025-06-15T25:00:00Z"),
    *(
        "Jun 15 2025",
        "15/06/2025",
        "2025/06/15",
        "2025-06-15T15:06:40 Europe/Rome",
        "2025-06-15T15:06:40+99:00",
    ),
    *(
        "1750000000000d",
        "1_750_000_000_000",
        "NaN",
        "Infinity",
        "2025-6-5",
        "2025-06-15T15:06:40Z junk",
        "٢٠٢٥",
    ),
    *(1e300, 10**30, "9999-12-31T23:59:59Z", "2999-01-01", "1969-12-31"),
)
TIMES: tuple[Any, ...] = (
    *(0, START, START + 0.5, float(START), str(START), f"{START}.7", "1.75e12"),
    *("2025-06-15", "2025-06-15T15:06", "2025-06-15T15:06:40", "2025-06-15 15:06:40", "2025-06-15T15:06:40Z"),
    *("2025-06-15T15:06:40+02:00", "2025-06-15T15:06:40-0530", "2025-06-15T15:06:40+02"),
    *("2025-06-15T15:06:40.1Z", "2025-06-15T15:06:40.123456789Z", "2025-06-15T15:06:40,5Z"),
    *("20250615T150640Z", "20250615T150640", "20250615T150640.123Z"),
)


def faulty_numbers(folder: str) -> list[Line]:
    """Each number of a folder's records, wrong in every way."""
    build = BUILD[folder]
    lines: list[Line] = []
    for name, most in NUMBERS[folder].items():
        lines += [build(**{name: value}) for value in NO_NUMBERS]
        lines += [build(**{name: value}) for value in (-1, -1e-9, float("nan"), float("inf"), -float("inf"))]
        lines += [build(**{name: most}), build(**{name: most * 1.001}), build(**{name: 1e300})]
        lines.append(json.dumps(build(**{name: 123.25})).replace("123.25", "1e999"))
        lines.append(json.dumps(build(**{name: 123.25})).replace("123.25", "1" * 400))
        lines.append(without(build(), name))
    return lines


def faulty_names(folder: str) -> list[Line]:
    """Each name of a folder's records, wrong in every way."""
    build = BUILD[folder]
    lines: list[Line] = []
    for name in NAMES[folder]:
        lines += [build(**{name: value}) for value in NO_NAMES]
        lines += [build(**{name: 12345}), build(**{name: "nobody"}), without(build(), name)]
    return lines


def times(folder: str) -> list[Line]:
    """Times that are none, and all notations of those that are."""
    build = BUILD[folder]
    return [*(build(ts=value) for value in (*NO_TIMES, *TIMES)), without(build(), "ts")]


OF_ONE_FOLDER: dict[str, list[Line]] = {
    "probes": [
        probe(rtt_ms=0),
        probe(rtt_ms=-0.0),
        probe(to="rome"),
        probe(**{"from": 7}),
        probe(**{"from": 7, "to": "7"}),
        probe(**{"from": 7.0}),
        probe(to="kä%s+e"),
        json.dumps(probe(to="kä%s+e")),
        probe(**{"from": "silent", "to": "kä%s+e"}),
    ],
    "heartbeats": [
        heartbeat(mips=0),
        heartbeat(mips=1e-9),
        heartbeat(mips=0, up=False),
        heartbeat(run_queue=0),
        heartbeat(run_queue=2.5),
        heartbeat(mips=None, run_queue=None),
        heartbeat(mips=None, up=False),
        without(without(heartbeat(), "mips"), "run_queue"),
        without(heartbeat(node="nobody"), "mips"),
        heartbeat(up="true"),
        heartbeat(up=1),
        heartbeat(up=0),
        heartbeat(up=None),
        heartbeat(up="up"),
        heartbeat(up=[]),
        without(heartbeat(), "up"),
        heartbeat(node=7),
        heartbeat(node="split"),
    ],
    "operators": [
        operator(tuples=0, busy_ms=0),
        operator(instance="split"),
        operator(instance="split#3"),
        operator(instance="split#-1"),
        operator(instance="split#01"),
        operator(instance="split#"),
        operator(instance="join"),
        operator(instance="join#0", operator="join"),
        operator(instance="join", operator="join"),
        operator(instance="app/split#1"),
        operator(application="alone"),
        operator(application="alone", operator="only", instance="only", node="silent"),
        operator(application="app/split", operator="", instance=""),
    ],
    "streams": [
        stream(window_ms=0),
        stream(window_ms=0.0001),
        stream(bytes=0, tuples=0),
        stream(**{"from": "split", "to": "source"}),
        stream(**{"from": "source", "to": "join"}),
        stream(application="alone", **{"from": "only", "to": "only"}),
        stream(application="alone"),
        stream(**{"from": "split", "to": "join"}),
    ],
}
GOOD = json.dumps(probe())
LINES: list[Line] = [
    *(
        "garbage",
        "null",
        "true",
        "5",
        '"text"',
        "{}",
        "[]",
        "{",
        "}",
        "[",
        "]",
        "\\",
        "{}{}",
        '{"ts"',
        GOOD[:-5],
    ),
    *(
        GOOD + rest
        for rest in ("]", "] garbage", "}", ",", "x", " x", GOOD, "," + GOOD, " " + GOOD, "],[" + GOOD)
    ),
    *(GOOD + rest for rest in ('],"x"', ',"x"', ',"x"]', ',"end"]', ',"END"]', "//x", "#x", "\x00", "\x0b")),
    *(GOOD + rest for rest in (" ", "\t", "   \t ")),
    *(before + GOOD for before in ("[", "x", "#", "/*x*/", "\ufeff", "\u00a0", " ", "\t", "{}")),
    f"[{GOOD}]",
    f"[{GOOD},{GOOD}]",
    GOOD.replace('"', "'"),
    GOOD.replace('"from"', "from"),
    GOOD[:-1] + ",}",
    *(
        GOOD.replace("20.0", value)
        for value in ("020.0", "+20.0", ".5", "5.", "0x10", "20,5", "20.0.0", "2e", "1e5")
    ),
    GOOD.replace("rtt_ms", "RTT_MS"),
    GOOD.replace("rtt_ms", "rtt_ms "),
    GOOD[:-1] + ', "rtt_ms": 5}',
    GOOD[:-1] + ', "rtt_ms": -5}',
    probe(extra={"a": {"b": [1, {}, "}"]}}, note="a}b"),
    json.dumps(probe(extra={"a": {"b": [1, {}, "}"]}}, note="a}b")) + "]",
    probe(note="]"),
    probe(note='"'),
    {"probe": probe()},
    GOOD.replace("rome", "ro\x01me"),
    GOOD.replace("rome", "ro\\qme"),
    GOOD.replace("rome", "ro\\ud800me"),
    GOOD.replace("rome", "ro\\u006de"),
    GOOD.replace("rome", "ro\x00me"),
    GOOD.encode() + "\u2028".encode() + GOOD.encode(),
    b"\x00" * 30,
    b"\xff\xfe\xfd",
    GOOD.encode().replace(b"rome", b"k\xe4%s+e"),
    "z" * 3_000_000,
    GOOD[:-1] + ', "x": "' + "y" * 3_000_000 + '"}',
    '{"x":' * 3000 + "1" + "}" * 3000,
    "[" * 100_000,
    *("", " ", "\t", " \t "),
]


def lines_of(folder: str) -> list[Line]:
    """Good and bad lines of a folder; each line once, so that a row of the quarantine tells which it was."""
    lines = [BUILD[folder](), *faulty_numbers(folder), *faulty_names(folder), *times(folder)]
    lines += [*OF_ONE_FOLDER[folder], *(LINES if folder == "probes" else [])]
    return list({as_bytes(line): line for line in lines}.values())


@pytest.fixture(scope="module")
def faults(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Faults:
    """All faults taken in, and what the oracle says of them."""
    folder = tmp_path_factory.mktemp("faults")
    now = round(time.time() * 1000)
    for name, build in BUILD.items():
        soon = [build(ts=now), build(ts=now + 300_000), build(ts=now + HOUR), build(ts=str(now + HOUR))]
        write_lines(folder / "telemetry" / name / "faults.jsonl", [*lines_of(name), *soon])
    result = run_ingest(spark, folder / "telemetry", folder / "out", clock_skew_s=600)
    return result, oracle.read(folder / "telemetry", PROBLEM, now, 600_000)


@pytest.mark.parametrize("folder", oracle.FOLDERS)
def test_exactly_the_bad_records_are_in_quarantine(faults: Faults, folder: str) -> None:
    """Each as the line that it was, a row a record, none of the good ones."""
    result, telemetry = faults
    found = Counter(record for name, _, record, _ in result.quarantine() if name == folder)
    wanted = Counter(bad.line for bad in telemetry.bad if bad.folder == folder)
    assert shown(found - wanted) == [], "good, and put aside"
    assert shown(wanted - found) == [], "bad, and not put aside"
    assert len(wanted) > 50


def shown(records: Counter[str | None]) -> list[str]:
    return [str(record)[:200] for record in records]


def test_reasons_name_the_field(faults: Faults) -> None:
    """The first field that is wrong; lines that are no object are unreadable."""
    result, telemetry = faults
    reasons = {(folder, record): reason for folder, _, record, reason in result.quarantine()}
    for bad in telemetry.bad:
        reason = reasons[bad.folder, bad.line]
        if bad.field is not None:
            assert reason.split(":")[0] in (bad.field, "unreadable"), bad
        else:
            assert reason.startswith("unreadable: ") or "\ufffd" in str(bad.line), bad


REASONS: list[tuple[str, Entry, str]] = [
    ("probes", without(probe(), "ts"), "ts: missing"),
    ("probes", probe(ts="yesterday"), "ts: no ISO 8601 time and no epoch milliseconds"),
    ("probes", probe(ts=-1), "ts: negative"),
    ("probes", probe(ts="2999-01-01"), "ts: in the future"),
    ("probes", without(probe(), "rtt_ms"), "rtt_ms: missing"),
    ("probes", probe(rtt_ms=None), "rtt_ms: missing"),
    ("probes", probe(rtt_ms="20"), "rtt_ms: no number"),
    ("probes", probe(rtt_ms=True), "rtt_ms: no number"),
    ("probes", probe(rtt_ms=float("nan")), "rtt_ms: NaN"),
    ("probes", probe(rtt_ms=-1), "rtt_ms: negative"),
    ("probes", probe(rtt_ms=1e300), "rtt_ms: impossibly large"),
    ("probes", probe(rtt_ms=float("inf")), "rtt_ms: impossibly large"),
    ("probes", probe(**{"from": "nobody"}), "from: unknown node"),
    ("probes", probe(to="nobody"), "to: unknown node"),
    ("probes", probe(to="rome"), "to: the same node as from"),
    ("heartbeats", heartbeat(up="true"), "up: neither true nor false"),
    ("heartbeats", heartbeat(up=None), "up: missing"),
    ("heartbeats", heartbeat(mips=0), "mips: zero on a node that is up"),
    ("heartbeats", heartbeat(node="nobody"), "node: unknown node"),
    ("operators", operator(application="nobody"), "application: unknown application"),
    ("operators", operator(operator="nobody"), "operator: unknown operator"),
    ("operators", operator(instance="split#3"), "instance: unknown instance"),
    ("operators", operator(instance="join"), "instance: of another operator"),
    ("streams", stream(**{"from": "nobody"}), "from: unknown operator"),
    ("streams", stream(**{"from": "source", "to": "join"}), "to: unknown stream"),
    ("streams", stream(window_ms=0), "window_ms: zero"),
]


@pytest.mark.parametrize(("folder", "record", "reason"), REASONS)
def test_reasons(faults: Faults, folder: str, record: Entry, reason: str) -> None:
    """What users read."""
    line = as_bytes(record).decode()
    assert (folder, f"{folder}/faults.jsonl", line, reason) in faults[0].quarantine()


def test_the_report_counts_what_the_table_has(faults: Faults) -> None:
    """By folder and reason."""
    result, telemetry = faults
    counted = Counter((folder, reason) for folder, _, _, reason in result.quarantine())
    reported = {
        (folder, reason): number
        for folder, reasons in result.report["quarantined"].items()
        for reason, number in reasons.items()
    }
    assert reported == dict(counted)
    assert result.report["records"] == {name: len(getattr(telemetry, name)) for name in oracle.FOLDERS}


def test_times_are_read_right(faults: Faults) -> None:
    """The feed's first and last record, whatever their notation; the others are compared in the next test."""
    result, telemetry = faults
    moments = [record["ts"] for folder in oracle.FOLDERS for record in getattr(telemetry, folder)]
    assert (result.report["first"], result.report["last"]) == (min(moments), max(moments))


def test_good_records_count(faults: Faults) -> None:
    """What is left makes the tables that the oracle makes of it."""
    result, telemetry = faults
    links = oracle.links(telemetry, PROBLEM)
    assert {ends: row["samples"] for ends, row in result.links().items()} == {
        ends: row["samples"] for ends, row in links.items()
    }
    for stream_name, row in oracle.streams(telemetry).items():
        assert result.streams()[stream_name]["bytes_per_s"] == pytest.approx(row["bytes_per_s"], rel=1e-9)
    for node, row in oracle.nodes(telemetry, PROBLEM).items():
        assert result.nodes()[node]["availability"] == pytest.approx(row["availability"], rel=1e-9)


def test_the_problem_is_still_one(faults: Faults) -> None:
    """Values at the ends of what is possible make a problem that can be."""
    assert faults[0].problem["network"]["nodes"][0]["name"] == "rome"
