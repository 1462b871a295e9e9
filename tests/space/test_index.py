"""The index of the latency space, against a look at every node."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from berth.core import space as core
from berth.space.index import SpaceIndex

FloatArray = NDArray[np.float64]


class Nodes:
    """Positions on a coarse grid, so that ties and nodes at one place are common; some have none."""

    def __init__(self, count: int, dimensions: int, seed: int, high: bool, blank: float) -> None:
        self.random = np.random.default_rng(seed)
        scale = self.random.choice([2.0, 6.0, 50.0])
        self.positions = np.round(self.random.normal(0.0, scale, (count, dimensions)))
        self.positions[self.random.random(count) < blank] = self.random.choice([np.nan, np.inf])
        self.heights = np.round(self.random.exponential(5.0, count)) if high else np.zeros(count)
        self.index = SpaceIndex(self.positions, self.heights if high else None)
        self.point = self.some_point()

    def some_point(self) -> FloatArray:
        return np.round(self.random.normal(0.0, 10.0, self.positions.shape[1]), self.random.integers(0, 2))

    def distances(self, point: FloatArray) -> FloatArray:
        squares = np.zeros(len(self.positions))
        with np.errstate(invalid="ignore"):
            for axis, value in enumerate(point):
                squares += (self.positions[:, axis] - value) ** 2
        known = np.isfinite(self.positions).all(axis=1)
        return np.where(known, np.sqrt(squares) + self.heights, np.nan)

    def by_distance(self, point: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        away = self.distances(point)
        order = np.lexsort((np.arange(len(away)), away))[: np.isfinite(away).sum()]
        return order, away[order]


usual = settings(max_examples=80, derandomize=True, deadline=None, database=None)
nodes = st.builds(
    Nodes,
    count=st.integers(0, 10 * core.LEAF_SIZE),
    dimensions=st.integers(1, 6),
    seed=st.integers(0, 2**32),
    high=st.booleans(),
    blank=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
)


@usual
@given(nodes, st.integers(0, 12 * core.LEAF_SIZE))
def test_nearest(given_nodes: Nodes, count: int) -> None:
    numbers, distances = given_nodes.index.nearest(given_nodes.point, count)
    expected, away = given_nodes.by_distance(given_nodes.point)
    assert numbers.tolist() == expected[:count].tolist()
    assert distances.tolist() == away[:count].tolist()


@usual
@given(nodes, st.integers(0, 5), st.integers(0, 30))
def test_nearest_of_many_points(given_nodes: Nodes, points: int, count: int) -> None:
    rows = np.array([given_nodes.some_point() for _ in range(points)])
    rows = rows.reshape(points, given_nodes.index.dimensions)
    numbers, distances = given_nodes.index.nearest_many(rows, count)
    assert numbers.shape == distances.shape == (points, count)
    for row, point in enumerate(rows):
        expected, away = given_nodes.index.nearest(point, count)
        assert numbers[row].tolist() == expected.tolist() + [-1] * (count - len(expected))
        assert distances[row].tolist() == away.tolist() + [np.inf] * (count - len(expected))


@usual
@given(nodes, st.integers(0, 30), st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_nearest_with_room_of_many_points(given_nodes: Nodes, count: int, share: float) -> None:
    """Every row has a demand of its own: who is full for one has room for another."""
    room = np.where(given_nodes.random.random((len(given_nodes.positions), 2)) < share, 2.0, 1.0)
    # the second limit is of places with three nodes each
    places = np.arange(len(room)), np.arange(len(room)) // 3
    shared = room[: (len(room) + 2) // 3, 1]
    demands = np.array([[2.0, 0.0], [1.0, 2.0], [3.0, 0.0]])
    rows = np.array([given_nodes.some_point() for _ in demands])
    limits = core.Room(np.ascontiguousarray(demands.T), list(places), [room[:, 0].copy(), shared.copy()])
    numbers, distances = given_nodes.index.nearest_many(rows, count, limits, np.arange(len(demands)))
    room[:, 1] = shared[places[1]]
    for row, (point, demand) in enumerate(zip(rows, demands, strict=True)):
        order, away = given_nodes.by_distance(point)
        fits = (room[order] >= demand).all(axis=1)
        expected = order[fits][:count].tolist()
        assert numbers[row].tolist() == expected + [-1] * (count - len(expected))
        assert distances[row, : len(expected)].tolist() == away[fits][:count].tolist()


@usual
@given(nodes, st.sampled_from([0.0, 0.5, 1.0, 1.0 + 1e-15, 1.5, 4.0, np.inf]), st.booleans())
def test_in_ellipse(given_nodes: Nodes, stretch: float, one_focus: bool) -> None:
    first = given_nodes.some_point()
    second = first if one_focus else given_nodes.some_point()
    focal = max(float(np.sqrt(((first - second) ** 2).sum())), 1.0 if stretch == np.inf else 0.0)
    length = focal * stretch if focal else stretch
    legs = given_nodes.distances(first) + given_nodes.distances(second)
    sure = np.abs(legs - length) > 1e-9
    found = np.zeros(len(legs), dtype=bool)
    numbers = given_nodes.index.in_ellipse(first, second, length)
    found[numbers] = True
    assert numbers.tolist() == sorted(set(numbers.tolist()))
    assert (found == (legs <= length))[sure | np.isnan(legs) | np.isinf(length)].all()


def test_an_ellipse_with_a_point_on_its_edge() -> None:
    index = SpaceIndex([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.1]])
    assert index.in_ellipse([-3.0, 0.0], [3.0, 0.0], 10.0).tolist() == [0, 1, 2, 3]
    assert index.in_ellipse([0.0, 0.0], [4.0, 0.0], 4.0).tolist() == [0, 1, 3]
    assert index.in_ellipse([0.0, 0.0], [4.0, 0.0], 3.9).tolist() == []
    assert index.in_ellipse([0.0, 4.0], [0.0, 4.0], 0.0).tolist() == [2]


def test_heights_decide() -> None:
    index = SpaceIndex([[0.0], [1.0], [-3.0]], heights=[9.0, 2.0, 0.0])
    numbers, distances = index.nearest([0.0], 3)
    assert numbers.tolist() == [1, 2, 0]
    assert distances.tolist() == [3.0, 3.0, 9.0]
    assert index.in_ellipse([0.0], [2.0], 6.0).tolist() == [1]


def test_room_may_change_between_searches() -> None:
    index = SpaceIndex(np.arange(40.0)[:, None])
    room = core.Room(np.array([[1.0]]), [np.arange(40)], [np.ones(40)])
    taken = []
    for _ in range(41):
        taken.append(int(index.nearest_many([[0.0]], 1, room, np.array([0]))[0][0, 0]))
        if taken[-1] >= 0:
            room.put(0, taken[-1])
    assert taken == [*range(40), -1]


def test_many_nodes_at_one_place_and_one_far_away() -> None:
    positions = np.zeros((200, 3))
    positions[77] = 1e6
    index = SpaceIndex(positions)
    assert index.nearest([0.0, 0.0, 0.0], 3)[0].tolist() == [0, 1, 2]
    for only in (77, 150):
        room = core.Room(np.array([[1.0]]), [np.arange(200)], [(np.arange(200) == only).astype(np.float64)])
        found = index.nearest_many([[0.0, 0.0, 0.0]], 2, room, np.array([0]))[0]
        assert found.tolist() == [[only, -1]]


def test_one_node_and_none() -> None:
    assert SpaceIndex([[3.0, 4.0]]).nearest([0.0, 0.0], 2)[1].tolist() == [5.0]
    assert len(SpaceIndex(np.zeros((0, 2)))) == 0
    assert len(SpaceIndex([[1.0, np.nan]])) == 0


def no_limits() -> core.Room:
    return core.Room(np.ones((0, 2)), [], [])


def test_room_of_places_that_nodes_share() -> None:
    """What is put onto one node of a place is gone for the others, until it is taken off."""
    room = core.Room(np.array([[1.0, 1.0, 0.0]]), [np.array([0, 0, 1])], [np.array([1.0, 1.0])])
    everywhere = np.arange(3)
    room.put(0, 0)
    assert room.fits(1, everywhere).tolist() == [False, False, True]
    assert room.fits(2, everywhere).all()
    before = room.copy()
    room.take(0, 0)
    assert room.fits(1, everywhere).all()
    assert room.fit_pairs(0, 1, everywhere, everywhere).tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    assert not before.fits(1, everywhere).all()
    before.put(1, 1)
    assert before.overfull(0)
    assert not before.overfull(2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: SpaceIndex([1.0, 2.0]), "positions"),
        (lambda: SpaceIndex([[1.0], [2.0]], [0.0]), "heights"),
        (lambda: SpaceIndex([[1.0]], [-1.0]), "heights"),
        (lambda: SpaceIndex([[1.0]]).nearest([1.0, 2.0], 1), "point"),
        (lambda: SpaceIndex([[1.0]]).nearest([np.nan], 1), "point"),
        (lambda: SpaceIndex([[1.0]]).nearest_many([[1.0, 2.0]], 1), "points"),
        (lambda: SpaceIndex([[1.0]]).nearest_many([[1.0]], 1, no_limits(), np.arange(2)), "room"),
    ],
)
def test_what_can_not_be_asked(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}: "):
        wrong()
