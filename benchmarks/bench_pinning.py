"""What pinning costs: an application by its plan against the same shuffles without profiles and passes.

On one local cluster of three workers, three executors of two slots for both sides, in turns; seconds of a
micro-batch from its trigger to its commit, the first ones left out:
- `python`: three functions over Arrow batches, a million rows a batch (wanted: at most 15 % less throughput);
- `built-in`: two operators of Spark's own, 50,000 rows a batch (wanted: at most 1.25 times the seconds);
- `steady`: the same with 100 rows a batch, three pinned stages (wanted: under 1 s);
- `lost-node`: from the SIGKILL of a worker to the first batch by a plan without it (wanted: under 60 s).
The pinned side is `berth.runtime` as `berth run` uses it, with all its measuring. `--only` takes some of
these parts. It takes some minutes, and means something only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pyarrow.compute
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.files import problem_from
from berth.files.plan_file import plan_from
from berth.model import Plan, Problem
from berth.runtime.application import Application, Operator, described
from berth.runtime.cluster.access import access_to
from berth.runtime.cluster.nodes import Cluster
from berth.runtime.cluster.starting import temporary_cluster
from berth.runtime.executors import ExecutorSize
from berth.runtime.measures import BatchMeasures
from berth.runtime.placement import Branch
from berth.runtime.running import Run, RunOptions
from berth.runtime.shapes import call
from berth.runtime.weave import Weaver, call_sink
from berth.spark import spark_session

NODES = ("rome", "paris", "tokyo")
SCHEMA = "sensor long, value double"
PARTS = ("python", "built-in", "steady", "lost-node")
BATCHES, WARM = 12, 4
SIZE = ExecutorSize("1g", 2)


def python_application(folder: Path) -> Application:
    """Files of readings through three functions over batches."""
    app = Application("python")

    @app.source
    def readings(spark: SparkSession) -> DataFrame:
        return stream_of(spark, folder)

    def add(name: str, sender: str) -> None:
        @app.map_in_arrow(SCHEMA, name=name, inputs=[sender], parallelism=2)
        def work(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                values = pyarrow.compute.sqrt(pyarrow.compute.add(batch.column(1), 1.0))
                yield pyarrow.RecordBatch.from_arrays([batch.column(0), values], ["sensor", "value"])

    for sender, name in (("readings", "first"), ("first", "second"), ("second", "third")):
        add(name, sender)

    @app.sink
    def nowhere(third: DataFrame) -> None:
        third.write.format("noop").mode("overwrite").save()

    return app


def stream_of(session: SparkSession, folder: Path) -> DataFrame:
    """A file a batch."""
    return session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def built_in_application(folder: Path) -> Application:
    """Files of readings, cleaned, scaled, counted."""
    app = Application("built-in")

    @app.source
    def readings(spark: SparkSession) -> DataFrame:
        return stream_of(spark, folder)

    @app.operator
    def clean(readings: DataFrame) -> DataFrame:
        return readings.where("value >= 0")

    @app.operator
    def scale(clean: DataFrame) -> DataFrame:
        return clean.withColumn("value", F.col("value") * 2 + F.col("sensor"))

    @app.sink
    def nowhere(scale: DataFrame) -> None:
        scale.write.format("noop").mode("overwrite").save()

    return app


class Unpinned(Weaver):
    """The same boundaries, and nothing else."""

    def _passed(self, frame: DataFrame, post: Any) -> DataFrame:
        return frame

    def _worked(self, operator: Operator, branch: Branch, frames: Sequence[DataFrame]) -> DataFrame:
        if operator.kind == "arrow":
            schema: Any = operator.schema
            return frames[0].mapInArrow(operator.function, schema)
        return call(operator, *frames)


def problem_of(app: Application) -> Problem:
    nodes = [{"name": name, "capacity": {"cpu": 2}} for name in NODES]
    network = {"nodes": nodes, "delay_ms": [[0, 5, 5], [5, 0, 5], [5, 5, 0]]}
    document = {"format": "berth/v1", "name": "bench", "network": network, "applications": [described(app)]}
    return problem_from(document)


def plan_of(app: Application, nodes: Sequence[str]) -> Plan:
    """Every operator on the next node; the instances of one on the same."""
    homes: dict[str, str] = {}
    for number, operator in enumerate(app.in_order()):
        name = f"{app.name}/{operator.name}"
        several = [f"{name}#{each}" for each in range(operator.parallelism)]
        homes |= dict.fromkeys(several if operator.parallelism > 1 else [name], nodes[number % len(nodes)])
    return plan_from({"format": "berth-plan/v1", "problem": "bench", "assignment": homes})


def settings() -> dict[str, str]:
    return {
        "spark.executor.cores": "2",
        "spark.cores.max": "6",
        "spark.executor.memory": SIZE.memory,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }


def unpinned(cluster: Cluster, app: Application, work: Callable[[SparkSession, Weaver], float]) -> float:
    from berth.runtime.placement import placement_of

    with spark_session(cluster.master_url, name="bench", settings=settings()) as session:
        placement = placement_of(app, problem_of(app), plan_of(app, NODES))
        nowhere: Any = dict.fromkeys(NODES)
        return work(session, Unpinned(session, app, placement, nowhere, print, lambda u, v: 0.0))


def write_files(session: SparkSession, folder: Path, rows: int) -> None:
    for number in range(BATCHES):
        frame = session.range(rows).selectExpr("id % 100 AS sensor", "rand(1) * 100 AS value")
        frame.coalesce(1).write.mode("overwrite").parquet(str(folder / f"aside-{number}"))
        (written,) = (folder / f"aside-{number}").glob("part-*.parquet")
        (folder / "in").mkdir(exist_ok=True)
        written.rename(folder / "in" / f"{number}.parquet")


def seconds_of(progress: list[dict[str, Any]]) -> float:
    """A batch's usual time, from trigger to commit, the first ones left out."""
    whole = [each["durationMs"]["triggerExecution"] / 1000 for each in progress if each["numInputRows"]]
    return statistics.median(whole[WARM:])


