"""The sampled feed against the problem that it was made from, read back with plain Python."""

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pyspark.sql import DataFrame

from berth.files import problem_from
from berth.model import BadInput, Plan, Problem
from berth.pipeline.sample import SampleOptions, plan_sample, sample_telemetry, truth_of, write_telemetry
from berth.spark import SparkSession

ODD = 'kä"s\\e'
AVAILABILITY = {ODD: 1.0, "b": 0.99, "c": 0.9, "d": 0.5, "e": 0.03, "f": 0.0, "g": 0.995}
SPEED = {ODD: 1.0, "b": 2.0, "c": 0.5}
DELAY = {(ODD, "b"): 10.0, ("b", "c"): 25.0, (ODD, "c"): 0.4}
DOCUMENT: dict[str, Any] = {
    "format": "berth/v1",
    "name": "truth",
    "network": {
        "nodes": [
            {"name": name, "availability": share, "speed": SPEED.get(name, 1.0), "run_queue": number}
            for number, (name, share) in enumerate(AVAILABILITY.items())
        ],
        "links": [{"from": ends[0], "to": ends[1], "delay_ms": delay} for ends, delay in DELAY.items()],
    },
    "applications": [
        {
            "name": "app{1}",
            "operators": [
                {"name": "source", "emits_bytes_per_s": 20000, "work_ms": 0.5},
                {"name": "split", "parallelism": 3, "selectivity": 0.25, "work_ms": 2},
                {"name": "slow", "work_ms": 40},
            ],
            "streams": [{"from": "source", "to": "split"}, {"from": "split", "to": "slow"}],
        },
        {"name": "alone", "operators": [{"name": "only", "work_ms": 3}]},
    ],
}
START = 1_750_000_000_000
OPTIONS = SampleOptions(
    records=24_000, seed=7, start="2025-06-15T15:06:40Z", garbage=0.05, timestamps="mixed", files=3
)
FIELDS = {
    "probes": {"ts": "time", "from": str, "to": str, "rtt_ms": float},
    "heartbeats": {"ts": "time", "node": str, "up": bool, "run_queue": float, "mips": float},
    "operators": {
        "ts": "time",
        "application": str,
        "operator": str,
        "instance": str,
        "node": str,
        "tuples": int,
        "busy_ms": float,
    },
    "streams": {
        "ts": "time",
        "application": str,
        "from": str,
        "to": str,
        "tuples": int,
        "bytes": int,
        "window_ms": int,
    },
}
NAMES = {
    "node": set(AVAILABILITY),
    "application": {"app{1}", "alone"},
    "operator": {"source", "split", "slow", "only"},
    "instance": {"source", "split#0", "split#1", "split#2", "slow", "only"},
}
PROBLEM = problem_from(DOCUMENT)
RECORD = dict[str, Any]


def refused(text: str) -> Any:
    raise ValueError(f"no JSON: {text}")


def milliseconds(value: Any) -> int | None:
    """A time in one of the two legal forms."""
    try:
        moment = round(datetime.fromisoformat(value).timestamp() * 1000) if isinstance(value, str) else value
    except ValueError:
        return None
    return moment if type(moment) is int and START <= moment <= START + 3_600_000 else None


def judged(line: bytes, folder: str) -> RECORD | None:
    """The record in a line, its time in milliseconds; None where it is garbage by section 5."""
    try:
        record = json.loads(line.decode(), parse_constant=refused)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.keys() != FIELDS[folder].keys():
        return None
    record["ts"] = milliseconds(record["ts"])
    kinds = FIELDS[folder]
    if record["ts"] is None or any(type(record[name]) is not kinds[name] for name in kinds if name != "ts"):
        return None
    numbers = [value for value in record.values() if type(value) in (int, float)]
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        return None
    return record if makes_sense(record, folder) else None


