"""Matrices of round trips."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from berth.files.latency_matrix import is_matrix_file, read_latency_matrix
from berth.model import BadInput
from tests.policies.latency_space.operator_graphs import iot_lab, planetlab

EXPECTED = np.array([[0.0, 1.0, np.nan], [1.0, 0.0, 4.5], [2.5, 4.5, 0.0]])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0\t2\t0\n2\t0\t9\n5\t9\t0\n", None),
        ("0,2,\n2,0,9\r\n\n5,9,0", None),
        ("0 2 NA\n2 0 9\n5 9 0\n", None),
        ("a,b,c\n0,2,nan\n2,0,9\n5,9,NA\n", ["a", "b", "c"]),
        (",a,b,c\na,0,2,\nb,2,0,9\nc,5,9,0\n", ["a", "b", "c"]),
        ('"a";"b";"c"\n0;2;-\n2;0;9\n5;9;0\n', ["a", "b", "c"]),
        ("a\t0\t2\t\nb\t2\t0\t9\nc\t5\t9\t0\n", ["a", "b", "c"]),
    ],
)
def test_forms(tmp_path: Path, text: str, names: list[str] | None) -> None:
    """Half the round trips, with or without names; what is 0, empty or NA was not measured."""
    for file, content in (
        (tmp_path / "m.csv", text.encode()),
        (tmp_path / "m.tsv.gz", gzip.compress(text.encode())),
    ):
        file.write_bytes(content)
        assert is_matrix_file(file)
        delays, found = read_latency_matrix(file)
        assert np.array_equal(delays, EXPECTED, equal_nan=True)
        assert found == names


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "nothing in it"),
        ("a,b\n", "no square: 0 rows of up to 2 round trips"),
        ("0,1\n1\n", "no square: 2 rows of up to 2 round trips"),
        ("0,1,2\n1,0,2\n", "no square: 2 rows of up to 3 round trips"),
        ("0,1\n-1,0\n", "row 2, column 1: expected a round trip in ms (0 to 86,400,000), found '-1'"),
        ("0,1\ninf,0\n", "row 2, column 1: expected a round trip in ms (0 to 86,400,000), found 'inf'"),
        ("0,1\nsoon,0\n", "row 2, column 1: expected a round trip in ms (0 to 86,400,000), found 'soon'"),
        ("a,a\n0,1\n1,0\n", "a node named 'a' is there twice"),
        (
            "a,b/c\n0,1\n1,0\n",
            "'b/c' is not a valid name (names are not empty and have no '/', '#' or white space)",
        ),
    ],
)
def test_mistakes(tmp_path: Path, text: str, line: str) -> None:
    """One line that says where."""
    file = tmp_path / "m.csv"
    file.write_text(text)
    with pytest.raises(BadInput) as error:
        read_latency_matrix(file)
    assert list(error.value.mistakes) == [f"{file}: {line}"]


def test_not_packed(tmp_path: Path) -> None:
    """A name that says .gz, and a content that isn't."""
    file = tmp_path / "m.csv.gz"
    file.write_text("0,1\n1,0\n")
    with pytest.raises(BadInput, match="can't be read"):
        read_latency_matrix(file)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("planetlab_490/PlanetLabData_01.tsv.gz", lambda: planetlab(1)),
        ("fit_iot_283/rtt_round_0.csv", iot_lab),
    ],
)
def test_real_measurements(name: str, read: Callable[[], NDArray[np.float64] | None]) -> None:
    """As whoever knows their layout reads them."""
    expected = read()
    if expected is None:
        pytest.skip(f"BERTH_DATA has no {name}")
    delays, names = read_latency_matrix(Path(os.environ["BERTH_DATA"]) / name)
    assert np.array_equal(delays, expected, equal_nan=True)
    assert names is None or len(names) == len(expected)


def test_problem_files_are_no_matrices() -> None:
    """By their names."""
    assert not is_matrix_file(Path("problem.json"))
    assert not is_matrix_file(Path("problem.yaml"))
