"""Vivaldi as it goes on while the application runs: one noisy sample after the other, no rest ever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.core import space as core
from berth.experiments.experiment import Calibration
from berth.model import Network
from berth.space.vivaldi import VivaldiOptions

FloatArray = NDArray[np.float64]

DIMENSIONS = 2
SAMPLE_EVERY_S = 10.0
LEAST_JITTER_MS, MOST_JITTER_MS = 1.0, 3.0
SCATTER_MS = 1.0
"""How far nodes lie from the origin at the start: at one point they had no directions."""

CALIBRATIONS = (
    Calibration(
        "dimensions of the latency space", f"{DIMENSIONS} (with 3: 11 reassignments)", "16 reassignments"
    ),
    Calibration(
        "samples of Vivaldi",
        f"every {SAMPLE_EVERY_S:.0f} s each node measures one other, drawn; c_c and c_e 0.25",
        "nothing",
    ),
)


class LiveCoordinates:
    """The latency space of a running network: it follows samples that scatter around the true delays."""

    def __init__(self, network: Network, random: np.random.Generator) -> None:
        """At time 0 nothing is known.

        Args:
            network: the delays between all nodes are the means of what is sampled.
            random: for the pairs' standard deviations, U[1, 3] ms, for who measures whom, and for samples.
        """
        count = len(network.nodes)
        self._random, self._network = random, network
        self._mean = np.asarray(network.table.delay_ms)
        drawn = np.triu(random.uniform(LEAST_JITTER_MS, MOST_JITTER_MS, (count, count)), 1)
        self._deviation = drawn + drawn.T
        self._positions = random.normal(0.0, SCATTER_MS, (count, DIMENSIONS))
        self._errors, self._heights = np.full(count, core.LARGEST_ERROR), np.zeros(count)
        self._time = 0.0

    def at(self, time_s: float) -> Network:
        """The network with the coordinates of a time, which must not be before the one asked for last."""
        while self._time + SAMPLE_EVERY_S <= time_s:
            self._time += SAMPLE_EVERY_S
            self._sample()
        places = self._positions.tolist()
        nodes = tuple(
            replace(node, coordinates=tuple(place))
            for node, place in zip(self._network.nodes, places, strict=True)
        )
        return replace(self._network, nodes=nodes)

    def _sample(self) -> None:
        """Every node measures one other and moves."""
        count, options = len(self._mean), VivaldiOptions()
        rows = np.arange(count)
        others = (rows + self._random.integers(1, count, count)) % count
        noise = self._deviation[rows, others] * self._random.standard_normal(count)
        delays = np.maximum(self._mean[rows, others] + noise, 0.0)
        core.Neighbourhoods(rows, np.arange(count + 1), others, delays).spring(
            self._random.permutation(count),
            self._positions,
            self._heights,
            self._errors,
            with_height=options.height,
            c_c=options.c_c,
            c_e=options.c_e,
            generator=self._random,
        )
