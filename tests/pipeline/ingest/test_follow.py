"""A feed that comes in pieces, with failures in between, ends with the tables of one ingest of it all."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from berth.model import BadInput
from berth.pipeline.ingest import publish, state
from berth.pipeline.ingest.follow import follow
from berth.pipeline.options import IngestOptions
from berth.pipeline.storage import replace_folder
from berth.spark import SparkSession
from tests.pipeline.telemetry import (
    START,
    heartbeat,
    probe,
    random_feed,
    run_ingest,
    write_lines,
    write_problem,
)

TABLES = ("links", "nodes", "operators", "streams", "quarantine")
ROUNDS = 2
MINUTES = 40


class Killed(Exception):  # noqa: N818
    """Stands for the end of the process."""


def rounds_of_feed() -> list[dict[str, list[Any]]]:
    """A third of a feed in each round; some records come a round late, and each round has garbage."""
    feed = random_feed(5, minutes=MINUTES)
    feed = {name: sorted(records, key=lambda record: str(record["ts"])) for name, records in feed.items()}
    rounds: list[dict[str, list[Any]]] = []
    for number in range(ROUNDS):
        part = {}
        for name, records in feed.items():
            share = [record for k, record in enumerate(records) if (k * ROUNDS) // len(records) == number]
            late = share[::17] if number < ROUNDS - 1 else []
            part[name] = [record for k, record in enumerate(share) if k % 17 or not late]
            part[name] += rounds[-1]["late " + name] if rounds else []
            part["late " + name] = late
        rounds.append(part)
    lines = [{name: part[name] for name in feed} for part in rounds]
    for part in lines:
        part["probes"] = [*part["probes"], "cut off", probe(rtt_ms=-1)]
    return lines


def put(telemetry: Path, part: dict[str, list[Any]], number: int) -> None:
    for name, records in part.items():
        write_lines(telemetry / name / f"{number}.jsonl", records)


def tables(out: Path) -> dict[str, pd.DataFrame]:
    found = {name: pd.read_parquet(out / name) for name in TABLES}
    return {
        name: table.sort_values(
            [key for key in table.columns if table[key].dtype == object or "window" in key]
        )
        for name, table in found.items()
    }


def assert_same(out: Path, wanted: Path) -> None:
    here, there = tables(out), tables(wanted)
    for name in TABLES:
        pd.testing.assert_frame_equal(
            here[name].reset_index(drop=True), there[name].reset_index(drop=True), check_exact=True
        )
    assert (out / "problem.json").read_text() == (wanted / "problem.json").read_text()


def bomb(monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """Let the process 'end' at some moment when something is put in its place."""
    calls = 0

    def counted(action: Callable[..., None]) -> Callable[..., None]:
        def act(*arguments: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == call:
                raise Killed
            action(*arguments)

        return act

    monkeypatch.setattr(state, "replace_folder", counted(replace_folder))
    monkeypatch.setattr(publish, "write_text", counted(publish.write_text))


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "calls"),
    [
        pytest.param(IngestOptions(), (3, 7), id="at once"),
        pytest.param(IngestOptions(window_s=300, watermark_s=1300), (1, 6), id="windows"),
    ],
)
def test_failures_leave_no_trace(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: IngestOptions,
    calls: tuple[int, ...],
) -> None:
    """Each round is killed once while states, tables or the problem are put in place, and run again."""
    telemetry, out, problem = tmp_path / "telemetry", tmp_path / "out", write_problem(tmp_path / "problem")
    for number, (part, call) in enumerate(zip(rounds_of_feed(), calls, strict=True)):
        put(telemetry, part, number)
        with monkeypatch.context() as patched:
            bomb(patched, call)
            with pytest.raises(Exception, match="Killed"):
                follow(spark, telemetry, problem, out, options, once=True)
        if number == 1:  # as if it had ended between the two renames of a table
            (out / "links").rename(out / ".links-00000000")
        follow(spark, telemetry, problem, out, options, once=True)
    run_ingest(spark, telemetry, tmp_path / "wanted", window_s=options.window_s)
    assert_same(out, tmp_path / "wanted")
    again = follow(spark, telemetry, problem, out, options, once=True)
    assert again.counts.files["probes"] == ROUNDS
    assert not list(out.glob(".links-*"))
    with pytest.raises(BadInput, match=r"--window: 7\.0 now"):
        follow(spark, telemetry, problem, out, IngestOptions(window_s=7.0), once=True)


def test_what_comes_too_late(spark: SparkSession, tmp_path: Path) -> None:
    """Records from before the watermark are in quarantine; those within it count."""
    telemetry, out = tmp_path / "telemetry [1]", tmp_path / "out {x}"
    problem = write_problem(tmp_path / "problem")
    options = IngestOptions(watermark_s=60)
    write_lines(telemetry / "probes" / "0.jsonl", [probe(ts=START + 600_000, rtt_ms=10)])
    write_lines(telemetry / "heartbeats" / "0.jsonl", [heartbeat(ts=START + 600_000)])
    follow(spark, telemetry, problem, out, options, once=True)
    late = [probe(ts=START + 540_000, rtt_ms=10), probe(ts=START + 539_999, rtt_ms=10)]
    write_lines(telemetry / "probes" / "1%62 #+[x].jsonl", late)
    shutil.copy(telemetry / "probes" / "1%62 #+[x].jsonl", telemetry / "probes" / ".1.jsonl")
    summary = follow(spark, telemetry, problem, out, options, once=True)
    assert summary.counts.records == {"probes": 2, "heartbeats": 1}
    assert summary.counts.quarantined == {"probes": {"ts: too late, behind the watermark": 1}}
    rows = pd.read_parquet(out / "quarantine")
    assert rows["reason"].tolist() == ["ts: too late, behind the watermark"]
    assert rows["file"].tolist() == ["probes/1%62 #+[x].jsonl"]
