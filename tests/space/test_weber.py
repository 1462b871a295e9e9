"""The Weber point: optimal by the conditions of optimality, as good as Weiszfeld's, and never endless."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from berth.core import space as core

FloatArray = NDArray[np.float64]

coordinates = st.one_of(st.integers(-50, 50).map(float), st.floats(-200, 200))
QUIET = settings(deadline=None, max_examples=100)


@st.composite
def weighted_points(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    """Some points in one to four dimensions, often coincident or collinear, with weights."""
    dimensions, count = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    place = st.lists(coordinates, min_size=dimensions, max_size=dimensions)
    points = draw(st.lists(place, min_size=count, max_size=count))
    weights = st.one_of(st.integers(1, 4).map(float), st.floats(0.01, 1e6))
    return np.array(points), np.array(draw(st.lists(weights, min_size=count, max_size=count)))


def usage(points: FloatArray, weights: FloatArray, place: FloatArray) -> float:
    return float((weights * np.sqrt(((points - place) ** 2).sum(axis=1))).sum())


def vertex_is_optimal(points: FloatArray, weights: FloatArray, number: int) -> bool:
    away = points - points[number]
    distance = np.sqrt((away**2).sum(axis=1))
    here = distance < 1e-12
    pull = (weights[~here, None] * away[~here] / distance[~here, None]).sum(axis=0)
    return bool(np.sqrt((pull**2).sum()) <= weights[here].sum())


def weiszfeld(points: FloatArray, weights: FloatArray, rounds: int = 1500) -> FloatArray:
    """Weiszfeld's iteration, with the vertices looked at first."""
    for number in range(len(points)):
        if vertex_is_optimal(points, weights, number):
            return points[number]
    place = (weights[:, None] * points).sum(axis=0) / weights.sum()
    for _ in range(rounds):
        pull = weights / np.maximum(np.sqrt(((points - place) ** 2).sum(axis=1)), 1e-12)
        place = (pull[:, None] * points).sum(axis=0) / pull.sum()
    return place


@QUIET
@given(weighted_points())
def test_as_good_as_weiszfeld(case: tuple[FloatArray, FloatArray]) -> None:
    points, weights = case
    place, kind, _, _ = core.weber_point(points, weights)
    assert kind != core.Ending.ENDLESS
    assert usage(points, weights, place) <= usage(points, weights, weiszfeld(points, weights)) * (1 + 1e-9)


@QUIET
@given(weighted_points())
def test_vertices(case: tuple[FloatArray, FloatArray]) -> None:
    """It ends on a vertex only where that is optimal, and where one is, nothing is better."""
    points, weights = case
    place, kind, _, tied = core.weber_point(points, weights)
    optimal = [points[k] for k in range(len(points)) if vertex_is_optimal(points, weights, k)]
    if optimal:
        assert usage(points, weights, place) <= usage(points, weights, optimal[0]) * (1 + 1e-9)
    if kind == core.Ending.VERTEX:
        nearest = min(range(len(points)), key=lambda k: float(((points[k] - place) ** 2).sum()))
        assert np.allclose(points[nearest], place, rtol=0, atol=1e-9)
    assert not (tied and kind == core.Ending.VERTEX)


def test_a_heavy_neighbour_wins() -> None:
    points = np.array([[0.0, 0, 0], [10, 0, 0], [0, 10, 0]])
    place, kind, _, tied = core.weber_point(points, np.array([5.0, 2, 2]))
    assert kind == core.Ending.VERTEX
    assert not tied
    assert (place == points[0]).all()


def test_coincident_neighbours_add_up() -> None:
    """No neighbour alone outweighs the others, but two of them are at one place."""
    points = np.array([[0.0, 0], [0, 0], [10, 0], [0, 10]])
    place, kind, _, _ = core.weber_point(points, np.array([1.0, 1, 1.2, 1.2]))
    assert kind == core.Ending.VERTEX
    assert (place == 0).all()


def test_the_middle_of_a_segment() -> None:
    """One input and one output of equal rate: all places between them are as good."""
    place, kind, _, tied = core.weber_point(np.array([[0.0, 4], [10, 8]]), np.array([3.0, 3]))
    assert (kind, tied) == (core.Ending.INTERIOR, True)
    assert (place == [5, 6]).all()


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([2, 4, 6]), st.sampled_from([1.0, 50.0, 1000.0]))
def test_the_middle_of_any_segment(seed: int, count: int, length: float) -> None:
    """Points on a line stay on it however their coordinates are rounded."""
    rng = np.random.default_rng(seed)
    ends = rng.normal(size=(2, 3)) * length
    points = ends[0] + np.sort(rng.random(count))[:, None] * (ends[1] - ends[0])
    place, kind, _, tied = core.weber_point(points, np.ones(count))
    assert (kind, tied) == (core.Ending.INTERIOR, True)
    middle = points[count // 2 - 1 : count // 2 + 1].mean(axis=0)
    assert np.allclose(place, middle, rtol=0, atol=1e-9 * length)


def test_equal_weights_of_a_triangle() -> None:
    """All angles at the place are 120 degrees."""
    points = np.array([[0.0, 0], [10, 0], [5, 10 * np.sqrt(3) / 2]])
    place, kind, _, _ = core.weber_point(points, np.ones(3))
    assert kind == core.Ending.INTERIOR
    assert np.allclose(place, points.mean(axis=0), atol=1e-5)


def test_a_narrow_valley_beside_a_vertex() -> None:
    """Seen in a real graph: steps along the flow alone go to and fro ten thousand times."""
    points = np.array(
        [
            [30.30569431, 114.78265183, 34.91177254],
            [9.63727877, -30.09740612, 32.20402156],
            [8.7474048, -28.97734602, 15.49113039],
            [5.96225042, -29.95572445, 18.19339158],
            [47.2681949, -14.09830713, 65.32099392],
        ]
    )
    weights = np.array([13596.49759191, 6831.33870852, 15630.09862175, 15307.37530322, 22966.53812274])
    place, kind, rounds, _ = core.weber_point(points, weights)
    assert kind == core.Ending.INTERIOR
    assert rounds < 1000
    assert usage(points, weights, place) <= usage(points, weights, weiszfeld(points, weights)) * (1 + 1e-12)


def test_as_printed_it_ends_after_one_step_or_never() -> None:
    """Errata E3.1 and E3.2."""
    points = np.array([[0.0, 0], [10, 0], [5, 30]])
    _, kind, rounds, _ = core.weber_point(points, np.ones(3), printed=True)
    assert kind == core.Ending.INTERIOR
    assert rounds < 60
    _, kind, _, _ = core.weber_point(points, np.array([9.0, 1, 1]), printed=True)
    assert kind == core.Ending.ENDLESS
