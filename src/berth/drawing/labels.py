"""Where to write beside discs so that little is covered: a greedy choice that is then improved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DIRECTIONS = 16
GAPS = (4.0, 12.0, 24.0, 40.0, 60.0)
"""How far from its disc a label may be, in points."""
ROUNDS = 4
OUTSIDE, ON_LABEL, ON_DISC, ON_LINE, PER_POINT_AWAY = 50.0, 20.0, 15.0, 60.0, 6.0
"""What is paid for each square point outside, on a label or on a disc, for each point of a line that is
covered, and for each point of distance from the disc."""


@dataclass(frozen=True)
class Label:
    """A text of some size that belongs to a disc."""

    x: float
    y: float
    radius: float
    width: float
    height: float


def place_labels(
    labels: Sequence[Label], discs: FloatArray, lines: FloatArray, bounds: tuple[float, float, float, float]
) -> FloatArray:
    """A box for every label: left, top, right, bottom.

    Args:
        labels: what to place.
        discs: rows of x, y and radius that should stay visible.
        lines: points (x, y) on lines that should stay visible.
        bounds: left, top, right and bottom of the paper.
    """
    choices = [_choices(label) for label in labels]
    fixed = [_fixed_cost(boxes, discs, lines, bounds) for boxes in choices]
    order = sorted(range(len(labels)), key=lambda number: -labels[number].width * labels[number].height)
    placed = np.full((len(labels), 4), np.nan)
    for _ in range(ROUNDS):
        for number in order:
            others = np.delete(placed, number, axis=0)
            overlap = overlaps(choices[number], others[~np.isnan(others[:, 0])]).sum(axis=1)
            placed[number] = choices[number][(fixed[number] + ON_LABEL * overlap).argmin()]
    return placed


def _choices(label: Label) -> FloatArray:
    """Boxes around a disc, the near ones first."""
    angles = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    gaps, around = (values.ravel() for values in np.meshgrid(GAPS, angles, indexing="ij"))
    along, down = np.cos(around), np.sin(around)
    half_width, half_height = label.width / 2.0, label.height / 2.0
    # as far out as it takes for the box to be beside, above or below the disc
    with np.errstate(divide="ignore"):
        distance = np.minimum(
            (label.radius + gaps + half_width) / np.abs(along),
            (label.radius + gaps + half_height) / np.abs(down),
        )
    x, y = label.x + along * distance, label.y + down * distance
    return np.stack([x - half_width, y - half_height, x + half_width, y + half_height], axis=1)


def _fixed_cost(
    boxes: FloatArray, discs: FloatArray, lines: FloatArray, bounds: tuple[float, float, float, float]
) -> FloatArray:
    """What each box costs, whatever the other labels do."""
    away = np.repeat(GAPS, DIRECTIONS)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    outside = area - overlaps(boxes, np.array([bounds]))[:, 0]
    squares = np.stack(
        [
            discs[:, 0] - discs[:, 2],
            discs[:, 1] - discs[:, 2],
            discs[:, 0] + discs[:, 2],
            discs[:, 1] + discs[:, 2],
        ],
        axis=1,
    )
    on_discs = overlaps(boxes, squares).sum(axis=1)
    x, y = lines[:, 0], lines[:, 1]
    inside = (boxes[:, :1] < x) & (x < boxes[:, 2:3]) & (boxes[:, 1:2] < y) & (y < boxes[:, 3:])
    return np.asarray(
        OUTSIDE * outside + ON_DISC * on_discs + ON_LINE * inside.sum(axis=1) + PER_POINT_AWAY * away
    )


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """The area that every box shares with every other one."""
    width = np.minimum(boxes[:, None, 2], others[None, :, 2]) - np.maximum(
        boxes[:, None, 0], others[None, :, 0]
    )
    height = np.minimum(boxes[:, None, 3], others[None, :, 3]) - np.maximum(
        boxes[:, None, 1], others[None, :, 1]
    )
    return np.asarray(np.maximum(width, 0.0) * np.maximum(height, 0.0))


def place_on_line(line: FloatArray, width: float, height: float, taken: FloatArray) -> FloatArray:
    """A box for a label on one of a line's points, as near to its middle as the boxes taken allow."""
    half = np.array([width, height]) / 2.0
    boxes = np.hstack([line - half, line + half])
    off_middle = np.abs(np.arange(len(line)) - (len(line) - 1) / 2.0)
    cost = ON_LABEL * overlaps(boxes, taken).sum(axis=1) + off_middle
    return np.asarray(boxes[cost.argmin()])
