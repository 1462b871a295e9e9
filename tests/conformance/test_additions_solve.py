"""Conformance of goals in order, survivable plans and the metrics that came later: proved optima."""

from typing import Any

import pytest

from tests.exact.test_goals_against_enumeration import assert_best
from tests.oracle.test_additions import cases


@pytest.mark.parametrize("case", cases("additions-solve"))
def test_every_level(case: dict[str, Any]) -> None:
    """The plan breaks nothing, is near enough at every level and the best at the last; or there is none."""
    levels = case.get("levels") or [{"best": case.get("objective")}]
    infeasible = case["status"] == "infeasible"
    assert_best(case["problem"], None if infeasible else [level["best"] for level in levels])