def pinned_stream(cluster: Cluster, app: Application, out: Path) -> float:
    done: list[BatchMeasures] = []
    options = RunOptions(executor=SIZE, probe_every_s=0)
    with Run(app, problem_of(app), plan_of(app, NODES), access_to(cluster), out, options, done.append) as run:
        while len(done) < BATCHES and run.wait(0.1) == "running":
            continue
        while run._query is not None and not run._query.idle:
            time.sleep(0.1)
        assert run._query is not None
        assert run._query._stream is not None
        return seconds_of([json.loads(each.json) for each in run._query._stream.recentProgress])


def plain_stream(checkpoint: Path) -> Callable[[SparkSession, Weaver], float]:
    def work(session: SparkSession, weaver: Weaver) -> float:
        def sink(rows: DataFrame, number: int) -> None:
            for operator, branch, frames in weaver.sinks(rows):
                call_sink(operator, branch, frames, number)

        writer = weaver.stream().writeStream.foreachBatch(sink)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        query.processAllAvailable()
        progress = [json.loads(each.json) for each in query.recentProgress]
        query.stop()
        return seconds_of(progress)

    return work


def lost_node(cluster: Cluster, app: Application, out: Path) -> float:
    """Seconds from the death of a worker to the first batch by a plan without it."""
    done: list[BatchMeasures] = []
    options = RunOptions(executor=SIZE, probe_every_s=0)
    with Run(app, problem_of(app), plan_of(app, NODES), access_to(cluster), out, options, done.append) as run:
        while not done:
            run.wait(0.1)
        worker = next(
            process
            for process in psutil.process_iter(["cmdline", "environ"])
            if "org.apache.spark.deploy.worker.Worker" in (process.info["cmdline"] or [])
            and (process.info["environ"] or {}).get("BERTH_NODE") == "tokyo"
        )
        began = time.perf_counter()
        os.kill(worker.pid, signal.SIGKILL)
        while run.wait(30) != "node lost":
            continue
        run.apply(plan_of(app, NODES[:2]))
        before = len(done)
        while len(done) <= before and not (run._query and run._query.idle):
            run.wait(0.1)
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some of the parts")
    chosen = parser.parse_args()
    rounds = chosen.rounds
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with temporary_cluster(problem_of(built_in_application(folder)), lambda text: None) as cluster:
            for name, rows, wanted in (
                ("python", 1_000_000, "at most 15 % less throughput: 1.18 times"),
                ("built-in", 50_000, "at most 1.25 times"),
                ("steady", 100, "under 1 s"),
            ):
                if name not in chosen.only:
                    continue
                data = folder / name
                data.mkdir()
                with spark_session("local[2]") as session:
                    write_files(session, data, rows)
                make = python_application if name == "python" else built_in_application
                stream = make(data / "in")
                pinned, plain = [], []
                for number in range(rounds):
                    pinned.append(pinned_stream(cluster, stream, folder / f"{name}-{number}"))
                    plain.append(unpinned(cluster, stream, plain_stream(folder / f"{name}-plain-{number}")))
                ours, theirs = statistics.median(pinned), statistics.median(plain)
                print(
                    f"{name}: {rows:,} rows a batch: {ours:.2f} s pinned, {theirs:.2f} s without, "
                    f"{ours / theirs:.2f} times (wanted: {wanted})",
                    flush=True,
                )
            if "lost-node" in chosen.only:
                data = folder / "lost-node"
                data.mkdir()
                with spark_session("local[2]") as session:
                    write_files(session, data, 100)
                seconds = lost_node(cluster, built_in_application(data / "in"), folder / "lost")
                print(f"lost node: {seconds:.1f} s until the new plan runs (wanted: under 60 s)")


if __name__ == "__main__":
    main()
