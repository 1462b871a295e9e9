from __future__ import annotations

from typing import Any

import pytest

from berth.model import BadInput
from berth.runtime.control.options import WatchOptions


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"every_s": 0.0}, "--every: 0 is not a number of seconds above 0"),
        ({"memory_s": -1.0}, "--memory: -1 is not"),
        ({"time_limit": 0.0}, "--time-limit: 0 is not"),
        ({"cool_down_s": -1.0}, "--cool-down: -1 is not a number of seconds of at least 0"),
        ({"distrust_s": float("nan")}, "--distrust: nan is not"),
        ({"move_price": float("inf")}, "--move-price: inf is not"),
        ({"state_price": -0.1}, "--state-price: -0.1 is not"),
        ({"tolerance": float("nan")}, "--tolerance: nan is not"),
        ({"min_gain": 1.0}, "--min-gain: 1 is not a share"),
        ({"confirmations": 0}, "--confirmations: 0 is below 1"),
        ({"max_moves": -1}, "--max-moves: -1 is below 0"),
    ],
)
def test_terms_that_make_no_sense_are_refused_by_their_option(wrong: dict[str, Any], line: str) -> None:
    """One line for each mistake."""
    with pytest.raises(BadInput) as refused:
        WatchOptions(**wrong)
    assert len(refused.value.mistakes) == 1
    assert refused.value.mistakes[0].startswith(line)


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody corrects one option after the other."""
    with pytest.raises(BadInput) as refused:
        WatchOptions(every_s=-1.0, min_gain=2.0, confirmations=0)
    assert len(refused.value.mistakes) == 3


def test_telemetry_of_two_looks_counts_unless_said() -> None:
    """A change is seen in full at the second look."""
    assert WatchOptions(every_s=20.0).memory == 40.0
    assert WatchOptions(every_s=20.0, memory_s=7.0).memory == 7.0


def test_the_price_counts_instances_and_gigabytes() -> None:
    """Both are gains that a move must bring."""
    assert WatchOptions(move_price=0.02, state_price=0.5).price(3, 2e8) == pytest.approx(0.06 + 0.1)
