"""The page shows numbers as the terminal and the pictures do."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from berth.amounts import change, in_unit
from tests.test_amounts import SHOWN, STEPS

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXTS = """async (values) => {
  const {inUnit, change} = await import("/static/lib/format.js");
  return values.map(([before, after, unit]) => [inUnit(after, unit), change(before, after, unit)]);
}"""


def test_numbers_look_the_same_on_the_page(open_page: Callable[..., Page]) -> None:
    """The rules are written twice, in two languages: both say the same of any value in any unit."""
    values: list[tuple[float | None, float, str]] = [
        (0.0, value, unit) for value, unit, _ in SHOWN if math.isfinite(value)
    ]
    values += [(before, after, unit) for before, after, unit, _ in STEPS if after is not None]
    units = sorted({unit for _, unit, _ in SHOWN})
    chance = random.Random(7)
    for _ in range(3000):
        value = chance.choice([1.0, 1.0, -1.0]) * 10.0 ** chance.uniform(-9, 16)
        nearly_all = 1.0 - 10.0 ** chance.uniform(-12, 0)
        half = chance.randrange(1, 100_000) / chance.choice([2, 4, 8, 16, 1000])
        values += [(chance.uniform(0, 2), each, chance.choice(units)) for each in (value, nearly_all, half)]
    shown = open_page().evaluate(TEXTS, values)
    expected = [[in_unit(after, unit), change(before, after, unit)] for before, after, unit in values]
    for value, texts, wanted in zip(values, shown, expected, strict=True):
        assert texts == wanted, value