def makes_sense(record: RECORD, folder: str) -> bool:
    named = {name: record[name] for name in record.keys() & NAMES.keys()}
    if any(value not in NAMES[kind] for kind, value in named.items()):
        return False
    if folder == "probes":
        return {record["from"], record["to"]} <= NAMES["node"] and record["from"] != record["to"]
    if folder == "heartbeats":
        return bool(record["mips"] > 0 or not record["up"])
    if folder == "streams":
        return (record["from"], record["to"]) in {("source", "split"), ("split", "slow")} and record[
            "window_ms"
        ]
    return True


@pytest.fixture(scope="module")
def feed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sample") / "feed"
    write_telemetry(spark, plan_sample(PROBLEM, OPTIONS), target)
    return target


@pytest.fixture(scope="module")
def good(feed: Path) -> dict[str, list[RECORD]]:
    records = {}
    for folder in FIELDS:
        read = [judged(line, folder) for line in lines_of(feed, folder)]
        records[folder] = [record for record in read if record is not None]
    return records


def lines_of(feed: Path, folder: str) -> list[bytes]:
    files = sorted((feed / folder).iterdir())
    return [line for file in files for line in file.read_bytes().splitlines(keepends=False)]


def test_manifest_counts_every_line(feed: Path, good: dict[str, list[RECORD]]) -> None:
    """Legal records and garbage are exactly as many as it says, and the share is the one asked for."""
    truth = json.loads((feed / "_truth.json").read_text())
    assert sum(folder["records"] for folder in truth["folders"].values()) == OPTIONS.records
    for name, folder in truth["folders"].items():
        assert len(good[name]) == folder["records"]
        assert len(lines_of(feed, name)) - len(good[name]) == folder["garbage"]
        assert sum(folder["faults"].values()) == folder["garbage"]
        assert folder["garbage"] / len(lines_of(feed, name)) == pytest.approx(0.05, abs=0.002)
    # the faults take turns: with enough garbage none is left out
    assert min(truth["folders"]["probes"]["faults"].values()) >= 1


def test_files_are_slices_of_time(feed: Path) -> None:
    """So many files as asked for, named in the order of their records, and nothing else."""
    assert sorted(path.name for path in feed.iterdir()) == sorted([*FIELDS, "_truth.json"])
    for folder in FIELDS:
        files = sorted((feed / folder).iterdir())
        assert [file.name for file in files] == [f"part-0000{number}.jsonl" for number in range(3)]
        read = [
            [record["ts"] for line in file.read_bytes().splitlines() if (record := judged(line, folder))]
            for file in files
        ]
        assert all(max(before) <= min(after) + 1000 for before, after in pairwise(read))


def test_both_forms_of_time(feed: Path) -> None:
    """A mixed feed has text and numbers in one file."""
    kinds = Counter(
        type(json.loads(line)["ts"])
        for line in lines_of(feed, "probes")
        if judged(line, "probes") is not None
    )
    assert min(kinds[str], kinds[int]) > 0.4 * kinds.total()


def test_delays(good: dict[str, list[RECORD]]) -> None:
    """The median round trip of each link is twice its delay, both ways; a few probes are far off."""
    trips: dict[tuple[str, str], list[float]] = {}
    for record in good["probes"]:
        trips.setdefault((record["from"], record["to"]), []).append(record["rtt_ms"])
    assert trips.keys() == DELAY.keys() | {(there, here) for here, there in DELAY}
    for (here, there), values in trips.items():
        delay = DELAY.get((here, there)) or DELAY[there, here]
        assert median(values) == pytest.approx(2 * delay, rel=0.02)
        assert 0.003 < sum(value > 6 * delay for value in values) / len(values) < 0.02
        sigma = median(abs(math.log(value / 2 / delay)) for value in values) / 0.6745
        assert sigma == pytest.approx(0.1, rel=0.15)


