"""Coordinates for a network from its delays and from what was measured besides."""

from __future__ import annotations

from dataclasses import dataclass

from berth.model import Network
from berth.space.coordinates import Coordinates
from berth.space.estimates import Estimates, estimated_pairs
from berth.space.network_samples import network_samples
from berth.space.options import VivaldiOptions
from berth.space.samples import FloatArray, IndexArray, joined, samples_from_pairs
from berth.space.vivaldi import embed


@dataclass(frozen=True, eq=False)
class Located:
    """A network's new coordinates."""

    coordinates: Coordinates
    estimates: Estimates
    rejected: int
    """Delays that make no sense."""


def locate(
    network: Network,
    measured: tuple[IndexArray, IndexArray, FloatArray] | None,
    options: VivaldiOptions,
    seed: int,
    most_listed: int,
) -> Located:
    """Compute coordinates, and say which pairs have an estimated delay with them.

    Args:
        network: its delays are samples.
        measured: further samples: senders, receivers and one-way delays in ms.
        options: of the computation.
        seed: the same seed gives the same coordinates.
        most_listed: how many estimated pairs are listed.
    """
    samples = network_samples(network, seed)
    if measured is not None:
        samples = joined([samples, samples_from_pairs(len(network.nodes), *measured)])
    coordinates = embed(samples, options, seed)
    estimates = estimated_pairs(network, coordinates, most_listed)
    return Located(coordinates, estimates, samples.rejected)
