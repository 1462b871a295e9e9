"""Places of nodes and their labels on paper."""

from __future__ import annotations

import numpy as np
import pytest

from berth.drawing.places import Label, node_places, overlaps, place_labels, place_on_line, spread
from berth.model import BadInput, Link, Network, Node

from .problems import three_nodes


def distances(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(points[:, None] - points[None, :], axis=-1))


def nodes(count: int) -> tuple[Node, ...]:
    return tuple(Node(str(number)) for number in range(count))


def test_two_dimensional_coordinates_are_taken_as_they_are() -> None:
    """Where all nodes have them."""
    network = Network((Node("a", coordinates=(1.0, 2.0)), Node("b", coordinates=(4.0, 6.0))))
    assert node_places(network).tolist() == [[1.0, 2.0], [4.0, 6.0]]


def test_very_many_nodes_need_coordinates() -> None:
    """Places from the delays between every two of them would take hours."""
    with pytest.raises(BadInput, match="a picture of 5,000 nodes needs coordinates"):
        node_places(Network(nodes(5_000), (Link("0", "1", 3),)))


@pytest.mark.parametrize("dimensions", [1, 3, 5])
def test_other_dimensions_become_two(dimensions: int) -> None:
    """Points on a line stay as far apart as they are."""
    network = Network(tuple(Node(str(n), coordinates=(float(n),) * dimensions) for n in range(3)))
    found = node_places(network)
    assert found.shape == (3, 2)
    assert distances(found)[0, 2] == pytest.approx(2.0 * dimensions**0.5, rel=1e-4)


def test_delays_that_fit_on_paper_become_distances() -> None:
    """A square of 3 ms by 4 ms is found from its delays."""
    corners = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
    network = Network(nodes(4), matrices={"delay_ms": distances(corners)})
    assert distances(node_places(network)) == pytest.approx(distances(corners), abs=1e-3)


def test_nodes_on_both_sides_of_a_third_one_are_kept_apart() -> None:
    """Leaves of a star don't fall together, though the star doesn't fit on paper."""
    links = tuple(Link("0", str(leaf), delay_ms=5.0) for leaf in range(1, 6))
    found = distances(node_places(Network(nodes(6), links, routing="shortest_path")))
    assert found[~np.eye(6, dtype=bool)].min() > 2.0


def test_missing_links_are_filled_with_paths() -> None:
    """Two nodes without a link are as far apart as the way over a third one."""
    network = Network(nodes(3), (Link("0", "1", delay_ms=5.0), Link("1", "2", delay_ms=7.0)))
    assert distances(node_places(network))[0, 2] == pytest.approx(12.0, rel=1e-3)


def test_nodes_without_any_link_get_a_place() -> None:
    """Every place is a number, also where nothing is known."""
    assert np.isfinite(node_places(Network(nodes(4)))).all()
    assert node_places(Network(nodes(1))).shape == (1, 2)
    assert node_places(Network(nodes(2))).shape == (2, 2)


def test_one_way_delays_count_as_their_mean() -> None:
    """The way there and the way back differ."""
    links = (Link("0", "1", delay_ms=4.0), Link("1", "0", delay_ms=8.0))
    assert distances(node_places(Network(nodes(2), links)))[0, 1] == pytest.approx(6.0)


def test_places_are_the_same_every_time() -> None:
    """Nothing random is in them."""
    assert np.array_equal(node_places(three_nodes()), node_places(three_nodes()))


def test_spread_discs_do_not_overlap() -> None:
    """Discs on one spot and beside each other are moved apart, others stay."""
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [100.0, 0.0]])
    radii = np.array([5.0, 5.0, 5.0, 5.0])
    moved = spread(points, radii)
    assert distances(moved)[~np.eye(4, dtype=bool)].min() > 9.0
    assert moved[3].tolist() == [100.0, 0.0]


BOUNDS = (0.0, 0.0, 400.0, 300.0)
NO_LINES = np.zeros((0, 2))


def test_labels_do_not_overlap_where_there_is_room() -> None:
    """Five discs in a row with labels wider than the gaps between them."""
    labels = [Label(60.0 + 60.0 * number, 150.0, 8.0, 80.0, 20.0) for number in range(5)]
    discs = np.array([[label.x, label.y, label.radius] for label in labels])
    boxes = place_labels(labels, discs, NO_LINES, BOUNDS)
    shared = overlaps(boxes, boxes)
    assert shared[~np.eye(5, dtype=bool)].max() == 0.0


def test_labels_stay_on_the_paper() -> None:
    """Discs in all corners have their labels towards the middle."""
    labels = [Label(x, y, 6.0, 90.0, 20.0) for x in (8.0, 392.0) for y in (8.0, 292.0)]
    discs = np.array([[label.x, label.y, label.radius] for label in labels])
    boxes = place_labels(labels, discs, NO_LINES, BOUNDS)
    assert (boxes[:, :2] >= 0.0).all()
    assert (boxes[:, 2] <= 400.0).all()
    assert (boxes[:, 3] <= 300.0).all()


def test_labels_leave_their_own_disc_free() -> None:
    """A label is beside, above or below its disc."""
    label = Label(200.0, 150.0, 20.0, 100.0, 20.0)
    box = place_labels([label], np.array([[200.0, 150.0, 20.0]]), NO_LINES, BOUNDS)
    assert overlaps(box, np.array([[180.0, 130.0, 220.0, 170.0]])).max() == 0.0


def test_labels_avoid_lines() -> None:
    """With a line to the right the label is somewhere else."""
    line = np.array([[x, 150.0] for x in range(210, 400, 5)], dtype=np.float64)
    box = place_labels([Label(200.0, 150.0, 5.0, 60.0, 12.0)], np.zeros((0, 3)), line, BOUNDS)[0]
    assert not ((box[0] < line[:, 0]) & (line[:, 0] < box[2]) & (box[1] < 150.0) & (box[3] > 150.0)).any()


def test_a_label_on_a_line_is_in_its_middle_unless_that_is_taken() -> None:
    """It moves along the line until it is free."""
    line = np.array([[float(x), 50.0] for x in range(0, 101, 10)])
    nothing = np.zeros((0, 4))
    box, on_line = place_on_line(line, 20.0, 10.0, nothing, NO_LINES)
    assert (box.tolist(), on_line) == ([40.0, 45.0, 60.0, 55.0], True)
    moved, _ = place_on_line(line, 20.0, 10.0, np.array([[40.0, 45.0, 60.0, 55.0]]), NO_LINES)
    assert moved[2] <= 40.0 or moved[0] >= 60.0


def test_a_label_is_beside_a_line_that_it_would_hide() -> None:
    """The head of a short arrow stays to be seen, and so do other arrows."""
    line = np.array([[float(x), 50.0] for x in range(0, 31, 3)])
    above = line - np.array([0.0, 8.0])
    box, on_line = place_on_line(line, 28.0, 7.0, np.zeros((0, 4)), above)
    assert not on_line
    assert box[1] > 50.0


def test_a_label_is_not_where_another_disc_would_seem_to_be_meant() -> None:
    """Not nearer to that one, and not beyond it."""
    discs = np.array([[200.0, 150.0, 10.0], [230.0, 150.0, 10.0]])
    box = place_labels([Label(200.0, 150.0, 10.0, 60.0, 12.0)], discs, NO_LINES, BOUNDS)[0]
    assert box[0] < 200.0
    far = np.hypot(*(np.clip([230.0, 150.0], box[:2], box[2:]) - [230.0, 150.0]))
    near = np.hypot(*(np.clip([200.0, 150.0], box[:2], box[2:]) - [200.0, 150.0]))
    assert near < far
