"""Where the nodes of a network and their labels are on paper: distances between nodes stand for delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path
from scipy.spatial import KDTree

from berth.model import BadInput, Network
from berth.model.pair_fields import whole

FloatArray = NDArray[np.float64]

DECIMALS = 6
"""Places are rounded to so many, so that the last bits of a computation don't change a picture."""
NEAREST = 0.02
"""Nodes nearer than this share of the longest distance are taken to be so far apart."""
STRESS_ROUNDS = 80
LARGEST_IMPROVED = 400
"""Networks of more nodes are only scaled: it takes time, and nobody sees the difference."""
DIRECTIONS = 16
GAPS = (4.0, 12.0, 24.0, 40.0, 60.0)
"""How far from its disc a label may be, in points."""
ROUNDS = 4
OUTSIDE, ON_LABEL, ON_DISC, ON_LINE, PER_POINT_AWAY = 50.0, 20.0, 15.0, 60.0, 6.0
"""What is paid for each square point outside, on a label or on a disc, for each point of a line that is
covered, and for each point of distance from the disc."""
LINE_PAD = 3.0
"""How near a line may come to a label: lines have a width."""
LEADER_FROM = 10.0
"""From this distance on a leader joins a label to its disc."""
LEADER_SAMPLES = 10
LEADER_CROSSES, NEARER_TO_ANOTHER = 150.0, 250.0
"""What is paid for each point of a leader on something else, and for a disc as near as the label's own."""
CLEARLY = 2.0
"""So much nearer than to any other disc a label should be to its own."""
END_FREE, START_FREE = 14.0, 6.0
"""How much of an arrow's ends, its head above all, a label on it leaves to be seen."""
BESIDE = 25.0
"""What is paid for a label beside its line instead of on it."""


def node_places(network: Network) -> FloatArray:
    """A point for every node, in ms: its coordinates where all have them, or else from the delays.

    Raises:
        BadInput: There are too many nodes without coordinates.
    """
    coordinates = [node.coordinates for node in network.nodes if node.coordinates is not None]
    if len(coordinates) == len(network.nodes):
        return np.round(_flattened(np.array(coordinates, dtype=np.float64)), DECIMALS)
    if network.scattered:
        count = f"{len(network.nodes):,} nodes"
        raise BadInput(
            [f"network.nodes: a picture of {count} needs coordinates; berth coordinates writes them"]
        )
    distance = _distances(whole(network.table.delay_ms))
    return np.round(_with_less_stress(_from_distances(distance), distance), DECIMALS)


def _flattened(points: FloatArray) -> FloatArray:
    """Points of any dimension in two: along the two directions in which they differ most."""
    if points.shape[1] == 2:
        return points
    centred = points - points.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return _two_columns(_with_fixed_signs(centred @ directions[:2].T))


def _distances(delay: FloatArray) -> FloatArray:
    """The mean of both ways; where neither is known, the shortest path or else the longest of all."""
    both = np.stack([delay, delay.T])
    known = ~np.isnan(both)
    count = known.sum(axis=0)
    mean = np.where(known, both, 0.0).sum(axis=0) / np.maximum(count, 1)
    distance = np.where(count > 0, mean, np.inf)
    np.fill_diagonal(distance, 0.0)
    if np.isinf(distance).any():
        along = shortest_path(csgraph_from_dense(distance, null_value=np.inf), directed=False)
        distance = np.where(np.isinf(distance), along, distance)
    reached = np.isfinite(distance)
    longest = float(distance[reached].max(initial=0.0)) or 1.0
    return np.where(reached, distance, longest)


def _from_distances(distance: FloatArray) -> FloatArray:
    """Classical multidimensional scaling (Torgerson 1952) to two dimensions."""
    size = len(distance)
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = eigh(-centred / 2.0, subset_by_index=[max(size - 2, 0), size - 1])
    scaled = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    return _two_columns(_with_fixed_signs(scaled))


