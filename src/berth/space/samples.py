"""Measured delays between pairs of nodes: what a latency space is made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from berth.model import Network
from berth.model.arrays import FloatArray, IndexArray
from berth.model.randomness import generator_for

DISTANCES = 32
"""In a network too large for matrices: so many distances of each node that has coordinates already."""


@dataclass(frozen=True, eq=False)
class Samples:
    """One delay for each measured pair of different nodes, `first` below `second`, in the order of pairs."""

    nodes: int
    first: IndexArray
    second: IndexArray
    delay_ms: FloatArray
    rejected: int = 0
    """Samples that make no sense: NaN, infinite or negative delays, weights that are not above 0."""

    @cached_property
    def components(self) -> IndexArray:
        """The island of every node, numbered by size (ties: by the smallest node): 0 is the largest.

        No measured pair joins two islands, so that nothing is known of how they lie to each other.
        """
        from scipy.sparse import csr_array  # takes long to load
        from scipy.sparse.csgraph import connected_components

        pairs = csr_array(
            (np.ones(len(self.first)), (self.first, self.second)), shape=(self.nodes, self.nodes)
        )
        _, labels = connected_components(pairs, directed=False)
        _, smallest, sizes = np.unique(labels, return_index=True, return_counts=True)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.lexsort((smallest, -sizes))] = np.arange(len(sizes))
        return np.asarray(rank[labels])


def samples_from_pairs(
    nodes: int,
    senders: ArrayLike,
    receivers: ArrayLike,
    delay_ms: ArrayLike,
    weights: ArrayLike | None = None,
) -> Samples:
    """Samples from any list of measurements: links, probes or parts of a matrix.

    All samples of a pair, of either direction, become one: their weighted mean. Samples of a node to itself
    say nothing and are left out; what makes no sense is left out and counted. A delay of 0 is legal: both
    nodes are at one place.

    Args:
        nodes: how many nodes there are.
        senders: node numbers.
        receivers: node numbers, aligned with `senders`.
        delay_ms: one-way delays.
        weights: how much each sample counts among those of its pair, for example how many were averaged.
    """
    here, there = np.asarray(senders, dtype=np.intp), np.asarray(receivers, dtype=np.intp)
    delay = np.asarray(delay_ms, dtype=np.float64)
    weight = np.ones(len(delay)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(here) and (min(here.min(), there.min()) < 0 or max(here.max(), there.max()) >= nodes):
        raise ValueError(f"samples: a node's number is not in 0 to {nodes - 1}")
    sensible = np.isfinite(delay) & (delay >= 0) & np.isfinite(weight) & (weight > 0)
    rejected = int((~sensible).sum())
    kept = sensible & (here != there)
    here, there, delay, weight = here[kept], there[kept], delay[kept], weight[kept]
    keys = np.minimum(here, there) * nodes + np.maximum(here, there)
    pairs, group = np.unique(keys, return_inverse=True)
    total = np.bincount(group, weight, len(pairs))
    mean = np.bincount(group, weight * delay, len(pairs)) / total
    return Samples(nodes, pairs // nodes, pairs % nodes, mean, rejected)


def samples_from_matrix(delay_ms: FloatArray) -> Samples:
    """Samples from a full matrix of one-way delays; NaN where nothing is known, which is no mistake.

    Entries of both directions are averaged; the diagonal says nothing.
    """
    first, second = np.triu_indices(len(delay_ms), 1)
    total, count = np.zeros(len(first)), np.zeros(len(first), dtype=np.int8)
    rejected = 0
    for values in (delay_ms[first, second], delay_ms[second, first]):
        good = np.isfinite(values) & (values >= 0)
        rejected += int((~good & ~np.isnan(values)).sum())
        total[good] += values[good]
        count += good
    known = count > 0
    return Samples(len(delay_ms), first[known], second[known], total[known] / count[known], rejected)


def joined(parts: Iterable[Samples]) -> Samples:
    """Several sets of samples over the same nodes as one."""
    listed = list(parts)
    columns = [
        np.concatenate([getattr(part, name) for part in listed]) for name in ("first", "second", "delay_ms")
    ]
    pooled = samples_from_pairs(listed[0].nodes, *columns)
    rejected = sum(part.rejected for part in listed)
    return Samples(pooled.nodes, pooled.first, pooled.second, pooled.delay_ms, rejected)


def network_samples(network: Network, seed: int = 0) -> Samples:
    """One sample for each pair of nodes between which the network has a delay.

    With routes it is the delay of the path. Where only some nodes have coordinates, the distances between
    these are delays as others are. A network too large for matrices gives the delays of its links, and a few
    distances of every node that has coordinates.

    Args:
        network: with links, matrices or coordinates.
        seed: which distances of a large network are taken.
    """
    delay = network.table.delay_ms
    if isinstance(delay, np.ndarray):
        return samples_from_matrix(delay)
    ends = [linked_pairs(network), _distances(network, seed)]
    senders, receivers = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    senders, receivers = np.concatenate([senders, receivers]), np.concatenate([receivers, senders])
    values = np.asarray(delay[senders, receivers])
    known = ~np.isnan(values)
    return samples_from_pairs(len(network.nodes), senders[known], receivers[known], values[known])


def without_coordinates(network: Network) -> Network:
    """The network with nothing but measured delays: a distance between coordinates is an estimate."""
    if all(node.coordinates is None for node in network.nodes):
        return network
    nodes = tuple(replace(node, coordinates=None, height_ms=0.0) for node in network.nodes)
    return replace(network, nodes=nodes)


def linked_pairs(network: Network) -> tuple[IndexArray, IndexArray]:
    """The senders and receivers of a network's links."""
    senders = [network.index[link.sender] for link in network.links]
    receivers = [network.index[link.receiver] for link in network.links]
    return np.array(senders, dtype=np.intp), np.array(receivers, dtype=np.intp)


def _distances(network: Network, seed: int) -> tuple[IndexArray, IndexArray]:
    """Random pairs of nodes that both have coordinates."""
    placed = np.flatnonzero([node.coordinates is not None for node in network.nodes])
    senders = np.repeat(placed, min(DISTANCES, max(len(placed) - 1, 0)))
    receivers = generator_for(seed).choice(placed, len(senders)) if len(senders) else senders
    return senders, np.asarray(receivers, dtype=np.intp)
