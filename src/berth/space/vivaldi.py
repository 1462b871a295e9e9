"""Network coordinates by Vivaldi (card 1.1): points whose distances are the measured delays, nearly.

Vivaldi's springs pull with the error itself: a few delays that fit nowhere (detours, overloaded hosts) bend
everything around them. So a polish follows that minimises absolute errors: a sample counts less the worse it
fits (weights 1 / error), and a node goes to the weighted mean of the points that its samples want it at. That
needs no step size: without heights, the sum of a node's own errors can't grow (majorisation).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from berth.core import space as core
from berth.model.arrays import FloatArray, IndexArray
from berth.model.parameters import Parameters, Values, at_least, parameter
from berth.model.randomness import generator_for
from berth.space.coordinates import Coordinates, error_figures
from berth.space.samples import Samples

MOST_DIMENSIONS = 16
STEP = Values(lambda share: 0 < share <= 1, "is not above 0 and at most 1")
"""What a share that a node goes, or takes over, may be."""
ALL_PAIRS = 250_000
"""Up to so many measured pairs (all of 700 nodes) all are used unless a number of neighbours is given."""
NEIGHBOURS = 32
WINDOW = 10
"""Vivaldi's error is stable if the mean of so many rounds is not 1 % below that of as many before them."""
STABLE = 0.99
LIFT = 3
"""Dimensions more than are wanted, at first: what is folded in three dimensions unfolds in six."""
PERFECT = 1e-4
"""A mean error below this share of the median delay is better than any measurement: nothing is left to do."""
REFINED = 0.9995
"""The polish ends when a round brings less than this."""
LONGEST = 1e4
"""Delays longer than so many medians count as that long: one absurd delay must not tear everything apart."""
EXACT_SHARE = 0.05
"""Errors below this share of the median delay are all good enough, for the polish."""
CLOSENESS = 0.5
"""How much more short delays count in the polish, where near neighbours were not picked on purpose."""
NEAR_SHARE = 0.25
"""The share of a node's neighbours that are its nearest ones. The rest is random, so mostly far away: these
hold the whole together, the near ones tell what is close."""
GAP = 10.0
"""How far islands are apart, in extents of the largest one: farther than any node from its own island."""


