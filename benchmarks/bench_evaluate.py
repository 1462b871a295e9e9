"""Evaluating a plan of 1,000 operators on 1,000 nodes, against a plain Python loop.

The loop has it easier: no instances, sharing, objects, containers or rules, half of the metrics, and of
the constraints only capacities, network cards and processors. What cores, sizes of tuples and a limit of
utilisation cost the judge is told as a ratio, too, for plans of 10, 200 and 2,000 operators.
"""

import math
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from berth.evaluation import evaluate
from berth.model import Application, Network, Node, Operator, Plan, Problem, Stream

SIZE = 1000
ROUNDS = 5


def large_problem(size: int = SIZE) -> Problem:
    chance = random.Random(0)
    nodes = tuple(
        Node(f"node-{k}", capacity={"cpu": 8}, speed=1 + k % 3 / 2, availability=0.999) for k in range(size)
    )
    delays = np.random.default_rng(0).uniform(1, 100, (size, size))
    operators = tuple(
        Operator(f"step-{k}", demand={"cpu": 1}, work_ms=1.5, emits_bytes_per_s=None if k else 1000)
        for k in range(size)
    )
    streams = tuple(Stream(f"step-{chance.randrange(k)}", f"step-{k}") for k in range(1, size))
    application = Application("app", operators, streams, throughput_per_s=1)
    return Problem("large", Network(nodes, matrices={"delay_ms": delays}), (application,))


def with_processors(problem: Problem) -> Problem:
    """The same without a throughput, so that loads follow from tuples."""
    (application,) = problem.applications
    streams = tuple(replace(stream, tuple_bytes=100.0) for stream in application.streams)
    nodes = tuple(replace(node, cores=4.0) for node in problem.network.nodes)
    return replace(
        problem,
        network=replace(problem.network, nodes=nodes, max_utilisation=0.9),
        applications=(replace(application, streams=streams, throughput_per_s=None),),
    )


def random_plan(problem: Problem) -> Plan:
    chance = random.Random(1)
    return Plan({name: chance.choice(problem.network.nodes).name for name in problem.instances.names})


def processors_cost(size: int) -> tuple[float, float]:
    """The time of an evaluation, and how many times that it is with processors."""
    problems = large_problem(size), with_processors(large_problem(size))
    plan = random_plan(problems[0])
    best = [math.inf, math.inf]
    for _ in range(20 * ROUNDS):
        for position, problem in enumerate(problems):
            best[position] = min(best[position], seconds(partial(evaluate, problem, plan)))
    return best[0], best[1] / best[0]


def plain_loop(problem: Problem, plan: Plan, delays: list[list[float]]) -> dict[str, float]:
    application, nodes = problem.applications[0], problem.network.nodes
    place = {o.name: problem.network.index[plan.assignment[f"app/{o.name}"]] for o in application.operators}
    work = {o.name: o.work_ms / nodes[place[o.name]].speed for o in application.operators}
    finish, output = dict(work), {application.operators[0].name: 1000.0}
    traffic = usage = energy = 0.0
    loads: dict[tuple[int, int], float] = {}
    cards = [0.0] * len(nodes)
    for stream in application.streams:
        here, there, rate = place[stream.sender], place[stream.receiver], output[stream.sender]
        output[stream.receiver] = rate
        delay = 0.0 if here == there else delays[here][there]
        finish[stream.receiver] = finish[stream.sender] + delay + work[stream.receiver]
        if here != there:
            traffic += rate
            usage += rate * delay / 1000
            energy += rate * (delay / 1000) ** 2
            loads[here, there] = loads.get((here, there), 0.0) + rate
            cards[here] += rate
            cards[there] += rate
    needed, busy = [0.0] * len(nodes), [0.0] * len(nodes)
    for operator in application.operators:
        needed[place[operator.name]] += operator.demand["cpu"]
        busy[place[operator.name]] += work[operator.name] / 1000
    used = set(place.values())
    broken = sum(
        amount > node.capacity["cpu"] or card > node.nic_bytes_per_s or share > 1
        for node, amount, card, share in zip(nodes, needed, cards, busy, strict=True)
    )
    return {
        "response_time_ms": max(finish.values()),
        "availability": math.prod(nodes[node].availability for node in place.values()),
        "traffic_bytes_per_s": traffic,
        "network_usage_bytes": usage,
        "elastic_energy": energy,
        "nodes_used": len(used),
        "enrolled_speed": sum(nodes[node].speed for node in used),
        "processing_power": sum(busy),
        "bandwidth_sum_bytes_per_s": sum(loads.values()),
        "broken": broken,
    }


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def main() -> None:
    problem = large_problem()
    plan = random_plan(problem)
    first = seconds(lambda: evaluate(problem, plan))
    ours = min(seconds(lambda: evaluate(problem, plan)) for _ in range(ROUNDS))
    delays = problem.network.matrices["delay_ms"].tolist()
    loop = min(seconds(lambda: plain_loop(problem, plan, delays)) for _ in range(ROUNDS))
    found, expected = evaluate(problem, plan).metrics, plain_loop(problem, plan, delays)
    assert all(math.isclose(found[key], expected[key]) for key in found.keys() & expected.keys())
    print(f"evaluate: a plan of {SIZE} operators on {SIZE} nodes")
    print(f"first call {1000 * first:.1f} ms (it lays out the network), then {1000 * ours:.2f} ms")
    print(f"plain Python loop for half of it {1000 * loop:.2f} ms: ratio {ours / loop:.2f}")
    for size in (10, 200, 2000):
        took, ratio = processors_cost(size)
        print(f"{size} operators {1000 * took:.2f} ms; with cores and max_utilisation: ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
