"""Samples: what is taken from matrices and lists, what is pooled, and what is left out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.space.coordinates import MOST_PAIRS, error_figures
from berth.space.samples import Samples, joined, samples_from_matrix, samples_from_pairs
from berth.space.vivaldi import NEAR_SHARE, neighbourhoods

DELAYS = st.one_of(st.floats(0, 1e3), st.just(math.nan))


def as_dict(samples: Samples) -> dict[tuple[int, int], float]:
    pairs = zip(samples.first.tolist(), samples.second.tolist(), strict=True)
    return dict(zip(pairs, samples.delay_ms.tolist(), strict=True))


def test_both_directions_are_one_pair() -> None:
    """Their mean; of a list with weights, the weighted one."""
    assert as_dict(samples_from_matrix(np.array([[0, 10.0], [20.0, 0]]))) == {(0, 1): 15.0}
    samples = samples_from_pairs(3, [0, 1, 2], [1, 0, 1], [10.0, 20.0, 7.0], weights=[3, 1, 1])
    assert as_dict(samples) == {(0, 1): 12.5, (1, 2): 7.0}


def test_what_makes_no_sense_is_counted() -> None:
    """NaN, infinite and negative delays and weights of nothing are left out; 0 is a delay."""
    delays = [math.nan, math.inf, -1.0, 5.0, 0.0, 6.0]
    samples = samples_from_pairs(4, [0] * 6, [1, 1, 1, 2, 3, 0], delays, weights=[1, 1, 1, 0, 1, 1])
    assert as_dict(samples) == {(0, 3): 0.0}
    assert samples.rejected == 4


def test_gaps_in_a_matrix_are_no_mistakes() -> None:
    """An entry that is not there is not counted; one that can't be is."""
    matrix = np.array([[math.nan, math.nan, 4.0], [8.0, 0.0, -1.0], [math.nan, math.nan, 9.0]])
    samples = samples_from_matrix(matrix)
    assert as_dict(samples) == {(0, 1): 8.0, (0, 2): 4.0}
    assert samples.rejected == 1


def test_numbers_of_no_node() -> None:
    """A list may only name nodes that exist."""
    with pytest.raises(ValueError, match="0 to 1"):
        samples_from_pairs(2, [0], [2], [1.0])
    with pytest.raises(ValueError, match="0 to 1"):
        samples_from_pairs(2, [-1], [1], [1.0])


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(DELAYS, min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_a_matrix_is_the_list_of_its_entries(rows: list[list[float]]) -> None:
    """Both ways in give the same samples."""
    matrix = np.array(rows)
    senders, receivers = np.nonzero(~np.isnan(matrix))
    listed = samples_from_pairs(len(matrix), senders, receivers, matrix[senders, receivers])
    assert as_dict(samples_from_matrix(matrix)) == pytest.approx(as_dict(listed))


def test_joined_sets_pool_their_pairs() -> None:
    """A pair of both is their mean, and what was rejected adds up."""
    one = samples_from_pairs(3, [0, 0], [1, 2], [10.0, -1.0])
    other = samples_from_pairs(3, [1, 1], [0, 2], [20.0, 3.0])
    both = joined([one, other])
    assert as_dict(both) == {(0, 1): 15.0, (1, 2): 3.0}
    assert both.rejected == 1


def test_islands_are_numbered_by_size() -> None:
    """The largest is 0; of equally large ones the one with the smaller node comes first."""
    samples = samples_from_pairs(7, [5, 4, 1], [4, 3, 2], [1.0] * 3)
    assert samples.components.tolist() == [2, 1, 1, 0, 0, 0, 3]


def test_neighbours_are_near_and_random() -> None:
    """At most so many, some of them the nearest ones, each with its delay; the same for the same seed."""
    size, most = 40, 12
    delay = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    samples = samples_from_matrix(delay)
    chosen = neighbourhoods(samples, most, np.random.default_rng(0))
    again = neighbourhoods(samples, most, np.random.default_rng(0))
    assert (chosen.neighbours == again.neighbours).all()
    near = round(NEAR_SHARE * most)
    for node in range(size):
        row = slice(chosen.offsets[node], chosen.offsets[node + 1])
        others = chosen.neighbours[row]
        assert len(set(others.tolist()) - {node}) == most
        assert (chosen.delays[row] == delay[node, others]).all()
        assert np.isin(
            np.argsort(np.delete(delay[node], node), kind="stable")[:near], np.r_[others, others - 1]
        ).all()
    assert np.abs(chosen.neighbours - np.repeat(np.arange(size), most)).max() > size / 2


def test_all_samples_where_nobody_has_too_many() -> None:
    """Each pair is a sample of both its nodes."""
    samples = samples_from_pairs(4, [0, 0, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    found = neighbourhoods(samples, 3, np.random.default_rng(0))
    assert found.offsets.tolist() == [0, 2, 3, 5, 6]
    assert found.neighbours.tolist() == [1, 2, 0, 0, 3, 2]
    assert found.delays.tolist() == [1, 2, 1, 2, 3, 3]


def test_error_figures_are_what_they_say() -> None:
    """Three pairs on a line with heights, by hand."""
    positions, heights = np.array([[0.0], [3.0], [10.0]]), np.array([1.0, 0.0, 2.0])
    samples = samples_from_pairs(3, [0, 0, 1], [1, 2, 2], [5.0, 10.0, 9.0])
    figures = error_figures(positions, heights, samples)
    assert figures is not None
    assert figures.absolute_mean_ms == pytest.approx((1 + 3 + 0) / 3)
    assert figures.absolute_median_ms == pytest.approx(1)
    assert figures.absolute_max_ms == pytest.approx(3)
    assert figures.relative_median == pytest.approx(0.2)
    assert (figures.pairs, figures.measured_pairs) == (3, 3)
    assert figures.as_trace()["absolute_mean_ms"] == 1.333


def test_of_very_many_pairs_a_sample_is_judged() -> None:
    """Its size is said, and it is the same for the same seed."""
    nodes = 700
    samples = samples_from_matrix(np.ones((nodes, nodes)))
    positions = np.random.default_rng(0).normal(size=(nodes, 2))
    one, other = (error_figures(positions, np.zeros(nodes), samples, seed=4) for _ in range(2))
    assert one == other
    assert one is not None
    assert (one.pairs, one.measured_pairs) == (MOST_PAIRS, nodes * (nodes - 1) // 2)


def test_nothing_measured_nothing_said() -> None:
    """Without samples there are no figures."""
    assert error_figures(np.zeros((2, 1)), np.zeros(2), samples_from_pairs(2, [], [], [])) is None
