"""Network coordinates by Vivaldi (card 1.1): points whose distances are the measured delays, nearly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from berth.space.coordinates import Coordinates, FloatArray, IndexArray
from berth.space.errors import error_figures
from berth.space.samples import Samples
from berth.space.vivaldi_kernel import LARGEST_ERROR, LEAST_HEIGHT_MS, update_nodes


@dataclass(frozen=True)
class VivaldiOptions:
    """What users may set."""

    dimensions: int = field(default=3, metadata={"help": "dimensions of the space"})
    height: bool = field(default=False, metadata={"help": "whether every node has a height, too"})
    neighbours: int | None = field(default=None, metadata={"help": "neighbours of each node"})
    c_c: float = field(default=0.25, metadata={"help": "share of a sample's error that a node moves by"})
    c_e: float = field(default=0.25, metadata={"help": "share of a sample that enters a node's own error"})
    rounds: int = field(default=200, metadata={"help": "most passes over the samples"})

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= 16:
            raise ValueError(f"dimensions: {self.dimensions} is not in 1 to 16")


def embed(samples: Samples, options: VivaldiOptions | None = None, seed: int = 0) -> Coordinates:
    """Points for the nodes of some samples."""
    options = options or VivaldiOptions()
    generator = np.random.default_rng(seed)
    offsets, neighbours, delays = _neighbourhoods(samples)
    rows = np.arange(samples.nodes)
    positions = np.zeros((samples.nodes, options.dimensions))
    heights = np.full(samples.nodes, LEAST_HEIGHT_MS if options.height else 0.0)
    errors = np.full(samples.nodes, LARGEST_ERROR)
    resets = rounds = 0
    means: list[float] = []
    while rounds < options.rounds:
        mean, reset = update_nodes(
            generator.permutation(samples.nodes), rows, offsets, neighbours, delays, positions, heights, errors,
            options.height, options.c_c, options.c_e, generator,
        )  # fmt: skip
        resets += reset
        rounds += 1
        means.append(mean)
        if rounds > 20 and np.mean(means[-10:]) > 0.99 * np.mean(means[-20:-10]):
            break
    figures = error_figures(positions, heights, samples, seed)
    return Coordinates(positions, heights, figures, resets, rounds)


def _neighbourhoods(samples: Samples) -> tuple[IndexArray, IndexArray, FloatArray]:
    here = np.concatenate([samples.first, samples.second])
    there = np.concatenate([samples.second, samples.first])
    order = np.lexsort((there, here))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=samples.nodes))])
    return offsets, there[order], np.tile(samples.delay_ms, 2)[order]
