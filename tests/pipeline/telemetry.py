"""A problem with telemetry of it, and how to write and read what `berth ingest` takes and gives."""

import copy
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from berth.pipeline.ingest import IngestOptions, Summary, ingest
from berth.spark import SparkSession

Entry = dict[str, Any]
Line = Entry | str | bytes

START = 1_750_000_000_000
NODES = ("rome", "paris", "7", "kä%s+e")
PROBLEM: Entry = {
    "format": "berth/v1",
    "name": "measured",
    "network": {
        "nodes": [
            {"name": "rome"},
            {"name": "paris", "speed": 2.0, "availability": 0.9, "run_queue": 3},
            {"name": "7", "speed": 0.5},
            {"name": "kä%s+e"},
            {"name": "silent", "availability": 0.8, "speed": 4.0, "run_queue": 2},
        ],
        "links": [
            {"from": "rome", "to": "paris", "delay_ms": 10, "bandwidth_bytes_per_s": 1e6},
            {"from": "7", "to": "paris", "delay_ms": 20},
            {"from": "rome", "to": "silent", "delay_ms": 30},
        ],
    },
    "applications": [
        {
            "name": "app",
            "operators": [
                {"name": "source", "emits_bytes_per_s": 1000, "pinned": "rome"},
                {"name": "more", "pinned": "paris", "output_bytes": 10},
                {"name": "split", "parallelism": 3, "selectivity": 0.5},
                {"name": "join", "work_ms": 9},
                {"name": "sink"},
                {"name": "log", "work_ms": 2},
            ],
            "streams": [
                {"from": "source", "to": "split"},
                {"from": "split", "to": "join"},
                {"from": "more", "to": "join", "bytes_per_s": 70},
                {"from": "join", "to": "sink"},
                {"from": "join", "to": "log"},
            ],
        },
        {"name": "alone", "operators": [{"name": "only", "work_ms": 3}]},
    ],
}


def probe(**fields: Any) -> Entry:
    """A probe that makes sense, with other fields where they are given."""
    return {"ts": START, "from": "rome", "to": "paris", "rtt_ms": 20.0, **fields}


def heartbeat(**fields: Any) -> Entry:
    """A heartbeat that makes sense, with other fields where they are given."""
    return {"ts": START, "node": "rome", "up": True, "run_queue": 1, "mips": 1000.0, **fields}


def operator(**fields: Any) -> Entry:
    """An operator's record that makes sense, with other fields where they are given."""
    usual = {"ts": START, "application": "app", "operator": "split", "instance": "split#1", "node": "rome"}
    return {**usual, "tuples": 100, "busy_ms": 250.0, **fields}


def stream(**fields: Any) -> Entry:
    """A stream's record that makes sense, with other fields where they are given."""
    usual = {"ts": START, "application": "app", "from": "source", "to": "split"}
    return {**usual, "tuples": 100, "bytes": 5000, "window_ms": 1000, **fields}


def energy(**fields: Any) -> Entry:
    """A record of energy that makes sense, with other fields where they are given."""
    return {"ts": START, "node": "rome", "watts": 120.0, **fields}


RECORDS = {
    "probes": probe,
    "heartbeats": heartbeat,
    "operators": operator,
    "streams": stream,
    "energy": energy,
}
"""What makes a record of each feed."""


def without(record: Entry, field: str) -> Entry:
    """The record without one of its fields."""
    return {name: value for name, value in record.items() if name != field}


def write_lines(path: Path, lines: Iterable[Line], end: bytes = b"\n") -> None:
    """Write records as JSON, text and bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(as_bytes(line) + end for line in lines))


def as_bytes(line: Line) -> bytes:
    """A line of a file."""
    if isinstance(line, bytes):
        return line
    return (json.dumps(line, ensure_ascii=False) if isinstance(line, dict) else line).encode()


def write_problem(folder: Path, problem: Entry = PROBLEM) -> Path:
    """Write a problem file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "problem-before.json"
    path.write_text(json.dumps(problem))
    return path


class Ingested:
    """What an ingest gave: its tables as pandas reads them, the problem and the report."""

    def __init__(self, out: Path, summary: Summary) -> None:
        self.out = out
        self.summary = summary
        self.problem: Entry = json.loads((out / "problem.json").read_text())
        self.report: Entry = json.loads((out / "report.json").read_text())

    def table(self, name: str) -> pd.DataFrame:
        """A table."""
        return pd.read_parquet(self.out / name)

    def rows(self, name: str, *keys: str) -> dict[Any, Entry]:
        """The rows of a table by their keys; a value that is not there is None."""
        rows = self.table(name).astype(object)
        rows = rows.where(rows.notna(), None)
        found = {
            row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row
            for row in rows.to_dict("records")
        }
        assert len(found) == len(rows), "two rows with the same keys"
        return found

    def links(self) -> dict[Any, Entry]:
        """The table of links by their ends."""
        return self.rows("links", "from", "to")

    def nodes(self) -> dict[Any, Entry]:
        """The table of nodes by name."""
        return self.rows("nodes", "node")

    def operators(self) -> dict[Any, Entry]:
        """The table of operators by application and name."""
        return self.rows("operators", "application", "operator")

    def streams(self) -> dict[Any, Entry]:
        """The table of streams by application and ends."""
        return self.rows("streams", "application", "from", "to")

    def quarantine(self) -> list[tuple[str, str, str | None, str]]:
        """Folder, file, record and reason of all that was put aside."""
        rows = self.table("quarantine").astype(object)
        rows = rows.where(rows.notna(), None)
        return list(rows[["folder", "file", "record", "reason"]].itertuples(index=False, name=None))