def _with_less_stress(points: FloatArray, distance: FloatArray) -> FloatArray:
    """Stress majorisation (Gansner, Koren and North 2004): near nodes get their true distances, too.

    Scaling alone lets fall together what differs only in a third dimension.
    """
    if len(points) > LARGEST_IMPROVED:
        return points
    shortest = NEAREST * float(distance.max(initial=0.0)) or 1.0
    weight = 1.0 / np.maximum(distance, shortest) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    for _ in range(STRESS_ROUNDS):
        away = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
        pull = weight * distance / np.where(away > 0.0, away, np.inf)
        points = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ points)
    return points


def _with_fixed_signs(points: FloatArray) -> FloatArray:
    """Points mirrored so that the value furthest from zero in each column is above zero."""
    furthest = np.abs(np.round(points, DECIMALS)).argmax(axis=0)
    signs = np.where(points[furthest, np.arange(points.shape[1])] < 0.0, -1.0, 1.0)
    return np.asarray(points * signs)


def _two_columns(points: FloatArray) -> FloatArray:
    return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def spread(points: FloatArray, radii: FloatArray, rounds: int = 60) -> FloatArray:
    """Move discs apart, as little as helps, until they overlap no more (or the rounds are over)."""
    moved = points.copy()
    apart = radii[:, None] + radii[None, :]
    np.fill_diagonal(apart, 0.0)
    number = np.arange(len(points))
    # Two discs on one spot have no direction away from each other: their numbers give them one.
    angle = number[:, None] * 2.4 - number[None, :] * 2.4 + np.where(number[:, None] > number, 0.0, np.pi)
    for _ in range(rounds):
        away = moved[:, None, :] - moved[None, :, :]
        distance = np.hypot(away[..., 0], away[..., 1])
        lacking = np.maximum(apart - distance, 0.0)
        if not lacking.any():
            break
        same = distance < 1e-9
        unit = away / np.where(same, 1.0, distance)[..., None]
        unit[same] = np.stack([np.cos(angle[same]), np.sin(angle[same])], axis=-1)
        moved += (unit * (lacking / 2.0)[..., None]).sum(axis=1)
    return moved


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
    near_lines = KDTree(lines)
    leaders = [_leaders(label, boxes) for label, boxes in zip(labels, choices, strict=True)]
    fixed = [
        _fixed_cost(boxes, discs, lines, bounds) + _mistaken_cost(label, boxes, ends, discs, near_lines)
        for label, boxes, ends in zip(labels, choices, leaders, strict=True)
    ]
    order = sorted(range(len(labels)), key=lambda number: -labels[number].width * labels[number].height)
    placed = np.full((len(labels), 4), np.nan)
    for _ in range(ROUNDS):
        for number in order:
            others = np.delete(placed, number, axis=0)
            others = others[~np.isnan(others[:, 0])]
            overlap = overlaps(choices[number], others).sum(axis=1)
            crossed = _points_in(leaders[number], others).sum(axis=1)
            cost = fixed[number] + ON_LABEL * overlap + LEADER_CROSSES * crossed
            placed[number] = choices[number][cost.argmin()]
    return placed


def _leaders(label: Label, boxes: FloatArray) -> FloatArray:
    """By box, points on the line that joins it to its disc; NaN where it is near enough to need none."""
    middle = np.array([label.x, label.y])
    ends = np.clip(middle, boxes[:, :2], boxes[:, 2:])
    away = np.hypot(*(ends - middle).T)
    part = np.linspace(0.0, 1.0, LEADER_SAMPLES)[None, :, None]
    start = middle + (ends - middle) * (label.radius / np.maximum(away, label.radius))[:, None]
    points = start[:, None] + (ends - start)[:, None] * part
    points[away <= label.radius + LEADER_FROM] = np.nan
    return np.asarray(points)


