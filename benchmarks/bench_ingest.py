"""`berth ingest` of millions of probes against a bare `groupBy(from, to).avg(rtt_ms)` over the same files.

One Spark session on local[2] does both, in turns. One record in twenty is garbage, so the quarantine is
written, too. Prints the ratio for 1 and 10 million records in Parquet and in JSON lines, how the time grows,
and the peak memory of the driver's Python process. Options: --millions 1 10, --formats parquet jsonl,
--rounds 3.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.ingest import IngestOptions, ingest
from berth.spark import spark_session

NODES = 200
GARBAGE = 0.05
FIRST = 1_763_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 10])
    parser.add_argument("--formats", nargs="+", default=["parquet", "jsonl"])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-ingest-"))
    try:
        with spark_session("local[2]", name="bench_ingest") as session:
            problem = write_problem(folder)
            for form in chosen.formats:
                run(session, folder, problem, form, chosen.millions, chosen.rounds)
    finally:
        shutil.rmtree(folder)


def run(
    session: SparkSession, folder: Path, problem: Path, form: str, millions: list[float], rounds: int
) -> None:
    times = {}
    for size in millions:
        telemetry = folder / f"{form}-{size:g}"
        write_probes(session, telemetry, form, round(size * 1e6))
        bare, whole = [], []
        for attempt in range(rounds + 1):
            plain = seconds(average, session, telemetry, form)
            ours = seconds(ingest, session, telemetry, problem, folder / "out", IngestOptions())
            if attempt:  # the first of both warms up
                bare.append(plain)
                whole.append(ours)
        times[size] = statistics.median(whole)
        ratio = statistics.median(ours / plain for ours, plain in zip(whole, bare, strict=True))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{form} {size:g} million: groupBy.avg {statistics.median(bare):.2f} s, "
            f"ingest {times[size]:.2f} s, ratio {ratio:.2f} (wanted: at most 4); driver {memory:.0f} MB",
            flush=True,
        )
        shutil.rmtree(telemetry)
    first, last = min(times), max(times)
    if first < last:
        growth = times[last] / times[first]
        print(f"{form}: {last / first:g} times the records take {growth:.1f} times as long")


def seconds(action: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - start


def average(session: SparkSession, telemetry: Path, form: str) -> None:
    reader = session.read.schema("ts bigint, `from` string, `to` string, rtt_ms double")
    probes = reader.format("json" if form == "jsonl" else form).load(str(telemetry / "probes"))
    probes.groupBy("from", "to").agg(F.avg("rtt_ms")).write.format("noop").mode("overwrite").save()


def write_problem(folder: Path) -> Path:
    """Many nodes without links: the probes tell what is between them."""
    nodes = [{"name": f"node-{number}", "capacity": {"cpu": 8}} for number in range(NODES)]
    application = {"name": "application", "operators": [{"name": "operator", "demand": {"cpu": 1}}]}
    document = {
        "format": "berth/v1",
        "name": "bench",
        "network": {"nodes": nodes},
        "applications": [application],
    }
    file = folder / "problem.json"
    file.write_text(json.dumps(document))
    return file


def write_probes(session: SparkSession, telemetry: Path, form: str, records: int) -> None:
    rows = probes(session, records)
    target = telemetry / "probes"
    if form == "parquet":
        rows.write.parquet(str(target))
        return
    rows.write.json(str(target))
    for file in target.glob("part-*.json"):
        file.rename(file.with_suffix(".jsonl"))


def probes(session: SparkSession, records: int) -> DataFrame:
    pair = F.pmod(F.xxhash64("id"), F.lit(NODES * NODES))
    sender, hop = F.floor(pair / NODES), pair % (NODES - 1) + 1
    receiver = (sender + hop) % NODES
    noise = F.exp(F.randn(1) * 0.1) * F.when(F.rand(2) < 0.01, 30.0).otherwise(1.0)
    rtt = (20 + pair % 180) * noise
    fault = F.rand(3)
    return session.range(0, records, 1, max(2, records // 1_250_000)).select(
        (F.lit(FIRST) + F.col("id")).alias("ts"),
        F.concat(F.lit("node-"), sender.cast("string")).alias("from"),
        F.when(fault < 0.01, F.lit("nowhere"))
        .otherwise(F.concat(F.lit("node-"), receiver.cast("string")))
        .alias("to"),
        F.when(fault > 1 - (GARBAGE - 0.01), -rtt).otherwise(rtt).alias("rtt_ms"),
    )


if __name__ == "__main__":
    main()