@dataclass(frozen=True)
class VivaldiOptions(Parameters):
    """Vivaldi's parameters; a value out of range is a ValueError that begins with the option's name."""

    dimensions: int = parameter(
        3,
        "dimensions of the space",
        Values(lambda count: 1 <= count <= MOST_DIMENSIONS, f"is not in 1 to {MOST_DIMENSIONS}"),
    )
    height: bool = parameter(False, "whether nodes have heights (access links), too")
    neighbours: int | None = parameter(
        None, "most neighbours of a node; none: all while they are few, then 32", at_least(1)
    )
    c_c: float = parameter(0.25, "share of a sample's error that a node moves by", STEP)
    c_e: float = parameter(0.25, "share of a sample that enters a node's own error", STEP)
    rounds: int = parameter(300, "most passes over all samples, of each step", at_least(1))
    refine: bool = parameter(
        True, "start with more dimensions, minimise absolute errors afterwards; false: Vivaldi alone"
    )
    starts: int | None = parameter(
        None, "how often to start anew, the best is taken; none: more for few nodes", at_least(1)
    )

    def neighbours_for(self, pairs: int) -> int | None:
        """The most neighbours of a node; None: all of them."""
        if self.neighbours is None and pairs > ALL_PAIRS:
            return NEIGHBOURS
        return self.neighbours

    def starts_for(self, samples: int) -> int:
        """How often to start: few samples are cheap, and the fewer there are the more often they mislead."""
        if self.starts is not None:
            return self.starts
        return max(1, min(8, 20_000 // max(samples, 1)))


def embed(samples: Samples, options: VivaldiOptions | None = None, seed: int = 0) -> Coordinates:
    """Points for all nodes, from some of the delays between them.

    The same samples, options and seed give the same points. Islands of nodes that no sample joins are laid
    far apart from each other; the nodes outside the largest one are `unplaced`.

    Args:
        samples: what was measured, of any sources (see `samples_from_pairs` and `samples_from_matrix`).
        options: dimensions, heights, neighbours and so on.
        seed: for the start, the order of nodes, the choice of neighbours and of pairs that are judged.
    """
    options = options or VivaldiOptions()
    generator = generator_for(seed)
    typical = _typical_delay(samples)
    used = replace(samples, delay_ms=np.minimum(samples.delay_ms, LONGEST * typical))
    most = options.neighbours_for(len(samples.delay_ms))
    known = neighbourhoods(used, most, generator)
    chosen = known.samples < 2 * len(samples.delay_ms)
    best: Coordinates | None = None
    for start in range(options.starts_for(known.samples)):
        # Few nodes that unfold from one point may lie on a line for ever: then from all over the place.
        scatter = typical if start > 0 else 0.0
        found = _spring(known, samples.nodes, options, scatter, PERFECT * typical, generator)
        if options.refine:
            found = _polish(known, found, options, typical, 0.0 if chosen else CLOSENESS)
        found = replace(found, errors=error_figures(found.positions, found.heights, samples, seed))
        if best is None or _mean(found) < _mean(best):
            best = found
        if _mean(best) <= PERFECT * typical:
            break
    assert best is not None
    islands = samples.components
    return replace(
        best, positions=apart(best.positions, islands), unplaced=np.flatnonzero(islands > 0), islands=islands
    )


def _typical_delay(samples: Samples) -> float:
    """The median of the delays above 0; 1 where there is none."""
    positive = samples.delay_ms[samples.delay_ms > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _mean(found: Coordinates) -> float:
    return 0.0 if found.errors is None else found.errors.absolute_mean_ms


def _spring(
    known: core.Neighbourhoods,
    nodes: int,
    options: VivaldiOptions,
    scatter_ms: float,
    perfect_ms: float,
    generator: np.random.Generator,
) -> Coordinates:
    """Vivaldi itself, from points so far apart; unless it is Vivaldi alone, at first with room to unfold."""
    lift = LIFT if options.refine else 0
    positions = np.zeros((nodes, options.dimensions + lift))
    if scatter_ms > 0.0:
        positions = generator.normal(0.0, scatter_ms, positions.shape)
    heights = np.full(nodes, core.LEAST_HEIGHT_MS if options.height else 0.0)
    errors = np.full(nodes, core.LARGEST_ERROR)
    rounds, resets = _settle(known, positions, heights, errors, options, perfect_ms, generator)
    if lift:
        positions = _flattened(positions, options.dimensions)
        further, again = _settle(known, positions, heights, errors, options, perfect_ms, generator)
        rounds, resets = rounds + further, resets + again
    return Coordinates(positions, heights, None, resets, rounds)


def _settle(
    known: core.Neighbourhoods,
    positions: FloatArray,
    heights: FloatArray,
    errors: FloatArray,
    options: VivaldiOptions,
    perfect_ms: float,
    generator: np.random.Generator,
) -> tuple[int, int]:
    """Rounds over all samples, in place, until the error is stable; their number, and that of resets."""
    means: list[float] = []
    resets = 0
    while len(means) < options.rounds and not _stable(means, perfect_ms):
        mean, again = known.spring(
            generator.permutation(len(positions)),
            positions,
            heights,
            errors,
            with_height=options.height,
            c_c=options.c_c,
            c_e=options.c_e,
            generator=generator,
        )
        means.append(mean)
        resets += again
    return len(means), resets


def _flattened(positions: FloatArray, dimensions: int) -> FloatArray:
    """The points seen along the axes in which they lie widest."""
    centred = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(centred @ axes[:, -dimensions:])


def _stable(means: list[float], perfect_ms: float) -> bool:
    if means and means[-1] <= perfect_ms:
        return True
    if len(means) < 2 * WINDOW:
        return False
    return bool(np.mean(means[-WINDOW:]) >= STABLE * np.mean(means[-2 * WINDOW : -WINDOW]))


def _polish(
    known: core.Neighbourhoods, found: Coordinates, options: VivaldiOptions, typical: float, closeness: float
) -> Coordinates:
    """Least absolute errors, from where the springs came to rest."""
    positions, heights = found.positions.copy(), found.heights.copy()
    before = np.inf
    rounds = 0
    while rounds < options.rounds:
        mean = known.polish(
            positions,
            heights,
            with_height=options.height,
            exact_ms=EXACT_SHARE * typical,
            closeness=closeness,
        )
        rounds += 1
        if mean >= REFINED * before or mean <= PERFECT * typical:
            break
        before = mean
    return replace(found, positions=positions, heights=heights, polish_rounds=rounds)


def neighbourhoods(samples: Samples, most: int | None, generator: np.random.Generator) -> core.Neighbourhoods:
    """Every sample as one of both its nodes; at most so many for a node, None: all of them.

    A pair that one of its nodes leaves out can still be a sample of the other.
    """
    # Samples are in the order of pairs, so that behind a stable sort every node's neighbours are in order.
    rows = np.concatenate([samples.second, samples.first])
    others = np.concatenate([samples.first, samples.second])
    order = np.argsort(rows.astype(np.uint16) if samples.nodes <= 2**16 else rows, kind="stable")
    others, delays = others[order], np.tile(samples.delay_ms, 2)[order]
    sizes = np.bincount(rows, minlength=samples.nodes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    if most is not None and sizes.max(initial=0) > most:
        kept = core.chosen_samples(offsets, delays, most, round(NEAR_SHARE * most), generator)
        others, delays = others[kept], delays[kept]
        offsets = np.concatenate([[0], np.cumsum(np.minimum(sizes, most))])
    return core.Neighbourhoods(np.arange(samples.nodes), offsets, others, delays)


def apart(positions: FloatArray, islands: IndexArray) -> FloatArray:
    """Each island around a centre of its own: the first around the origin, the others on the first axis.

    So no node of another island is ever nearest to a point among the nodes of one.
    """
    count = int(islands.max(initial=0)) + 1
    sizes = np.bincount(islands, minlength=count)
    centres = np.stack([np.bincount(islands, axis, count) / sizes for axis in positions.T], axis=1)
    centred = positions - centres[islands]
    if count > 1:
        extent = float(np.sqrt((centred**2).sum(axis=1)).max())
        centred[:, 0] += islands * (GAP * 2.0 * max(extent, 1.0))
    return np.asarray(centred)
