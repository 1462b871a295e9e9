"""A table of plans: solved once, in pieces, and only what is missing."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import berth
from berth.evaluation import METRICS
from berth.model import BadInput
from berth.pipeline.many import (
    PLANS,
    Job,
    Run,
    Terms,
    find_problems,
    locked,
    prepare,
    read_problems,
    requests_for,
    solve_many,
    summary_of,
    variants_for,
)
from berth.spark import SparkSession

VARIANTS = variants_for(["odp", "round-robin"], {}, [0, 1])


def problem(name: str, delay: float = 10) -> dict[str, Any]:
    return {
        "format": "berth/v1",
        "name": name,
        "network": {
            "nodes": [{"name": "rome", "capacity": {"cpu": 2}}, {"name": "paris", "capacity": {"cpu": 2}}],
            "links": [{"from": "rome", "to": "paris", "delay_ms": delay}],
        },
        "applications": [
            {
                "name": "a",
                "operators": [
                    {"name": "s", "pinned": "rome", "demand": {"cpu": 1}},
                    {"name": "t", "demand": {"cpu": 2}, "work_ms": 1},
                ],
                "streams": [{"from": "s", "to": "t", "bytes_per_s": 5}],
            }
        ],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve good problems, and some that are not."""
    folder = tmp_path_factory.mktemp("problems")
    for number in range(12):
        (folder / f"p{number}.json").write_text(json.dumps(problem(f"p{number}", 10 + number)))
    (folder / "broken.yaml").write_text("a: [")
    (folder / "latin.json").write_bytes(b"\xff\xfe")
    (folder / "gone.yaml").symlink_to(folder / "nowhere")
    (folder / "empty.yaml").write_text("")
    return folder


def solved(spark: SparkSession, folder: Path, out: Path, **more: Any) -> Run:
    with locked(out):
        run = prepare(spark, Job(find_problems([str(folder)]), VARIANTS, Terms(60.0), out, **more))
        run.solve()
    return run


@pytest.fixture(scope="module")
def out(spark: SparkSession, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    run = solved(spark, folder, out)
    assert (run.problems, run.missing, run.tally.solved, run.kept) == (16, 64, 64, 0)
    return out


def rows(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out / "plans")


def test_pandas_and_duckdb_read_it(out: Path) -> None:
    """Both see every column, a row for each problem, policy and seed, and no key twice."""
    table = rows(out)
    assert list(table.columns) == PLANS.fieldNames()
    assert len(table) == table["key"].nunique() == 64
    query = f"select problem, assignment['a/t'], violations from '{out}/plans/*.parquet' where error is null"
    assert len(duckdb.sql(query).fetchall()) == 48


def test_plans_are_those_of_solve(folder: Path, out: Path) -> None:
    """Status, objective, metrics, assignment and the plan file are what `berth.solve` gives."""
    table = rows(out)
    row = table[(table["problem"] == "p3") & (table["policy"] == "odp") & (table["seed"] == 1)].iloc[0]
    plan = berth.solve(berth.load(folder / "p3.json"), seed=1)
    assert (row["status"], row["objective"], row["bound"]) == ("optimal", plan.objective, plan.bound)
    assert dict(row["assignment"]) == plan.assignment == json.loads(row["plan"])["assignment"]
    for metric in METRICS:
        expected = plan.metrics.get(metric.key)
        assert pd.isna(row[metric.key]) if expected is None else row[metric.key] == expected
    assert row["source"] == str(folder / "p3.json")


def test_a_bad_problem_costs_its_rows(out: Path) -> None:
    """What can't be read is an error with the line that `berth solve` prints, and has no status."""
    bad = rows(out)[lambda table: table["error"].notna()]
    texts = {Path(source).name: text for source, text in zip(bad["source"], bad["error"], strict=True)}
    assert len(bad) == 16
    assert bad["status"].isna().all()
    assert "not valid YAML" in texts["broken.yaml"]
    assert "not UTF-8 text" in texts["latin.json"]
    assert texts["gone.yaml"].endswith("gone.yaml: no such file or directory")
    assert set(texts) == {"broken.yaml", "latin.json", "gone.yaml", "empty.yaml"}


def test_again_and_changed(spark: SparkSession, folder: Path, out: Path) -> None:
    """Nothing is solved twice; a changed problem is, and its old rows leave; errors only when asked for."""
    before = {file.name: file.stat().st_mtime_ns for file in (out / "plans").iterdir()}
    again = solved(spark, folder, out)
    assert (again.missing, again.kept, again.dropped) == (0, 64, 0)
    assert before == {file.name: file.stat().st_mtime_ns for file in (out / "plans").iterdir()}
    (folder / "p3.json").write_text(json.dumps(problem("p3", 99)))
    (folder / "empty.yaml").write_text(json.dumps(problem("full")))
    (folder / "nowhere").write_text(json.dumps(problem("found")))
    changed = solved(spark, folder, out)
    assert (changed.missing, changed.dropped, changed.kept) == (12, 12, 52)
    assert len(rows(out)) == rows(out)["key"].nunique() == 64
    assert rows(out)["error"].notna().sum() == 8
    retried = solved(spark, folder, out, retry_errors=True)
    assert (retried.missing, retried.dropped, retried.tally.errors) == (8, 8, 8)
    assert len(rows(out)) == 64


def test_only_one_run_at_a_time(tmp_path: Path) -> None:
    """A second one is refused, and leftovers of a killed one are gone."""
    (tmp_path / "plans" / "_temporary" / "0").mkdir(parents=True)
    (tmp_path / "plans" / "_aside-x.parquet").write_text("")
    (tmp_path / ".queue").mkdir()
    with locked(tmp_path):
        assert list((tmp_path / "plans").iterdir()) == []
        assert not (tmp_path / ".queue").exists()
        with pytest.raises(BadInput, match="another run is writing there"), locked(tmp_path):
            pass


def test_as_a_transformation(spark: SparkSession, folder: Path) -> None:
    """Problems in, plans out, nothing on disk; the objective of the terms counts."""
    problems = read_problems(spark, find_problems([str(folder / "p1.json")]), 2)
    terms = Terms(60.0, {"availability": 1.0})
    requests = requests_for(problems, variants_for(["odp"], {"gap": ["0", "0.5"]}, [3]), terms)
    found = solve_many(requests, terms)
    assert found.schema.fieldNames() == PLANS.fieldNames()
    plans = found.collect()
    assert [(plan.objective, plan.seed) for plan in plans] == [(1.0, 3), (1.0, 3)]
    assert sorted(plan.parameters["gap"] for plan in plans) == ["0", "0.5"]
    (row,) = summary_of(found)
    assert (row["policy"], row["plans"], row["optimal"], row["errors"]) == ("odp", 2, 2, 0)
