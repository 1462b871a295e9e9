"""Large problems against others: `search` after 10 s beside CP-SAT and the graph partitioner Mt-KaHyPar.

Traffic between nodes that are all alike: then placement is graph partitioning, Mt-KaHyPar's own problem (the
package `mtkahypar`; a line says so where it is not installed), and CP-SAT has a model that is small enough: a
literal for each stream that leaves its node. Where delays differ, 1,000 operators on 200 nodes are 80 million
combinations, too many for any such model: the exact engine's answer there is its greedy plan.

    python -m benchmarks.bench_rivals [alike|delays]... [--seconds 10] [--cpsat-seconds 60]
"""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any

import numpy as np
from benchmarks.bench_search import document_of
from ortools.sat.python import cp_model

import berth
from berth.files import problem_from
from berth.model import Problem
from berth.model.randomness import generator_for

SIZES = ((200, 40), (1_000, 200))
THREADS = 2
QUALITY = ("DEFAULT", "QUALITY", "HIGHEST_QUALITY")


def alike_problem(operators: int, nodes: int) -> Problem:
    """Operators that talk to two earlier ones each, on equal nodes with twice the room that they need."""
    rng = generator_for(0)
    window = 2 * int(operators**0.5)
    streams = [
        {"from": f"o{j}", "to": f"o{k}", "bytes_per_s": float(rng.integers(1, 1000))}
        for k in range(2, operators)
        for j in rng.choice(np.arange(max(0, k - window), k), 2, replace=False).tolist()
    ]
    items = [{"name": f"o{k}", "demand": {"cpu": 1}} for k in range(operators)]
    room = 2.0 * operators / nodes
    machines = [
        {"name": f"n{u}", "capacity": {"cpu": room}, "coordinates": [0.0], "height_ms": 1.0}
        for u in range(nodes)
    ]
    application = {"name": "a", "operators": items, "streams": streams}
    return problem_from(
        {
            "format": "berth/v1",
            "name": f"alike-{operators}-{nodes}",
            "network": {"nodes": machines},
            "applications": [application],
            "objective": {"traffic": 1.0},
        }
    )


def room_of(problem: Problem) -> int:
    """How many operators fit on a node."""
    return int(problem.network.capacity("cpu")[0])


def by_cpsat(problem: Problem, seconds: float) -> tuple[float | None, float]:
    """The least traffic that CP-SAT finds, and its bound."""
    graph, nodes, model = problem.instances, len(problem.network.nodes), cp_model.CpModel()
    at = [[model.new_bool_var("") for _ in range(nodes)] for _ in range(len(graph))]
    for row in at:
        model.add_exactly_one(row)
    for u in range(nodes):
        model.add(sum(row[u] for row in at) <= room_of(problem))
    cut = [model.new_bool_var("") for _ in graph.pair_sender]
    ends = zip(cut, graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True)
    for leaves, sender, receiver in ends:
        for u in range(nodes):
            model.add_bool_or(leaves, at[sender][u].negated(), at[receiver][u])
    model.minimize(cp_model.LinearExpr.weighted_sum(cut, np.round(graph.pair_rate).astype(int).tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = THREADS
    status = solver.solve(model)
    found = solver.status_name(status) in ("OPTIMAL", "FEASIBLE")
    return (solver.objective_value if found else None), solver.best_objective_bound


def by_kahypar(package: Any, problem: Problem, preset: str) -> float:
    """The traffic over the edges that a partition cuts; every block fits its node."""
    graph, nodes = problem.instances, len(problem.network.nodes)
    partitioner = package.initialize(THREADS)
    package.set_seed(0)
    context = partitioner.context_from_preset(getattr(package.PresetType, preset))
    # Balance in its terms: by how much the fullest block may be above the mean.
    spare = room_of(problem) * nodes / len(graph) - 1.0
    context.set_partitioning_parameters(nodes, spare, package.Objective.CUT)
    context.logging = False
    edges = list(zip(graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True))
    weights = np.round(graph.pair_rate).astype(int).tolist()
    made = partitioner.create_graph(context, len(graph), len(edges), edges, [1] * len(graph), weights)
    parts = made.partition(context)
    blocks = np.array([parts.block_id(k) for k in range(len(graph))])
    assert np.bincount(blocks, minlength=nodes).max() <= room_of(problem)
    return float(graph.pair_rate[blocks[graph.pair_sender] != blocks[graph.pair_receiver]].sum())


def alike(seconds: float, cpsat_seconds: float) -> None:
    """Traffic between equal nodes: search, CP-SAT and partitions."""
    try:
        package = importlib.import_module("mtkahypar")
    except ImportError:
        package = None
        print("Mt-KaHyPar: skipped, the package mtkahypar is not installed")
    berth.solve(alike_problem(20, 5), "search", time_limit=1)
    for operators, nodes in SIZES:
        problem = alike_problem(operators, nodes)
        plan = berth.solve(problem, "search", time_limit=seconds)
        ours = plan.objective or float("nan")
        print(f"traffic, {operators} operators on {nodes} equal nodes (bytes/s; ratio to search)")
        print(f"  search, {seconds:g} s{'':26}{ours:12.0f}", flush=True)
        value, bound = by_cpsat(problem, cpsat_seconds)
        told = "no plan" if value is None else f"{value:12.0f}  {value / ours:6.3f}"
        print(
            f"  CP-SAT, {THREADS} threads, {cpsat_seconds:g} s{'':15}{told}  (bound {bound:.0f})", flush=True
        )
        for preset in QUALITY if package else ():
            began = time.perf_counter()
            cut = by_kahypar(package, problem, preset)
            name = f"  Mt-KaHyPar {preset}, {time.perf_counter() - began:.1f} s"
            print(f"{name:39}{cut:12.0f}  {cut / ours:6.3f}", flush=True)


def delays(seconds: float, cpsat_seconds: float) -> None:
    """Network usage and response time where delays differ: search and the exact engine."""
    for operators, nodes in SIZES:
        for objective in ("network_usage", "response_time"):
            problem = problem_from(document_of(1, operators, nodes, objective))
            quick = berth.solve(problem, "search", time_limit=seconds)
            exact = berth.solve(problem, "odp", time_limit=cpsat_seconds)
            ratio = exact.objective / quick.objective if quick.objective and exact.objective else float("nan")
            how = f"{exact.trace.get('method')}, {exact.status}"
            print(
                f"{objective}, {operators} on {nodes}: search {quick.objective:.6g} after {seconds:g} s, "
                f"odp {exact.objective} after {cpsat_seconds:g} s ({how}): ratio {ratio:.3f}",
                flush=True,
            )


def main() -> None:
    """All, or what is named."""
    parts = {"alike": alike, "delays": delays}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="alike|delays")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--cpsat-seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    if not set(chosen.parts) <= parts.keys():
        parser.error(f"{' '.join(chosen.parts)}: not {' or '.join(parts)}")
    for name in chosen.parts or parts:
        parts[name](chosen.seconds, chosen.cpsat_seconds)


if __name__ == "__main__":
    main()
