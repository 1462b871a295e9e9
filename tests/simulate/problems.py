"""Small problems with plans, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Stream


def chain(
    works_ms: Sequence[float],
    rate: float,
    *,
    nodes: Sequence[str] | None = None,
    delay_ms: float = 0.0,
    bandwidth: float | None = None,
    parallelism: int = 1,
    cores: float = 1.0,
    **network: object,
) -> tuple[Problem, Plan]:
    """Operators one after the other, the first a source of so many tuples of 1000 bytes a second.

    `parallelism` is that of the second operator. All on one node, unless `nodes` names one for each.
    """
    places = list(nodes or ["here"] * len(works_ms))
    names = list(dict.fromkeys(places))
    links = tuple(
        Link(first, last, delay_ms, bandwidth_bytes_per_s=bandwidth)
        for number, first in enumerate(names)
        for last in names[number + 1 :]
    )
    operators = tuple(
        Operator(
            f"o{number}",
            work_ms=work,
            emits_bytes_per_s=1000.0 * rate if number == 0 else None,
            parallelism=parallelism if number == 1 else 1,
        )
        for number, work in enumerate(works_ms)
    )
    streams = tuple(Stream(f"o{number}", f"o{number + 1}") for number in range(len(works_ms) - 1))
    problem = Problem(
        "chain",
        Network(tuple(Node(name, cores=cores) for name in names), links, **network),  # type: ignore[arg-type]
        (Application("a", operators, streams),),
    )
    assignment = {
        name: places[int(problem.instances.operator_of[number])]
        for number, name in enumerate(problem.instances.names)
    }
    return problem, Plan(assignment)


def moved(plan: Plan, changes: Mapping[str, str]) -> Plan:
    """The plan with some instances elsewhere."""
    return Plan({**plan.assignment, **changes})
