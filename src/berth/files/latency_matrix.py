"""Matrices of measured round trips: CSV or TSV, packed or not."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from berth.files.document import read_bytes
from berth.model import BadInput

LONGEST_MS = 86_400_000.0
"""A round trip of more than a day is none."""
FloatArray = NDArray[np.float64]

SUFFIXES = (".csv", ".tsv", ".txt")
MISSING = ("", "na", "nan", "null", "none", "-")
_NO_NAME = re.compile(r"[/#\s]")


def is_matrix_file(path: Path) -> bool:
    """Whether a file is a matrix by its name."""
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def read_latency_matrix(path: Path) -> tuple[FloatArray, list[str] | None]:
    """One-way delays in ms, half of the round trips, with NaN where none was measured; and the nodes' names.

    Cells are parted by tabs, commas, semicolons or blanks. A first row that is no numbers has names; so may
    the first column have. Empty cells, NA and, between two different nodes, 0 mean that nothing was measured.

    Raises:
        BadInput: it can't be read, or is no square of numbers.
    """
    rows = [_cells(line) for line in _lines(path) if line.strip()]
    if not rows:
        raise BadInput([f"{path}: nothing in it"])
    names = None
    if not _is_numbers(rows[0][1:] or rows[0]):
        names, *rows = rows
    labels = [row[0] for row in rows]
    if all(len(row) == len(rows) + 1 for row in rows) and (names is not None or not _is_numbers(labels)):
        rows = [row[1:] for row in rows]
        names = labels if names is None else names[-len(rows) :]
    if {len(row) for row in rows} != {len(rows)} or (names is not None and len(names) != len(rows)):
        longest = max((len(row) for row in rows), default=len(names or ()))
        raise BadInput([f"{path}: no square: {len(rows)} rows of up to {longest} round trips"])
    delays = np.array(
        [[_number(path, r, c, cell) for c, cell in enumerate(row)] for r, row in enumerate(rows)]
    )
    delays[delays == 0.0] = np.nan
    np.fill_diagonal(delays, 0.0)
    return delays / 2.0, None if names is None else _checked(path, names)


def _lines(path: Path) -> list[str]:
    content = read_bytes(path)
    try:
        if path.suffix.lower() == ".gz":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig").splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadInput([f"{path}: can't be read: {str(error).lower()}"]) from None


def _cells(line: str) -> list[str]:
    parting = next((mark for mark in "\t,;" if mark in line), None)
    return [cell.strip().strip('"') for cell in line.rstrip("\r\n").split(parting)]


def _is_numbers(cells: list[str]) -> bool:
    return all(cell.lower() in MISSING or _float(cell) is not None for cell in cells)


def _float(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _number(path: Path, row: int, column: int, cell: str) -> float:
    if cell.lower() in MISSING:
        return np.nan
    value = _float(cell)
    if value is None or not 0.0 <= value <= LONGEST_MS:
        wanted = f"expected a round trip in ms (0 to {LONGEST_MS:,.0f}), found {cell!r}"
        raise BadInput([f"{path}: row {row + 1}, column {column + 1}: {wanted}"])
    return value


def _checked(path: Path, names: list[str]) -> list[str]:
    wrong = next((name for name in names if not name or _NO_NAME.search(name)), None)
    if wrong is not None:
        raise BadInput(
            f"{path}: {wrong!r} is not a valid name (names are not empty and have no '/', '#' or white space)"
        )
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise BadInput([f"{path}: a node named {twice!r} is there twice"])
    return names
