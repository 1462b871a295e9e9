"""Compiled loops notice changes in what they are compiled with: functions and numbers of other files."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import berth.space.compiled as compiling

INNER = """
from berth.space.compiled import compiled

FACTOR = {factor}

@compiled
def inner(number):
    return {inner} * number
"""
OUTER = """
from berth.space.compiled import compiled
from {package}_inner import FACTOR, inner

@compiled
def outer(number):
    return FACTOR * inner(number)
"""


def outer_of(folder: Path, package: str, factor: int, inner: int) -> float:
    """What the two files give, loaded anew, as another process would."""
    (folder / f"{package}_inner.py").write_text(INNER.format(factor=factor, inner=inner))
    if not (folder / f"{package}_outer.py").exists():
        (folder / f"{package}_outer.py").write_text(OUTER.format(package=package))
    for name in (f"{package}_inner", f"{package}_outer"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    result: float = importlib.import_module(f"{package}_outer").outer(1.0)
    return result


def test_a_change_elsewhere_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numba's own key is the function's file alone."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert outer_of(tmp_path, "seen", factor=10, inner=2) == 20.0
    assert outer_of(tmp_path, "seen", factor=10, inner=33) == 330.0
    assert outer_of(tmp_path, "seen", factor=7, inner=33) == 231.0


def test_a_division_by_zero_is_no_error() -> None:
    def share(part: float, whole: float) -> float:
        return part / whole

    assert compiling.compiled(share)(1.0, 0.0) == float("inf")
