"""The operator graphs and hosts of paper 002, for tests and benchmarks: matrices that are multiplied."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from berth.model import Application, Network, Node, Operator, Stream

PLACES = 3.0
"""A host with more operators is overloaded; the paper doesn't say when."""
SIZES = (50, 100, 200, 500)
WORK_MS = 2e-5
"""Of n x n matrices: n^3 times this, 2.5 s for the largest. Tuned to the messages of figure 4."""
CARD_BYTES_PER_S = 1.25e7


def hosts_of(delays: NDArray[np.float64], count: int, seed: int) -> Network:
    """So many of a matrix's hosts, drawn at random."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(delays), count, replace=False))
    nodes = tuple(
        Node(f"h{k}", nic_bytes_per_s=CARD_BYTES_PER_S, capacity={"places": PLACES}) for k in chosen.tolist()
    )
    return Network(nodes, matrices={"delay_ms": delays[np.ix_(chosen, chosen)]})


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
    size = int(generator.choice(SIZES))
    tuple_bytes = 8.0 * size**2
    rate = tuple_bytes / generator.uniform(20.0, 120.0)
    ends = [network.nodes[k].name for k in generator.integers(0, len(network.nodes), 2)]
    work = WORK_MS * size**3
    operators = (
        Operator("source", candidates=(ends[0],), output_bytes=tuple_bytes),
        Operator("first", work_ms=work, output_bytes=tuple_bytes, demand={"places": 1.0}),
        Operator("second", work_ms=work, output_bytes=tuple_bytes, demand={"places": 1.0}),
        Operator("sink", candidates=(ends[1],)),
    )
    streams = tuple(Stream(here.name, there.name, bytes_per_s=rate) for here, there in pairwise(operators))
    return Application(f"g{number}", operators, streams)


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
