"""Compiled loops notice changes in the files of those that they call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import berth.space.compiled as compiling
from berth.space.vivaldi_kernel import __file__ as kernel_file


def test_the_key_of_what_is_kept_has_all_files() -> None:
    """numba's own key is the function's file alone; a numba that renames what is used here has to be seen."""

    def double(number: float) -> float:
        return 2.0 * number

    dispatcher: Any = compiling.compiled(double)
    assert dispatcher(4.0) == 8.0
    _, files = dispatcher._cache._cache_file._source_stamp
    assert f"space/{Path(kernel_file).name}" in {name for name, _, _ in files}


def test_a_division_by_zero_is_no_error() -> None:
    def share(part: float, whole: float) -> float:
        return part / whole

    assert compiling.compiled(share)(1.0, 0.0) == float("inf")
