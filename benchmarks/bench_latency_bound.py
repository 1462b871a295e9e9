"""`latency-bound` on real PlanetLab delays: how near to the least latency, and how fast.

Single graphs, on 200 hosts of several speeds that are busy with something else, against the least latency
that there is (both operators tried on all pairs of hosts); then milliseconds for a graph of twelve operators.
The paper's own experiments are `berth reproduce X2.1 X2.2 X2.3`.
"""

from __future__ import annotations

import time
from typing import get_args

import numpy as np

import berth
from berth.model import Application, Network, Operator, Problem, Stream
from berth.policies.latency_bound.candidates import Strategy
from tests.policies.latency_bound.matrix_graphs import busy, hosts_of, least_latency, matrix_graph
from tests.policies.latency_space.operator_graphs import planetlab

HOSTS = 200
STRATEGIES = get_args(Strategy)


def against_the_least(network: Network, graphs: int = 60) -> None:
    """How far each way is from the least latency, and how often it keeps a bound 10 % above it."""
    generator = np.random.default_rng(5)
    applications = [matrix_graph(number, network, generator) for number in range(graphs)]
    least = np.array([least_latency(network, application) for application in applications])
    print(f"\n{graphs} single graphs on busy hosts: L / least L with bound 0 (mean, worst), then with bound")
    print("1.1 x least L how many keep it, their messages and U in KB; as in the paper, and by default")
    for strategy in STRATEGIES:
        for name, form in (("paper", {"neighbours": False, "restarts": 0}), ("default", {})):
            problems = [Problem("x2", network, (application,)) for application in applications]
            ended = [
                berth.solve(problem, "latency-bound", bound_ms=0, candidates=strategy, **form)
                for problem in problems
            ]
            ratio = np.array([plan.metrics["loaded_response_time_ms"] for plan in ended]) / least
            assert ratio.min() > 1.0 - 1e-9
            bounded = [
                berth.solve(problem, "latency-bound", bound_ms=1.1 * bound, candidates=strategy, **form)
                for problem, bound in zip(problems, least.tolist(), strict=True)
            ]
            kept = sum(plan.status == "feasible" for plan in bounded)
            messages = np.mean([plan.trace["candidate_messages"] for plan in bounded])
            usage = np.mean([plan.metrics["network_usage_bytes"] for plan in bounded]) / 1000.0
            figures = f"{ratio.mean():.3f} {ratio.max():.2f}   {kept}/{graphs} {messages:5.0f} {usage:.3f}"
            print(f"{strategy:>6} {name:>7}: {figures}")


def tree(network: Network, generator: np.random.Generator) -> Application:
    """Twelve operators: six sources, five that join two streams each, and a sink."""
    joins = {
        "o0": ("o1", "o2"),
        "o1": ("o3", "o4"),
        "o2": ("s0", "s1"),
        "o3": ("s2", "s3"),
        "o4": ("s4", "s5"),
    }
    ends = [f"s{k}" for k in range(6)] + ["sink"]
    operators = [Operator(name, work_ms=float(generator.uniform(5, 50)), output_bytes=2e4) for name in joins]
    operators += [
        Operator(
            name, candidates=(network.nodes[generator.integers(len(network.nodes))].name,), output_bytes=2e4
        )
        for name in ends
    ]
    pairs = [(sender, receiver) for receiver, senders in joins.items() for sender in senders]
    streams = tuple(
        Stream(here, there, bytes_per_s=float(generator.uniform(12_500, 25_000)))
        for here, there in [*pairs, ("o0", "sink")]
    )
    return Application("tree", tuple(operators), streams)


def speed(network: Network, graphs: int = 50) -> None:
    """Milliseconds for a graph of twelve operators, MOPA's mapping and the judge included."""
    generator = np.random.default_rng(0)
    problems = [Problem("tree", network, (tree(network, generator),)) for _ in range(graphs)]
    print(f"\n12 operators on {len(network.nodes)} nodes, bound 0")
    for strategy in STRATEGIES:
        berth.solve(problems[0], "latency-bound", bound_ms=0, candidates=strategy)
        began = time.perf_counter()
        for problem in problems:
            berth.solve(problem, "latency-bound", bound_ms=0, candidates=strategy)
        print(f"{strategy:>6}: {(time.perf_counter() - began) / graphs * 1000:.1f} ms")


def main() -> None:
    delays = planetlab(1)
    if delays is None:
        print("skipped: BERTH_DATA has no planetlab_490")
        return
    against_the_least(busy(hosts_of(delays, HOSTS, 1), 5))
    speed(hosts_of(delays, len(delays), 0))


if __name__ == "__main__":
    main()
