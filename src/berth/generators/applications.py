"""What applications of several kinds have in common."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from berth.model import Network, Stream


def streams_along(ends: Iterable[tuple[str, str]]) -> tuple[Stream, ...]:
    """Streams whose rates follow from what is sent."""
    return tuple(Stream(sender, receiver) for sender, receiver in ends)


def in_a_row(names: Iterable[str]) -> tuple[Stream, ...]:
    """Every operator sends to the next one."""
    return streams_along(pairwise(names))


def any_host(network: Network, rng: np.random.Generator) -> str:
    """The name of a node that may run operators."""
    return network.nodes[int(rng.choice(network.hosting))].name


def some_hosts(network: Network, share: float, rng: np.random.Generator) -> tuple[str, ...] | None:
    """A random share of the nodes that may run operators, one at least; None: all of them."""
    if share >= 1.0:
        return None
    hosting = network.hosting
    count = max(1, int(np.ceil(share * len(hosting) - 1e-9)))
    return tuple(network.nodes[k].name for k in np.sort(rng.permutation(hosting)[:count]).tolist())