def down_share(beats: list[RECORD], first: int, last: int) -> float:
    """The share of the time in which a node is not up, as the contract defines it."""
    times = [(record["ts"], record["up"]) for record in sorted(beats, key=lambda record: record["ts"])]
    pairs = list(pairwise(times))
    interval = median(after - before for (before, _), (after, _) in pairs)
    down = 0.0
    for (before, up), (after, _) in pairs:
        gap = after - before
        silence = gap - interval if gap > 3 * interval else 0.0
        down += silence + (0.0 if up else gap - silence)
    return down / (last - first)


def by_node(beats: list[RECORD]) -> dict[str, list[RECORD]]:
    nodes: dict[str, list[RECORD]] = {}
    for record in beats:
        nodes.setdefault(record["node"], []).append(record)
    return nodes


def heartbeats_of(spark: SparkSession, problem: Problem, options: SampleOptions) -> dict[str, list[RECORD]]:
    rows = sample_telemetry(spark, problem, options)["heartbeats"].toPandas()
    return by_node(rows.to_dict("records"))


@pytest.mark.parametrize("interval", [1.0, 10.0])
def test_availability(spark: SparkSession, interval: float) -> None:
    """Heartbeats give back each node's availability; all nodes have the feed's ends."""
    options = replace(OPTIONS, records=None, heartbeat_interval=interval, garbage=0.0, format="parquet")
    options = replace(options, timestamps="epoch")
    found = heartbeats_of(spark, PROBLEM, options)
    for node, share in AVAILABILITY.items():
        times = [record["ts"] for record in found[node]]
        assert (min(times), max(times)) == (START, START + 3_600_000)
        available = 1 - down_share(found[node], START, START + 3_600_000)
        # each spell begins and ends up to 2 % of an interval early or late
        assert available == pytest.approx(share, abs=(0.5 + 0.04 * 30) * interval / 3600)
        assert abs(available - share) < 0.002
    silent = {node for node, beats in found.items() if len(beats) < 1 + 3600 / interval}
    said = {node for node, beats in found.items() if not all(record["up"] for record in beats)}
    assert silent
    assert said
    assert ODD not in silent | said


def test_without_outages(spark: SparkSession) -> None:
    """Every node is up and heard all the time."""
    options = replace(OPTIONS, records=None, outages=False, garbage=0.0, format="parquet")
    found = heartbeats_of(spark, PROBLEM, options)
    assert {len(beats) for beats in found.values()} == {361}
    assert all(record["up"] for beats in found.values() for record in beats)


def test_speed_and_run_queue(good: dict[str, list[RECORD]]) -> None:
    """Mips are 1000 x speed, and run queues vary around the node's."""
    for node, beats in by_node(good["heartbeats"]).items():
        # a node that is hardly ever up is hardly ever heard
        off = 1 / math.sqrt(len(beats))
        strength, waiting = 1000 * SPEED.get(node, 1.0), list(AVAILABILITY).index(node)
        assert median(record["mips"] for record in beats) == pytest.approx(strength, rel=0.1 * off)
        assert median(record["run_queue"] for record in beats) == pytest.approx(waiting, rel=0.8 * off)


