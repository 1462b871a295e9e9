"""The latency space: where nodes are if distances are delays, and which of them are near a point."""

from berth.space.coordinates import Coordinates, ErrorFigures
from berth.space.network_space import Space, space_of
from berth.space.samples import Samples, samples_from_matrix, samples_from_pairs
from berth.space.vivaldi import VivaldiOptions, embed

__all__ = [
    "Coordinates",
    "ErrorFigures",
    "Samples",
    "Space",
    "VivaldiOptions",
    "embed",
    "samples_from_matrix",
    "samples_from_pairs",
    "space_of",
]
