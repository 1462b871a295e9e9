"""Coordinates on Spark: as good as those of one machine, and the same whatever the partitions."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from berth.cli.app import app
from berth.files.probes import read_probes
from berth.pipeline.coordinates import Located, Measurements, read_probe_tables, spark_coordinates
from berth.pipeline.coordinates.measurements import judged, pooled
from berth.pipeline.storage import Scratch
from berth.space import Samples, VivaldiOptions, embed, samples_from_pairs
from berth.spark import SparkSession

pytestmark = pytest.mark.spark

NODES = 60
BLOCK = 700
"""Samples in a block here: there are several blocks."""


def cloud(noise: float) -> Samples:
    generator = np.random.default_rng(1)
    points = generator.normal(0, 30, (NODES, 2))
    first, second = np.triu_indices(NODES, 1)
    kept = generator.random(len(first)) < 0.5
    first, second = first[kept], second[kept]
    apart = np.linalg.norm(points[first] - points[second], axis=1)
    delay = apart * np.exp(generator.normal(0, noise, len(apart)))
    return samples_from_pairs(NODES, first, second, delay)


def probes_of(spark: SparkSession, samples: Samples, partitions: int) -> Measurements:
    """Probes forth and back whose median is the delay; names sort as numbers do."""
    names = np.array([f"n{k:03}" for k in range(samples.nodes)])
    here, there = names[samples.first], names[samples.second]
    table = pd.DataFrame(
        {
            "from": np.concatenate([here, there, here]),
            "to": np.concatenate([there, here, there]),
            "rtt_ms": np.concatenate([samples.delay_ms * 2, samples.delay_ms * 2, samples.delay_ms * 9]),
        }
    ).sample(frac=1, random_state=partitions)
    return Measurements(
        spark.createDataFrame(pa.Table.from_pandas(table, preserve_index=False)).repartition(partitions)
    )


def located(
    spark: SparkSession, folder: Path, samples: Samples, partitions: int, options: VivaldiOptions
) -> tuple[Located, pd.DataFrame]:
    found = spark_coordinates(
        probes_of(spark, samples, partitions), folder, options, seed=3, samples_per_block=BLOCK
    )
    return found, found.coordinates.orderBy("node").toPandas()


def test_nearly_as_good_as_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    """Every node has a row; the figures are those of the table, and near those of one machine."""
    samples = cloud(0.1)
    options = VivaldiOptions(dimensions=2, rounds=30)
    found, table = located(spark, tmp_path, samples, 2, options)
    assert table["name"].tolist() == [f"n{k:03}" for k in range(NODES)]
    assert table["node"].tolist() == list(range(NODES))
    assert set(table["island"]) == {0}
    assert found.errors is not None
    assert found.errors.pairs == found.errors.measured_pairs == found.probed_pairs == len(samples.delay_ms)
    assert (found.records, found.rejected) == (3 * len(samples.delay_ms), {})
    positions = np.array(table["coordinates"].tolist())
    apart = np.linalg.norm(positions[samples.first] - positions[samples.second], axis=1)
    errors = np.abs(apart - samples.delay_ms)
    assert found.errors.absolute_mean_ms == pytest.approx(errors.mean(), abs=1e-5)
    assert found.errors.absolute_p90_ms == pytest.approx(np.percentile(errors, 90), abs=1e-5)
    local = embed(samples, options, 3)
    assert local.errors is not None
    assert found.errors.absolute_mean_ms < 1.2 * local.errors.absolute_mean_ms


def test_partitions_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """The same table bit for bit; with heights, and with neighbours that are chosen."""
    options = VivaldiOptions(dimensions=2, height=True, neighbours=16, rounds=3)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    found, tables = [], []
    try:
        for partitions in (1, 5):
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            each, table = located(spark, tmp_path / str(partitions), cloud(0.2), partitions, options)
            found.append((each.errors, each.rounds))
            tables.append(table)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert found[0] == found[1]
    assert (tables[0]["height_ms"] > 0).all()


def test_islands(spark: SparkSession, tmp_path: Path) -> None:
    """Nodes that nothing joins to the rest are told; a distance of 0 is one."""
    known = pd.DataFrame({"first": [0, 1, 3, 6], "second": [1, 2, 4, 7], "delay_ms": [0.0, 3.0, 4.0, 5.0]})
    nodes = pd.DataFrame({"node": np.arange(8), "name": list("abcdefgh")})
    measured = Measurements(None, spark.createDataFrame(nodes), spark.createDataFrame(known))
    found = spark_coordinates(measured, tmp_path, VivaldiOptions(refine=False, rounds=40))
    table = found.coordinates.orderBy("node").toPandas()
    assert table["name"].tolist() == list("abcdegh")
    assert table["island"].tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert np.isfinite(np.array(table["coordinates"].tolist())).all()
    assert found.errors is not None
    assert found.errors.absolute_max_ms < 1.0


def test_garbage_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    """By reason, from lines and CSV, as one machine counts it; what is left is the median of a pair."""
    lines = [
        {"from": "a", "to": "b", "rtt_ms": 4},
        {"from": "b", "to": "a", "rtt_ms": 6.0},
        {"from": "a", "to": "b", "rtt_ms": "5"},
        {"from": "a", "to": "b", "rtt_ms": 0},
        {"from": "a", "to": "b", "rtt_ms": 1e12},
        {"from": "a", "to": "x", "rtt_ms": 3},
        {"from": None, "to": "b", "rtt_ms": 3},
        {"from": 5, "to": "b", "rtt_ms": 3},
        {"from": "a", "to": "a", "rtt_ms": 3},
    ]
    text = "\n".join([*map(json.dumps, lines), "{broken", "[1]", ""])
    with gzip.open(tmp_path / "one.json.gz", "wt") as file:
        file.write(text)
    (tmp_path / "two.csv").write_text("to,other,from,rtt_ms\nb,1,a,500\nc,1,a,nan\nc,1,b,-2\nc,1,b,7\n")
    index = {"a": 0, "b": 1, "c": 2}
    nodes = spark.createDataFrame(
        [(number, name) for name, number in index.items()], "node bigint, name string"
    )
    paths = [tmp_path / "one.json.gz", tmp_path / "two.csv"]
    records, _ = judged(read_probe_tables(spark, paths), nodes, Scratch(tmp_path / "scratch"))
    counts = {row["reason"]: row["count"] for row in records.groupBy("reason").count().collect()}
    pairs = pooled(records.where("reason IS NULL")).orderBy("first", "second").collect()
    local = read_probes(paths, index)
    assert counts.pop(None) == 4
    assert counts == local.counts.rejected
    assert [tuple(row) for row in pairs] == [(0, 1, 3.0), (1, 2, 3.5)]
    assert local.delay_ms.tolist() == [3.0, 3.5]


def test_command(spark: SparkSession, tmp_path: Path) -> None:
    """`--spark` says and writes what the command does without it; links are samples, too."""
    samples = cloud(0.0)
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 1}} for k in range(NODES + 1)]
    links = [
        {"from": f"n{a}", "to": f"n{b}", "delay_ms": round(d, 6)}
        for a, b, d in zip(samples.first[::2], samples.second[::2], samples.delay_ms[::2], strict=True)
    ]
    problem = {
        "format": "berth/v1",
        "name": "cloud",
        "network": {"nodes": nodes, "links": links},
        "applications": [{"name": "a", "operators": [{"name": "s"}], "streams": []}],
    }
    (tmp_path / "problem.json").write_text(json.dumps(problem))
    rows = zip(samples.first[1::2], samples.second[1::2], samples.delay_ms[1::2], strict=True)
    text = "\n".join(f"n{a},n{b},{2 * d}" for a, b, d in rows)
    (tmp_path / "probes.csv").write_text(f"from,to,rtt_ms\n{text}\nn1,n2,-1\n")
    said, written = [], []
    for more in ([], ["--spark"]):
        arguments = ["coordinates", str(tmp_path / "problem.json"), "--out", str(tmp_path / "out.json")]
        options = ["--probes", str(tmp_path / "probes.csv"), "--dimensions", "2", "--json", *more]
        done = CliRunner().invoke(app, arguments + options, catch_exceptions=False)
        assert done.exit_code == 0
        said.append(json.loads(done.stdout))
        written.append(json.loads((tmp_path / "out.json").read_text()))
    here, there = said
    for name in ("nodes", "dimensions", "unplaced", "islands", "probes", "rejected_samples"):
        assert here[name] == there[name]
    assert there["unplaced"] == [f"n{NODES}"]
    assert here["estimated"]["count"] == there["estimated"]["count"]
    assert there["errors"]["measured_pairs"] == len(samples.delay_ms)
    assert there["errors"]["relative_p90"] < 0.03
    placed = [
        [node["name"] for node in each["network"]["nodes"] if "coordinates" in node] for each in written
    ]
    assert placed[0] == placed[1]
    assert len(placed[1]) == NODES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "probes.csv", "problem.json"]
