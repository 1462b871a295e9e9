from __future__ import annotations

import numpy as np

from berth.drawing.labels import Label, overlaps, place_labels, place_on_line

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
    assert place_on_line(line, 20.0, 10.0, nothing).tolist() == [40.0, 45.0, 60.0, 55.0]
    moved = place_on_line(line, 20.0, 10.0, np.array([[40.0, 45.0, 60.0, 55.0]]))
    assert moved[2] <= 40.0 or moved[0] >= 60.0
