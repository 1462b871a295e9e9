"""The operator graphs and hosts of paper 002, for tests and benchmarks: matrices that are multiplied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.generators import Delays, matrices
from berth.generators.matrices import Matrices
from berth.model import Application, Network

PARAMETERS = Matrices()
CARD_BYTES_PER_S = PARAMETERS.card * 1e6


def hosts_of(delays: NDArray[np.float64], count: int, seed: int) -> Network:
    """So many of a matrix's hosts, drawn at random."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(delays), count, replace=False))
    between = Delays(delays[np.ix_(chosen, chosen)], [f"h{k}" for k in chosen.tolist()])
    return PARAMETERS.network(rng, between)


def busy(network: Network, seed: int) -> Network:
    """The hosts with several speeds and with up to three other processes each."""
    generator = np.random.default_rng(seed)
    nodes = tuple(
        replace(
            node,
            run_queue=float(generator.integers(0, 4)),
            speed=float(generator.choice([0.5, 1.0, 2.0])),
        )
        for node in network.nodes
    )
    return replace(network, nodes=nodes)


def matrix_graph(number: int, network: Network, generator: np.random.Generator) -> Application:
    """Source, two multiplications, sink; a tuple every 20 to 120 s."""
    return matrices.matrix_graph(f"g{number}", network, generator, PARAMETERS)


def least_latency(network: Network, application: Application) -> float:
    """Of a graph's two operators on all pairs of hosts, by card 1.6."""
    source, first, _, sink = application.operators
    assert source.candidates is not None
    assert sink.candidates is not None
    assert source.output_bytes is not None
    start, end = network.index[source.candidates[0]], network.index[sink.candidates[0]]
    numbers, delay = np.arange(len(network.nodes)), network.table.delay_ms
    wire = delay[numbers[:, None], numbers] + 1000.0 * source.output_bytes / CARD_BYTES_PER_S
    np.fill_diagonal(wire, 0.0)
    queue = network.run_queue + (numbers == start) + (numbers == end)
    alone, both = (first.work_ms / network.speed * np.maximum(1.0, queue + more) for more in (1, 2))
    work = alone[:, None] + alone
    np.fill_diagonal(work, 2.0 * both)
    return float((wire[start][:, None] + wire + wire[:, end] + work).min())
