"""Events per second of the simulator, against the same model in plain Python with heapq, in the same run.

Three graphs: one queue, a chain of ten over links with bandwidth, and eight sources into parallel operators.
Both simulators draw the same random numbers and see the same events. Times are CPU times of one core, so that
others on the machine don't count.
"""

import time
from collections.abc import Callable

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Stream
from berth.simulate import Options, Simulation, simulate
from tests.simulate.plain import Plain
from tests.simulate.problems import chain

PLAIN_SECONDS, COMPILED_SECONDS = 100.0, 2_000.0
"""Simulated time for each of them: the plain one is slow."""


def wide() -> tuple[Problem, Plan]:
    """Eight sources of 20 tuples a second, three levels of eight instances, on six nodes."""
    nodes = tuple(Node(f"n{number}") for number in range(6))
    links = tuple(
        Link(here.name, there.name, 5.0 + at, bandwidth_bytes_per_s=1e7)
        for at, here in enumerate(nodes)
        for there in nodes[at + 1 :]
    )
    operators = (
        Operator("s", parallelism=8, emits_bytes_per_s=160_000.0),
        *(Operator(f"l{level}", parallelism=8, work_ms=20.0) for level in range(3)),
    )
    streams = Stream("s", "l0"), Stream("l0", "l1"), Stream("l1", "l2")
    problem = Problem("wide", Network(nodes, links), (Application("a", operators, streams),))
    names = problem.instances.names
    return problem, Plan({name: f"n{at % 6}" for at, name in enumerate(names)})


def rate(run: Callable[[], int]) -> float:
    """Events per second of CPU time."""
    begin = time.process_time()
    events = run()
    return events / (time.process_time() - begin)


def main() -> None:
    cases = {
        "one queue": chain([10.0], 70.0),
        "chain of ten": chain([5.0] * 10, 100.0, nodes=list("abcdefghij"), delay_ms=10.0, bandwidth=1e6),
        "wide": wide(),
    }
    print(f"{'graph':14}{'events':>12}{'compiled/s':>14}{'plain/s':>12}{'ratio':>8}{'mean':>12}")
    for name, (problem, plan) in cases.items():
        simulate(problem, plan, Options(duration_s=1.0))
        found: list[Simulation] = []

        def compiled(problem: Problem = problem, plan: Plan = plan, found: list[Simulation] = found) -> int:
            found.append(simulate(problem, plan, Options(duration_s=COMPILED_SECONDS)))
            return found[-1].totals.events

        def plain(problem: Problem = problem, plan: Plan = plan) -> int:
            slow = Plain(problem, plan, Options(duration_s=PLAIN_SECONDS))
            slow.run()
            return slow.done

        fast, slow = rate(compiled), rate(plain)
        totals = found[-1].totals
        print(
            f"{name:14}{totals.events:12,}{fast:14,.0f}{slow:12,.0f}{fast / slow:8.1f}"
            f"{totals.latency_mean_ms:9.2f} ms"
        )


if __name__ == "__main__":
    main()