def sums(records: list[RECORD], key: str, *amounts: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for record in records:
        total = found.setdefault(f"{record['application']}/{record[key]}", [0.0] * len(amounts))
        for place, amount in enumerate(amounts):
            total[place] += record[amount]
    return found


def test_rates(good: dict[str, list[RECORD]]) -> None:
    """Bytes over time is a stream's rate, and a report is never far from the others."""
    for name, rate in {"app{1}/source": 20000.0, "app{1}/split": 5000.0}.items():
        carried, window, tuples = sums(good["streams"], "from", "bytes", "window_ms", "tuples")[name]
        assert window == 3_600_000
        assert carried / window * 1000 == pytest.approx(rate, rel=1e-6)
        assert carried / tuples == pytest.approx(1000, rel=1e-3)
    reports = [record["tuples"] for record in good["streams"] if record["from"] == "source"]
    assert len(set(reports)) > 10
    assert 0.7 * 200 < min(reports) < max(reports) < 1.3 * 200


def test_work(good: dict[str, list[RECORD]]) -> None:
    """Busy time over tuples is work_ms / speed; what streams bring is what instances take in."""
    busy = sums(good["operators"], "instance", "busy_ms", "tuples")
    nodes = {f"{record['application']}/{record['instance']}": record["node"] for record in good["operators"]}
    works = {item.name: item.operator.work_ms for item in PROBLEM.instances.operators}
    assert busy.keys() == set(PROBLEM.instances.names)
    for instance, (milliseconds_busy, tuples) in busy.items():
        expected = works[instance.split("#")[0]] / SPEED.get(nodes[instance], 1.0)
        assert milliseconds_busy / tuples == pytest.approx(expected, rel=1e-6)
    carried = sums(good["streams"], "to", "tuples")
    assert sum(busy[f"app{{1}}/split#{number}"][1] for number in range(3)) == carried["app{1}/split"][0]
    assert busy["app{1}/slow"][1] == carried["app{1}/slow"][0]
    assert busy["alone/only"][1] == 3600


def lines_in(frame: DataFrame) -> list[bytes]:
    """The lines of a folder, as bytes: some are no text."""
    return sorted(bytes(row[0]) for row in frame.selectExpr("cast(value as binary)").collect())


def test_same_seed_same_records(spark: SparkSession, feed: Path) -> None:
    """Other partitions give the same lines, garbage included."""
    frames = sample_telemetry(spark, PROBLEM, replace(OPTIONS, files=1))
    for folder, frame in frames.items():
        assert frame.rdd.getNumPartitions() == 1
        assert lines_in(frame) == sorted(lines_of(feed, folder))


def test_other_seed_other_records(spark: SparkSession, feed: Path) -> None:
    """Hardly any line is the same."""
    other = lines_in(sample_telemetry(spark, PROBLEM, replace(OPTIONS, seed=8))["probes"])
    assert len(set(other) & set(lines_of(feed, "probes"))) < 0.01 * len(other)


def test_drift(spark: SparkSession) -> None:
    """Delays move by the share asked for, and are true in the middle."""
    options = replace(
        OPTIONS, drift=0.4, noise=0.0, wild=0.0, garbage=0.0, format="parquet", timestamps="epoch"
    )
    rows = sample_telemetry(spark, PROBLEM, options)["probes"].where("`from` = 'b' and `to` = 'c'").toPandas()
    rows = rows.sort_values("ts")
    trips = rows["rtt_ms"] / 50
    assert trips.iloc[0] == pytest.approx(math.exp(-0.2), rel=0.01)
    assert trips.iloc[-1] == pytest.approx(math.exp(0.2), rel=0.01)
    assert trips.median() == pytest.approx(1.0, rel=0.01)


def test_parquet(spark: SparkSession, tmp_path: Path) -> None:
    """The same records in columns; garbage is what the types allow, counted in the manifest."""
    truth = write_telemetry(
        spark, plan_sample(PROBLEM, replace(OPTIONS, format="parquet", files=2)), tmp_path / "feed"
    )
    streams = spark.read.parquet(str(tmp_path / "feed" / "streams"))
    assert dict(streams.dtypes) == {
        **dict.fromkeys(("application", "from", "to"), "string"),
        **dict.fromkeys(("tuples", "bytes", "window_ms"), "bigint"),
        "ts": "timestamp",
    }
    probes = spark.read.parquet(str(tmp_path / "feed" / "probes")).toPandas()
    folder = truth["folders"]["probes"]
    assert len(probes) == folder["records"] + folder["garbage"]
    known = (
        probes["from"].isin(AVAILABILITY) & probes["to"].isin(AVAILABILITY) & (probes["from"] != probes["to"])
    )
    timely = probes["ts"].between(START, START + 3_600_000)
    measured = probes["rtt_ms"].between(0, 1e9)
    assert (known & timely & measured).sum() == folder["records"]
    assert (probes["rtt_ms"] == math.inf).sum() == folder["faults"]["rtt_ms: infinite"] > 0


def test_plan(spark: SparkSession) -> None:
    """Instances run where the plan says; those that it leaves out report nothing."""
    plan = Plan(assignment={"app{1}/slow": "c", "app{1}/split#1": "b"})
    options = replace(OPTIONS, garbage=0.0, format="parquet")
    rows = sample_telemetry(spark, PROBLEM, options, plan)["operators"].select("instance", "node").distinct()
    assert {tuple(row) for row in rows.collect()} == {("slow", "c"), ("split#1", "b")}
    assert "4 instances are not in the plan and are left out" in plan_sample(PROBLEM, options, plan).notes


def test_plan_with_unknown_names() -> None:
    """Bad input, with the option and the name."""
    plan = Plan(assignment={"app{1}/slwo": "c", "app{1}/slow": "z"})
    with pytest.raises(BadInput, match=r"(?s)--plan: .*did you mean 'app\{1\}/slow'.*no node named 'z'"):
        plan_sample(PROBLEM, OPTIONS, plan)


def test_target_with_something_in_it(spark: SparkSession, tmp_path: Path) -> None:
    """It is refused, or its telemetry is replaced and the rest stays."""
    tiny = plan_sample(PROBLEM, replace(OPTIONS, records=200, files=1))
    (tmp_path / "mine.txt").write_text("keep me")
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "old.jsonl").write_text("{}")
    with pytest.raises(BadInput, match="is not empty; --overwrite"):
        write_telemetry(spark, tiny, tmp_path)
    assert (tmp_path / "probes" / "old.jsonl").exists()
    write_telemetry(spark, tiny, tmp_path, overwrite=True)
    assert (tmp_path / "mine.txt").read_text() == "keep me"
    assert [path.name for path in (tmp_path / "probes").iterdir()] == ["part-00000.jsonl"]
    assert not [path for path in tmp_path.parent.iterdir() if path.name.startswith(f".{tmp_path.name}.")]


