from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql.types import DoubleType, StructField, StructType

from berth.experiments.experiment import Run, Setting
from berth.experiments.framework import journal
from berth.experiments.framework.job import packed
from berth.experiments.framework.journal import Identity, Stored, code_mark, data_mark, identity_of
from berth.experiments.framework.missing import state_of
from tests.experiments.framework.runs import CHOSEN, PLACE, add, done
from tests.experiments.toy import EXPERIMENT

FULL, QUICK = Setting(), Setting(quick=True)
RUNS = list(EXPERIMENT.runs(FULL))


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "out")


def test_only_runs_of_this_setting_are_taken(stored: Stored) -> None:
    add(stored, done(FULL, RUNS[:4]))
    add(stored, done(QUICK))
    add(stored, done(Setting(seed=1)))
    add(stored, done(FULL, code="older"))
    state = state_of(CHOSEN, FULL, stored.journal())
    assert sorted(state.succeeded) == sorted(run.key for run in RUNS[:4])
    assert [run.key for run in state.missing().runs] == [run.key for run in RUNS[4:9]]
    assert [run.key for run in state.missing(in_driver=True).runs] == ["run-10"]
    assert sorted(state.aside.values()) == [3, 10, 10]
    assert not state.finished


def test_rows_of_other_code_are_taken_only_when_told_so(stored: Stored) -> None:
    add(stored, done(FULL, code="older"))
    add(stored, done(FULL, RUNS[:2], code="oldest"))
    assert not state_of(CHOSEN, FULL, stored.journal()).succeeded
    state = state_of(CHOSEN, FULL, stored.journal(), any_code=True)
    assert state.identity.code == "older"
    assert state.finished
    assert not state.current


def test_a_failure_counts_until_the_run_succeeds(stored: Stored) -> None:
    add(stored, done(FULL, RUNS[:1], rows=None, error="first"))
    add(stored, done(FULL, RUNS[:1], rows=None, error="second"))
    add(stored, done(FULL, RUNS[1:]))
    state = state_of(CHOSEN, FULL, stored.journal())
    assert [entry["error"] for entry in state.failed] == ["second"]
    assert [run.key for run in state.missing().runs] == [RUNS[0].key]
    assert state.finished
    add(stored, done(FULL, RUNS[:1]))
    add(stored, done(FULL, RUNS[:1], rows=None, error="late"))
    assert not state_of(CHOSEN, FULL, stored.journal()).failed


def test_the_table_is_in_the_order_of_the_runs_whatever_the_order_of_files(stored: Stored) -> None:
    add(stored, done(FULL, RUNS[5:]))
    add(stored, done(FULL, RUNS[:7]))
    state = state_of(CHOSEN, FULL, stored.journal())
    table = stored.journal().table("X9.1", state.identity, [run.key for run in RUNS], EXPERIMENT.schema)
    assert table.column_names == ["key", "numbers", "mean"]
    assert table["numbers"].to_pylist() == list(range(1, 11))
    assert table["key"].to_pylist() == [run.key for run in RUNS]


def test_two_runs_with_one_key_are_a_mistake(stored: Stored) -> None:
    twice = replace(EXPERIMENT, runs=lambda setting: [Run("a", {}), Run("a", {})])
    with pytest.raises(ValueError, match="two runs have the key 'a'"):
        state_of(replace(CHOSEN, experiment=twice), FULL, stored.journal())


def test_rows_must_have_the_columns_of_the_schema() -> None:
    with pytest.raises(ValueError, match="differ in extra, mean"):
        packed(EXPERIMENT, [{"numbers": 1, "extra": 2}])


def test_what_a_run_raises_is_its_row(tmp_path: Path) -> None:
    (tmp_path / "run-2").write_text("raise")
    rows = done(Setting(data=tmp_path), RUNS[:3])
    assert [row.get("error") for row in rows] == [None, "ValueError: told to <fail>", None]


def test_a_changed_file_of_data_is_other_data(tmp_path: Path) -> None:
    marks = [data_mark(None)]
    for text in ("a", "b"):
        (tmp_path / "delays.csv").write_text(text)
        data_mark.cache_clear()
        marks.append(data_mark(tmp_path))
    assert len(set(marks)) == 3
    assert marks[0] == "none"


def test_code_of_a_room_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = code_mark(PLACE)
    monkeypatch.setattr(journal, "ROOMS", journal.ROOMS[1:])
    code_mark.cache_clear()
    other = code_mark(PLACE)
    code_mark.cache_clear()
    assert other != now
    assert code_mark("berth.experiments.registry") != now


def test_identities_in_words() -> None:
    identity = identity_of(QUICK, PLACE)
    assert identity.described() == "quick, seed 0, without measured networks"
    assert identity.same_question(Identity(True, 0, "none", "other"))
    assert not identity.same_question(Identity(True, 1, "none", identity.code))


def test_nothing_half_written_is_left(stored: Stored) -> None:
    left = [stored.runs_folder / "_temporary", stored.folder / ".aside-new-claims"]
    left.append(stored.folder / "X9.1" / ".aside-old-results")
    for folder in left:
        folder.mkdir(parents=True)
        (folder / "file").touch()
    with stored.locked():
        assert not any(folder.exists() for folder in left)


def test_rows_of_code_with_other_columns_are_read(stored: Stored) -> None:
    """What is missing is null, what is too much is left out: a report of older runs can tell it."""
    add(stored, done(FULL, code="older"))
    older = state_of(CHOSEN, FULL, stored.journal(), any_code=True)
    first, *others = EXPERIMENT.schema.fields
    schema = StructType([*others, StructField("new", DoubleType())])
    table = stored.journal().table(older.name, older.identity, [run.key for run in RUNS], schema)
    assert table.column_names == ["key", *(field.name for field in others), "new"]
    assert first.name not in table.column_names
    assert table["new"].null_count == table.num_rows > 0
