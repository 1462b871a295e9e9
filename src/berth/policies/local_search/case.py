"""A problem for compiled code: blocks, what they need and exchange, and what nodes are to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
Marks = NDArray[np.uint8]


class Aims(NamedTuple):
    """Weights, and what they make necessary."""

    time: float
    loaded: float
    busiest: float
    """Weights of response time, loaded response time and the highest share of a link."""
    log_availability: float
    availability: float
    """Weights of the logarithm and of the product itself."""
    rate_unit: float
    """Bytes per second that count as one too many."""
    uses_flow: int
    uses_time: int
    uses_availability: int
    uses_links: int
    uses_ports: int
    uses_cards: int
    pays_nodes: int
    heavy: int
    """Whether a move is evaluated by making it: some parts have no cheaper way."""


class Case(NamedTuple):
    """All of it; most arrays are fields within `ints` and `reals`, see `fields.py`."""

    ints: IndexArray
    reals: FloatArray
    flow: FloatArray
    """By sender * nodes + receiver: what a byte per second adds to the cost. Empty: not needed."""
    delay: FloatArray
    """Likewise, in ms; NaN: no link."""
    log_availability: FloatArray
    linked: Marks
    bandwidth: FloatArray
    """Of physical links: likewise or, without matrices, by their place among the links."""
    link_bandwidth: FloatArray
    """Of logical links."""
    aims: Aims
    nodes: int
    block_count: int
    """How many blocks there are, how many of them have a choice, and how many instances."""
    free: int
    instances: int
    resources: int
    near_count: int
    dimensions: int
    """Of the coordinates; 0: there are none."""
    dense: int
    """Whether there are matrices; else coordinates and a few links."""
    routed: int
    half_duplex: int
    checks_links: int
    """Whether some nodes can't exchange streams."""
