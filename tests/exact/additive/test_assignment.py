"""The cheapest assignment against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from berth.core import exact as core


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(0, 10**7))
def test_against_scipy(seed: int) -> None:
    """The same costs, with ties, costs below 0 and forbidden combinations; None where there is none."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(1, 8))
    columns = rows + int(generator.integers(0, 4))
    cost = generator.integers(-5, 10, (rows, columns)) * generator.choice([1.0, 0.1])
    cost = np.where(generator.random(cost.shape) < generator.choice([0.0, 0.3, 0.6]), np.inf, cost)
    found = core.cheapest_assignment(cost)
    try:
        expected = cost[linear_sum_assignment(cost)].sum()
    except ValueError:
        assert found is None
        return
    assert found is not None
    assert len(set(found.tolist())) == rows
    assert cost[np.arange(rows), found].sum() == pytest.approx(expected)


def test_more_rows_than_columns() -> None:
    """Somebody is left without one."""
    assert core.cheapest_assignment(np.zeros((3, 2))) is None
