"""Evaluating a plan of 1,000 operators on 1,000 nodes, against a plain Python loop.

The loop has it easier: no instances, sharing, objects, containers or rules, half of the metrics, and of
the constraints only capacities, network cards and processors.
"""

import math
import random
import time
from collections.abc import Callable

import numpy as np

from berth.evaluation import evaluate
from berth.model import Application, Network, Node, Operator, Plan, Problem, Stream

SIZE = 1000
ROUNDS = 5


def large_problem() -> Problem:
    chance = random.Random(0)
    nodes = tuple(
        Node(f"node-{k}", capacity={"cpu": 8}, speed=1 + k % 3 / 2, availability=0.999) for k in range(SIZE)
    )
    delays = np.random.default_rng(0).uniform(1, 100, (SIZE, SIZE))
    operators = tuple(
        Operator(f"step-{k}", demand={"cpu": 1}, work_ms=1.5, emits_bytes_per_s=None if k else 1000)
        for k in range(SIZE)
    )
    streams = tuple(Stream(f"step-{chance.randrange(k)}", f"step-{k}") for k in range(1, SIZE))
    application = Application("app", operators, streams, throughput_per_s=1)
    return Problem("large", Network(nodes, matrices={"delay_ms": delays}), (application,))


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
    chance = random.Random(1)
    problem = large_problem()
    plan = Plan({f"app/step-{k}": f"node-{chance.randrange(SIZE)}" for k in range(SIZE)})
    first = seconds(lambda: evaluate(problem, plan))
    ours = min(seconds(lambda: evaluate(problem, plan)) for _ in range(ROUNDS))
    delays = problem.network.matrices["delay_ms"].tolist()
    loop = min(seconds(lambda: plain_loop(problem, plan, delays)) for _ in range(ROUNDS))
    found, expected = evaluate(problem, plan).metrics, plain_loop(problem, plan, delays)
    assert all(math.isclose(found[key], expected[key]) for key in found.keys() & expected.keys())
    print(f"evaluate: a plan of {SIZE} operators on {SIZE} nodes")
    print(f"first call {1000 * first:.1f} ms (it lays out the network), then {1000 * ours:.2f} ms")
    print(f"plain Python loop for half of it {1000 * loop:.2f} ms: ratio {ours / loop:.2f}")


if __name__ == "__main__":
    main()