def _points_in(points: FloatArray, boxes: FloatArray) -> NDArray[np.bool_]:
    """By row of points and by point, whether it is in any of the boxes."""
    x, y = points[..., :1], points[..., 1:]
    within = (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
    return np.asarray(within.any(axis=-1))


def _mistaken_cost(
    label: Label, boxes: FloatArray, leaders: FloatArray, discs: FloatArray, lines: KDTree
) -> FloatArray:
    """What each box costs because one may take it for that of something else."""
    own = np.hypot(discs[:, 0] - label.x, discs[:, 1] - label.y) < 1e-6
    others = discs[~own]
    nearest = np.clip(others[None, :, :2], boxes[:, None, :2], boxes[:, None, 2:])
    gap = np.hypot(*np.moveaxis(nearest - others[None, :, :2], -1, 0)) - others[:, 2]
    ends = np.clip(np.array([label.x, label.y]), boxes[:, :2], boxes[:, 2:])
    own_gap = np.hypot(ends[:, 0] - label.x, ends[:, 1] - label.y) - label.radius
    mistaken = (gap < own_gap[:, None] + CLEARLY).sum(axis=1)
    there = ~np.isnan(leaders[:, 0, 0])
    points = leaders[there].reshape(-1, 2)
    away = np.hypot(points[:, :1] - others[:, 0], points[:, 1:] - others[:, 1])
    hit = (away < others[:, 2] + LINE_PAD).any(axis=1).astype(np.float64)
    hit += lines.query(points)[0] < 2 * LINE_PAD
    crossed = np.zeros(len(boxes))
    crossed[there] = hit.reshape(-1, LEADER_SAMPLES).sum(axis=1)
    return np.asarray(NEARER_TO_ANOTHER * mistaken + LEADER_CROSSES * crossed)


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
    inside = _covered(boxes, lines)
    return np.asarray(
        OUTSIDE * outside + ON_DISC * on_discs + ON_LINE * inside.sum(axis=1) + PER_POINT_AWAY * away
    )


def _covered(boxes: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
    """By box and point, whether it is in the box or nearly so."""
    x, y = points[:, 0], points[:, 1]
    left, top, right, bottom = (boxes[:, [side]] for side in range(4))
    across = (left - LINE_PAD < x) & (x < right + LINE_PAD)
    return np.asarray(across & (top - LINE_PAD < y) & (y < bottom + LINE_PAD))


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """The area that every box shares with every other one."""
    width = np.minimum(boxes[:, None, 2], others[None, :, 2]) - np.maximum(
        boxes[:, None, 0], others[None, :, 0]
    )
    height = np.minimum(boxes[:, None, 3], others[None, :, 3]) - np.maximum(
        boxes[:, None, 1], others[None, :, 1]
    )
    return np.asarray(np.maximum(width, 0.0) * np.maximum(height, 0.0))


def place_on_line(
    line: FloatArray, width: float, height: float, taken: FloatArray, others: FloatArray
) -> tuple[FloatArray, bool]:
    """A box for a label on one of a line's points, as near to its middle as the boxes taken allow.

    Where the line is so short that nothing of it would be seen, the label is beside it.

    Args:
        line: points on the line, from its start to its end.
        width: the label's.
        height: the label's.
        taken: boxes that should stay visible.
        others: points on other lines that should stay visible.

    Returns:
        The box, and whether it is on the line.
    """
    half = np.array([width, height]) / 2.0
    off_middle = np.abs(np.arange(len(line)) - (len(line) - 1) / 2.0)
    along = np.gradient(line, axis=0)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1)
    normal /= np.maximum(np.hypot(*normal.T), 1e-9)[:, None]
    reach = (np.abs(normal) @ half + 2 * LINE_PAD)[:, None]
    middles = np.vstack([line, line + normal * reach, line - normal * reach])
    boxes = np.hstack([middles - half, middles + half])
    ends = np.array([[*line[0], START_FREE], [*line[-1], END_FREE]])
    nearest = np.clip(ends[None, :, :2], boxes[:, None, :2], boxes[:, None, 2:])
    hidden = (np.hypot(*np.moveaxis(nearest - ends[None, :, :2], -1, 0)) < ends[:, 2]).any(axis=1)
    beside = np.arange(len(boxes)) >= len(line)
    cost = ON_LABEL * overlaps(boxes, taken).sum(axis=1) + np.tile(off_middle, 3)
    cost += ON_LINE * (_covered(boxes, others).sum(axis=1) + np.where(beside, BESIDE / ON_LINE, 0.0))
    cost += ON_LINE * np.where(beside, _covered(boxes, line).sum(axis=1), 4 * hidden)
    best = int(cost.argmin())
    return np.asarray(boxes[best]), not beside[best]
