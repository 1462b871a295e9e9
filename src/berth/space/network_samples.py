"""The delays that a network knows, as samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from berth.model import Network
from berth.model.randomness import generator_for
from berth.space.samples import IndexArray, Samples, samples_from_matrix, samples_from_pairs

DISTANCES = 32
"""In a network too large for matrices: so many distances of each node that has coordinates already."""


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
    ends = [_linked(network), _distances(network, seed)]
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


def _linked(network: Network) -> tuple[IndexArray, IndexArray]:
    senders = [network.index[link.sender] for link in network.links]
    receivers = [network.index[link.receiver] for link in network.links]
    return np.array(senders, dtype=np.intp), np.array(receivers, dtype=np.intp)


def _distances(network: Network, seed: int) -> tuple[IndexArray, IndexArray]:
    """Random pairs of nodes that both have coordinates."""
    placed = np.flatnonzero([node.coordinates is not None for node in network.nodes])
    senders = np.repeat(placed, min(DISTANCES, max(len(placed) - 1, 0)))
    receivers = generator_for(seed).choice(placed, len(senders)) if len(senders) else senders
    return senders, np.asarray(receivers, dtype=np.intp)
