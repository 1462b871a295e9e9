"""Paper 002's experiment (X2.1 to X2.3, its figures 2 to 4) on real PlanetLab delays, and the policy's speed.

200 hosts of equal speed, 120 graphs with two free operators each, added one after the other, bound 0: every
graph looks for its least latency. Prints, for each way to choose candidates, the mean latency of all graphs
deployed so far, the data in flight for a graph and the messages for a candidate set; first with present
loads, then with load reports that are the older the more hosts are asked. All figures are the judge's.
"""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import berth
from berth.evaluation import Setting
from berth.model import Application, Network, Node, Operator, Problem, Stream
from berth.policies.bounded.bounds import judged_latencies
from berth.policies.bounded.candidates import STRATEGIES

HOSTS = 200
GRAPHS = 120
SIZES = (50, 100, 200, 500)
WORK_MS = 2e-5
"""Of n x n matrices: n^3 times this, 2.5 s for the largest."""
CARD_BYTES_PER_S = 1.25e7
STALE = 0.1
SEEDS = range(3)


def planetlab() -> NDArray[np.float64] | None:
    """One-way delays in ms between PlanetLab's hosts; None where the data are not there."""
    folder = os.environ.get("BERTH_DATA")
    if folder is None:
        return None
    with gzip.open(Path(folder) / "planetlab_490" / "PlanetLabData_01.tsv.gz", "rt") as file:
        return np.loadtxt(file) / 2.0


def network_of(delays: NDArray[np.float64], hosts: int, seed: int) -> Network:
    """So many of the hosts, drawn at random."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(delays), hosts, replace=False))
    nodes = tuple(Node(f"h{k}", nic_bytes_per_s=CARD_BYTES_PER_S) for k in chosen.tolist())
    return Network(nodes, matrices={"delay_ms": delays[np.ix_(chosen, chosen)]})


def graph(number: int, network: Network, generator: np.random.Generator) -> Application:
    """Source, two multiplications, sink; a tuple every 20 to 120 s."""
    size = int(generator.choice(SIZES))
    tuple_bytes = 8.0 * size**2
    rate = tuple_bytes / generator.uniform(20.0, 120.0)
    ends = [network.nodes[k].name for k in generator.integers(0, len(network.nodes), 2)]
    work = WORK_MS * size**3
    operators = (
        Operator("source", candidates=(ends[0],), output_bytes=tuple_bytes),
        Operator("first", work_ms=work, output_bytes=tuple_bytes),
        Operator("second", work_ms=work, output_bytes=tuple_bytes),
        Operator("sink", candidates=(ends[1],)),
    )
    names = [operator.name for operator in operators]
    streams = tuple(
        Stream(here, there, bytes_per_s=rate) for here, there in zip(names[:-1], names[1:], strict=True)
    )
    return Application(f"g{number}", operators, streams)


def experiment(network: Network, seed: int, stale: float, **more: object) -> None:
    generator = np.random.default_rng(seed)
    applications = tuple(graph(number, network, generator) for number in range(GRAPHS))
    print(
        f"\nseed {seed}, stale {stale}: mean L in ms of 20, 60 and 120 graphs; at the end U in KB, messages"
    )
    for strategy in STRATEGIES:
        figures = []
        for count in (20, 60, GRAPHS):
            problem = Problem("x2", network, applications[:count])
            plan = berth.solve(
                problem,
                "latency-bound",
                bound_ms=0,
                candidates=strategy,
                stale=stale,
                seed=seed,
                **more,
            )
            nodes = np.array([network.index[node] for node in plan.assignment.values()])
            latencies = judged_latencies(Setting(problem), nodes)
            assert latencies is not None
            figures.append(float(np.mean(latencies)))
        usage = plan.metrics["network_usage_bytes"] / 1000.0 / GRAPHS
        messages = plan.trace["messages_per_candidate_set"]
        print(
            f"  {strategy:>6}: "
            + " ".join(f"{value:9.1f}" for value in figures)
            + f"   U {usage:7.3f}   messages {messages:6.1f}   {plan.seconds:.2f} s"
        )


def main() -> None:
    delays = planetlab()
    if delays is None:
        print("skipped: BERTH_DATA names no folder of measurements")
        return
    for stale in (0.0, STALE):
        for seed in SEEDS:
            experiment(network_of(delays, HOSTS, seed), seed, stale)


if __name__ == "__main__":
    main()
