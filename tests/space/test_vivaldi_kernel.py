"""One sample at a time: the compiled update against card 1.1 written out in numpy."""

import math
from typing import Any

import numpy as np
import pytest

from berth.core import space as core

NODES = 6


def one_sample_each(generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A row with one sample for each node."""
    rows = np.arange(NODES)
    others = (rows + generator.integers(1, NODES, NODES)) % NODES
    return rows, np.arange(NODES + 1), others, generator.uniform(1, 100, NODES)


def by_the_card(
    node: int,
    other: int,
    delay: float,
    positions: np.ndarray,
    heights: np.ndarray,
    errors: np.ndarray,
    with_height: bool,
) -> float:
    """Card 1.1 with the paper's height algebra: u() divides by the full norm."""
    difference = positions[node] - positions[other]
    upward = heights[node] + heights[other] if with_height else 0.0
    norm = float(np.linalg.norm(difference)) + upward
    weight = errors[node] / (errors[node] + errors[other])
    sample_error = abs(norm - delay) / delay
    errors[node] = min(0.25 * weight * sample_error + (1 - 0.25 * weight) * errors[node], core.LARGEST_ERROR)
    step = 0.25 * weight * (delay - norm)
    positions[node] += step * difference / norm
    if with_height:
        heights[node] = max(heights[node] + step * upward / norm, core.LEAST_HEIGHT_MS)
    return abs(norm - delay)


@pytest.mark.parametrize("with_height", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_update_is_the_cards(with_height: bool, seed: int) -> None:
    """Positions, heights and errors after a round are those of the card, sample by sample."""
    generator = np.random.default_rng(seed)
    rows, offsets, others, delays = one_sample_each(generator)
    positions = generator.normal(0, 30, (NODES, 3))
    heights = generator.uniform(0.1, 5, NODES) if with_height else np.zeros(NODES)
    errors = generator.uniform(0.5, 1.0, NODES)
    wanted = positions.copy(), heights.copy(), errors.copy()
    order = generator.permutation(NODES)
    missed = []
    for node in order:
        # the card knows no limit of a sample's error: these delays and places stay below it
        delays[node] = max(delays[node], np.linalg.norm(wanted[0][node] - wanted[0][others[node]]) / 2)
        missed.append(by_the_card(node, others[node], delays[node], *wanted, with_height))
    mean, resets = core.Neighbourhoods(rows, offsets, others, delays).spring(
        order, positions, heights, errors, with_height=with_height, c_c=0.25, c_e=0.25, generator=generator
    )
    for found, expected in zip((positions, heights, errors), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert resets == 0
    assert mean == pytest.approx(np.mean(missed))


def two_nodes(positions: Any, delay: float = 10.0, with_height: bool = False) -> tuple[Any, ...]:
    """Both nodes move by the one sample between them."""
    places = np.array(positions, dtype=float)
    heights, errors = np.full(2, core.LEAST_HEIGHT_MS if with_height else 0.0), np.ones(2)
    known = core.Neighbourhoods(np.arange(2), np.array([0, 1, 2]), np.array([1, 0]), np.full(2, delay))
    outcome = known.spring(
        np.arange(2),
        places,
        heights,
        errors,
        with_height=with_height,
        c_c=0.25,
        c_e=0.25,
        generator=np.random.default_rng(3),
    )
    return places, heights, errors, outcome


@pytest.mark.parametrize("with_height", [False, True])
def test_two_nodes_at_one_place_part(with_height: bool) -> None:
    """The direction is random, the step is not: a quarter of half the delay for equal errors."""
    places, *_ = two_nodes([[1, 2, 3], [1, 2, 3]], with_height=with_height)
    upward = 2 * core.LEAST_HEIGHT_MS if with_height else 0.0
    assert np.linalg.norm(places[0] - [1, 2, 3]) == pytest.approx(0.125 * (10 - upward))
    assert not np.allclose(places[0], places[1])


def test_a_delay_of_zero_counts_as_a_short_one() -> None:
    """Two nodes at one place: they come closer, and the relative error has a value."""
    places, _, errors, _ = two_nodes([[0.0], [core.SHORTEST_MS / 2]], delay=0.0)
    assert abs(places[0, 0] - places[1, 0]) < core.SHORTEST_MS / 2
    assert errors[0] == pytest.approx(0.125 * 0.5 + 0.875)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_what_is_no_place_is_reset_and_counted(bad: float) -> None:
    """All is finite after a round, whatever was there before."""
    places, heights, errors, (mean, resets) = two_nodes([[bad, 0.0], [1.0, 2.0]])
    assert resets >= 1
    assert np.isfinite(places).all()
    assert np.isfinite(heights).all()
    assert ((errors > 0) & (errors <= core.LARGEST_ERROR)).all()
    assert math.isfinite(mean)


def test_only_the_rows_of_a_partition_change() -> None:
    """A part of the nodes can be updated with all positions at hand: the others are left alone."""
    generator = np.random.default_rng(0)
    positions, errors = generator.normal(0, 10, (4, 2)), np.ones(4)
    before = positions.copy()
    rows, offsets = np.array([2, 3]), np.array([0, 2, 3])
    neighbours, delays = np.array([0, 1, 0]), np.array([5.0, 50.0, 7.0])
    core.Neighbourhoods(rows, offsets, neighbours, delays).spring(
        np.arange(2),
        positions,
        np.zeros(4),
        errors,
        with_height=False,
        c_c=0.25,
        c_e=0.25,
        generator=generator,
    )
    assert (positions[:2] == before[:2]).all()
    assert (positions[2:] != before[2:]).any(axis=1).all()


def test_polish_never_makes_a_nodes_own_sum_worse() -> None:
    """Without heights and with weights by the errors alone, a node's move lowers the sum of its errors."""
    generator = np.random.default_rng(1)
    for _ in range(20):
        positions = generator.normal(0, 20, (8, 3))
        delays = generator.uniform(1, 60, 7)
        before = np.abs(np.linalg.norm(positions[0] - positions[1:], axis=1) - delays).sum()
        core.Neighbourhoods(np.array([0]), np.array([0, 7]), np.arange(1, 8), delays).polish(
            positions, np.zeros(8), with_height=False, exact_ms=1e-9, closeness=0.0
        )
        after = np.abs(np.linalg.norm(positions[0] - positions[1:], axis=1) - delays).sum()
        assert after <= before + 1e-9
