"""Where problems are found."""

import json
from pathlib import Path

import pandas as pd
import pytest

from berth.model import BadInput
from berth.pipeline.many.problem_files import find_problems, read_problems
from berth.spark import SparkSession


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    for name in ("b.yaml", "a.json", "deep/c.yml", "deep/deeper/d.YAML", "notes.txt", ".hidden.yaml"):
        (tmp_path / name).write_text("{}")
    return tmp_path


def names(files: tuple[str, ...], folder: Path) -> list[str]:
    return [str(Path(file).relative_to(folder)) for file in files]


def test_plans_are_no_problems(tmp_path: Path) -> None:
    """Where there is nothing else, that is told before Spark starts; others are rows with a reason."""
    plan, problem = tmp_path / "plan.json", tmp_path / "problem.yaml"
    plan.write_text('{\n  "format": "berth-plan/v1"}')
    problem.write_text("format: berth/v1\n")
    with pytest.raises(BadInput, match=r"plan.json: this is a plan, not a problem"):
        find_problems([str(plan)])
    assert len(find_problems([str(plan), str(problem)]).files) == 2


def test_folder(folder: Path) -> None:
    """All YAML and JSON files at any depth, sorted; others and hidden ones are left alone."""
    found = find_problems([str(folder)])
    assert names(found.files, folder) == ["a.json", "b.yaml", "deep/c.yml", "deep/deeper/d.YAML"]


def test_globs_and_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns, deep ones too, and single files of any name; what is named twice is there once."""
    monkeypatch.chdir(folder)
    assert names(find_problems(["*.yaml", "b.yaml"]).files, folder) == ["b.yaml"]
    assert names(find_problems(["**/*.yml"]).files, folder) == ["deep/c.yml"]
    assert names(find_problems(["notes.txt"]).files, folder) == ["notes.txt"]
    assert names(find_problems(["de*"]).files, folder) == ["deep/c.yml", "deep/deeper/d.YAML"]


def test_names_with_signs(tmp_path: Path) -> None:
    """A file is a file, even where its name looks like a pattern."""
    (tmp_path / "p[1].yaml").write_text("{}")
    assert len(find_problems([str(tmp_path / "p[1].yaml")]).files) == 1


def test_tables(folder: Path) -> None:
    """Parquet files side by side are one table, JSON lines one each."""
    (folder / "t").mkdir()
    for name in ("t/1.parquet", "t/2.parquet", "lines.jsonl"):
        (folder / name).write_text("")
    found = find_problems([str(folder)])
    assert names(found.parquet, folder) == ["t"]
    assert names(found.lines, folder) == ["lines.jsonl"]


def test_nothing_there(tmp_path: Path) -> None:
    """Every argument that leads to nothing is named."""
    with pytest.raises(BadInput) as error:
        find_problems([str(tmp_path), "gone.yaml", "gone/*.yaml"])
    assert [line.rpartition(": ")[0].rpartition("/")[2] for line in error.value.mistakes][1:] == [
        "gone.yaml",
        "*.yaml",
    ]
    assert "no problems there" in error.value.mistakes[0]


def test_columns_of_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Texts and structs, with a name, an id or neither; a line may be a problem; the same row counts once."""
    (tmp_path / "structs").mkdir()
    texts = pd.DataFrame({"problem": ['{"a": 1}', '{"a": 1}', None], "id": [7, 8, 9]})
    texts.to_parquet(tmp_path / "texts.parquet")
    structs = pd.DataFrame({"problem": [{"a": 1, "b": [{"c": 2.5}]}, {"a": 1, "b": [{"c": 2.5}]}]})
    structs.to_parquet(tmp_path / "structs" / "part-0.parquet")
    lines = [
        '{"name": "one", "problem": {"a": 1e3}}',
        '{"problem": "a: 1"}',
        '{"name": "bare"}',
        "broken {",
        "",
    ]
    (tmp_path / "lines[1].jsonl").write_text("\n".join(lines))
    arguments = [str(tmp_path / name) for name in ("structs", "*.parquet", "lines[[]1].jsonl")]
    rows = read_problems(spark, find_problems(arguments), 2).collect()
    found = {
        (row.source.rpartition("/")[2], None if row.content is None else bytes(row.content).decode())
        for row in rows
    }
    assert len(rows) == len(found)
    assert found == {
        ("texts.parquet#7", '{"a": 1}'),
        ("texts.parquet#8", '{"a": 1}'),
        ("texts.parquet#9", None),
        ("structs", '{"a":1,"b":[{"c":2.5}]}'),
        ("lines[1].jsonl#one", '{"a":1000.0}'),
        ("lines[1].jsonl", "a: 1"),
        ("lines[1].jsonl#bare", '{"name": "bare"}'),
        ("lines[1].jsonl", "broken {"),
    }
    assert [row.mistake is None for row in rows] == [row.content is not None for row in rows]


def test_tables_that_are_none(spark: SparkSession, tmp_path: Path) -> None:
    """A file that is no Parquet and one without problems are bad input, by name."""
    (tmp_path / "text.parquet").write_text(json.dumps({}))
    with pytest.raises(BadInput, match=r"text\.parquet: can't be read"):
        read_problems(spark, find_problems([str(tmp_path / "text.parquet")]), 2)
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(BadInput, match="no column 'problem'; its columns: a"):
        read_problems(spark, find_problems([str(tmp_path / "other.parquet")]), 2)