def test_nothing_is_left_where_spark_fails(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that fails in the middle leaves neither half a feed nor its folder aside."""

    def fail(*_: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr("berth.pipeline.sample.write._write_folder", fail)
    with pytest.raises(RuntimeError):
        write_telemetry(spark, plan_sample(PROBLEM, OPTIONS), tmp_path / "feed")
    assert list(tmp_path.iterdir()) == []


def one_node() -> Problem:
    document = {
        **DOCUMENT,
        "network": {"nodes": [{"name": "only"}]},
        "applications": [
            {
                "name": "a",
                "operators": [{"name": "s"}, {"name": "t"}],
                "streams": [{"from": "s", "to": "t"}],
            }
        ],
    }
    return problem_from(document)


def test_no_links_and_no_rates(spark: SparkSession, tmp_path: Path) -> None:
    """No probes and no streams, which is said; the other folders are there."""
    sample = plan_sample(one_node(), replace(OPTIONS, garbage=0.0, files=None))
    truth = write_telemetry(spark, sample, tmp_path / "feed")
    assert [truth["folders"][name]["records"] for name in FIELDS] == [0, 361, 720, 0]
    assert sorted(path.name for path in (tmp_path / "feed").iterdir()) == [
        "_truth.json",
        "heartbeats",
        "operators",
    ]
    assert "no two nodes are linked: no probes" in truth["notes"]
    assert "1 streams have an unknown rate and are left out" in truth["notes"]


def test_truth_needs_no_spark() -> None:
    """The manifest is arithmetic: it counts the garbage of feeds that are too large to look at."""
    truth = truth_of(plan_sample(PROBLEM, replace(OPTIONS, records=100_000_000)))
    probes = truth["folders"]["probes"]
    assert sum(probes["faults"].values()) == probes["garbage"] == round(probes["records"] * 0.05 / 0.95)
    assert probes["files"] == 3
