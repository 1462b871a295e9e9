"""Odd files are taken or refused: those that were found by `make fuzz` once, and some new ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.spark import SparkSession
from tests.fuzz import telemetry
from tests.fuzz.mutation import applications, written
from tests.fuzz.properties import PROPERTIES
from tests.fuzz.seeds import PLANS, PROBLEMS

CORPUS = sorted(Path(__file__).parent.glob("corpus/*"))
SEEDS = [0, *(int(file.read_text()) for file in CORPUS if file.name.startswith("telemetry-"))]
FILES = [file for file in CORPUS if not file.name.startswith("telemetry-")]
SOME = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_what_was_found_before(file: Path) -> None:
    PROPERTIES[file.name.partition("-")[0]](file)


@SOME
@given(given=written(PROBLEMS))
def test_problems(given: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    check("problem", given, tmp_path_factory)


@SOME
@given(given=written(PLANS))
def test_plans(given: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    check("plan", given, tmp_path_factory)


@SOME
@given(given=st.tuples(st.just(".py"), applications()))
def test_applications(given: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    check("application", given, tmp_path_factory)


@pytest.mark.spark
@pytest.mark.parametrize("seed", SEEDS)
def test_telemetry(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    assert telemetry.check(spark, seed, tmp_path) > 1_000


def check(kind: str, given: tuple[str, bytes], folders: pytest.TempPathFactory) -> None:
    suffix, content = given
    file = folders.getbasetemp() / f"{kind}{suffix}"
    file.write_bytes(content)
    PROPERTIES[kind](file)