def run_ingest(
    spark: SparkSession,
    telemetry: Path,
    out: Path,
    problem: Entry = PROBLEM,
    names: Path | None = None,
    **options: Any,
) -> Ingested:
    """Take in a folder."""
    path = write_problem(out.parent / f"{out.name}-problem", problem)
    return Ingested(out, ingest(spark, telemetry, path, out, IngestOptions(**options), names=names))


def random_feed(seed: int, start: int = START, minutes: int = 40) -> dict[str, list[Entry]]:
    """A feed with noise, outages, nodes that come late, wild values and times in all notations."""
    chance = random.Random(seed)
    end = start + minutes * 60_000
    feed: dict[str, list[Entry]] = {"probes": [], "heartbeats": [], "operators": [], "streams": []}
    for first, second in (("rome", "paris"), ("paris", "rome"), ("paris", "7"), ("rome", "kä%s+e")):
        level = 2 * DELAYS[frozenset((first, second))]
        for _ in range(400):
            wild = chance.random() < 0.05
            rtt = level * (chance.uniform(5, 500) if wild else chance.lognormvariate(0, 0.05))
            feed["probes"].append(probe(**{"from": first, "to": second}, ts=start, rtt_ms=rtt))
    feed["heartbeats"] = [beat for node in NODES for beat in _beats(chance, node, start, end)]
    for _ in range(200):
        feed["operators"].append(_busy(chance))
        feed["streams"].append(_flow(chance))
    for records in feed.values():
        for record in records:
            if record["ts"] == START:
                record["ts"] = chance.randrange(start, end)
        chance.shuffle(records)
    return feed


DELAYS = {
    frozenset(("rome", "paris")): 12.0,
    frozenset(("paris", "7")): 35.0,
    frozenset(("rome", "kä%s+e")): 0.4,
}


def _beats(chance: random.Random, node: str, start: int, end: int) -> list[Entry]:
    interval = chance.choice((1_000, 5_000, 7_500))
    moment = start + chance.choice((0, chance.randrange(1, 10 * interval)))
    up, beats = True, []
    while moment < end - chance.choice((0, 8 * interval)):
        if chance.random() < 0.1:
            up = not up
        beats.append(
            heartbeat(
                ts=moment,
                node=node,
                up=up,
                run_queue=chance.randrange(5),
                mips=1000.0 * SPEEDS[node] * chance.lognormvariate(0, 0.02) if up else 0,
            )
        )
        if chance.random() < 0.2:
            beats[-1] |= {chance.choice(("mips", "run_queue")): None}
        elif chance.random() < 0.2:
            beats[-1] = without(beats[-1], chance.choice(("mips", "run_queue")))
        late = chance.random()
        jitter = chance.randrange(-interval // 20, interval // 20)
        moment += interval + jitter if late > 0.08 else round(interval * chance.uniform(1.5, 30))
    return beats


SPEEDS = {"rome": 1.3, "paris": 1.9, "7": 0.7, "kä%s+e": 1.0}


def _busy(chance: random.Random) -> Entry:
    name, instance = chance.choice(
        [("source", "source"), ("split", "split#0"), ("split", "split#2"), ("join", "join"), ("sink", "sink")]
    )
    node = chance.choice((*NODES, "silent"))
    tuples = chance.randrange(50)
    return operator(
        operator=name, instance=instance, node=node, tuples=tuples, busy_ms=tuples * chance.uniform(1, 9)
    )


def _flow(chance: random.Random) -> Entry:
    ends = chance.choice([("source", "split"), ("split", "join"), ("more", "join"), ("join", "log")])
    tuples = chance.randrange(1000)
    return stream(
        **dict(zip(("from", "to"), ends, strict=True)),
        tuples=tuples,
        bytes=tuples * chance.randrange(10, 90),
        window_ms=chance.choice((1000, 5000, 59_999)),
    )


def copied(copies: int) -> tuple[Entry, dict[str, list[Entry]]]:
    """The problem and its random feed several times side by side, each with names and a seed of its own."""
    problem = copy.deepcopy(PROBLEM)
    problem["network"] |= {"nodes": [], "links": []}
    problem["applications"] = []
    feed: dict[str, list[Entry]] = {"probes": [], "heartbeats": [], "operators": [], "streams": []}
    for number in range(copies):
        network = copy.deepcopy(PROBLEM["network"])
        for kind in ("nodes", "links"):
            problem["network"][kind] += [
                _renamed(entry, number, ("name", "from", "to")) for entry in network[kind]
            ]
        for application in copy.deepcopy(PROBLEM["applications"]):
            for each in application["operators"]:
                if "pinned" in each:
                    each["pinned"] += f"-{number}"
            problem["applications"].append(_renamed(application, number, ("name",)))
        for name, records in random_feed(number).items():
            fields = ("from", "to", "node") if name in ("probes", "heartbeats") else ("application", "node")
            feed[name] += [_renamed(record, number, fields) for record in records]
    return problem, feed


def _renamed(entry: Entry, number: int, fields: tuple[str, ...]) -> Entry:
    return {name: f"{value}-{number}" if name in fields else value for name, value in entry.items()}


def write_feed(folder: Path, feed: Mapping[str, Iterable[Line]], file: str = "part.jsonl") -> None:
    """Write each kind of telemetry into its folder."""
    for name, lines in feed.items():
        write_lines(folder / name / file, lines)
