"""Network coordinates by Vivaldi (card 1.1): points whose distances are the measured delays, nearly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from berth.model.randomness import generator_for
from berth.space.coordinates import Coordinates, FloatArray
from berth.space.errors import error_figures
from berth.space.islands import apart
from berth.space.neighbourhoods import Neighbourhoods, neighbourhoods
from berth.space.options import VivaldiOptions
from berth.space.refinement import refine_nodes
from berth.space.samples import Samples
from berth.space.vivaldi_kernel import LARGEST_ERROR, LEAST_HEIGHT_MS, update_nodes

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
    chosen = len(known.delays) < 2 * len(samples.delay_ms)
    best: Coordinates | None = None
    for start in range(options.starts_for(len(known.delays))):
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
    known: Neighbourhoods,
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
    heights = np.full(nodes, LEAST_HEIGHT_MS if options.height else 0.0)
    errors = np.full(nodes, LARGEST_ERROR)
    rounds, resets = _settle(known, positions, heights, errors, options, perfect_ms, generator)
    if lift:
        positions = _flattened(positions, options.dimensions)
        further, again = _settle(known, positions, heights, errors, options, perfect_ms, generator)
        rounds, resets = rounds + further, resets + again
    return Coordinates(positions, heights, None, resets, rounds)


def _settle(
    known: Neighbourhoods,
    positions: FloatArray,
    heights: FloatArray,
    errors: FloatArray,
    options: VivaldiOptions,
    perfect_ms: float,
    generator: np.random.Generator,
) -> tuple[int, int]:
    """Rounds over all samples, in place, until the error is stable; their number, and that of resets."""
    rows = np.arange(len(positions))
    means: list[float] = []
    resets = 0
    while len(means) < options.rounds and not _stable(means, perfect_ms):
        mean, again = update_nodes(
            generator.permutation(len(positions)),
            rows,
            known.offsets,
            known.neighbours,
            known.delays,
            positions,
            heights,
            errors,
            options.height,
            options.c_c,
            options.c_e,
            generator,
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
    known: Neighbourhoods, found: Coordinates, options: VivaldiOptions, typical: float, closeness: float
) -> Coordinates:
    """Least absolute errors, from where the springs came to rest."""
    positions, heights = found.positions.copy(), found.heights.copy()
    rows = np.arange(len(positions))
    before = np.inf
    rounds = 0
    while rounds < options.rounds:
        mean = refine_nodes(
            rows,
            known.offsets,
            known.neighbours,
            known.delays,
            positions,
            heights,
            options.height,
            EXACT_SHARE * typical,
            closeness,
            LEAST_HEIGHT_MS,
        )
        rounds += 1
        if mean >= REFINED * before or mean <= PERFECT * typical:
            break
        before = mean
    return replace(found, positions=positions, heights=heights, polish_rounds=rounds)
