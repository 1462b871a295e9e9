"""What runs together in a container or on a server: in our plans, and in files of other systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from berth.model import Application, BadInput, Plan, Problem
from berth.model.instances import PlacedOperator

_NUMBER = re.compile(r"c(0|[1-9][0-9]{0,9})")


@dataclass(frozen=True)
class Group:
    """Instances that share a container and a server."""

    container: int | None
    """The container's number; None: in none."""
    node: str | None
    """The server; None: not placed."""
    instances: tuple[int, ...]


def groups_of(problem: Problem, plan: Plan, application: int) -> list[Group]:
    """The groups of an application, by container and server.

    Raises:
        BadInput: an instance is in a container that the application doesn't have.
    """
    found: dict[tuple[int | None, str | None], list[int]] = {}
    mistakes = []
    described = problem.applications[application]
    for number in instances_of(problem, plan, application):
        name = problem.instances.names[number]
        container = None
        if described.containers is not None and name in plan.containers:
            container = container_number(plan.containers[name], described)
            if container is None:
                mistakes.append(f"containers.{name}: {no_container(plan.containers[name], described)}")
        found.setdefault((container, plan.assignment.get(name)), []).append(number)
    if mistakes:
        raise BadInput(mistakes)
    nodes = problem.network.index

    def place(key: tuple[int | None, str | None]) -> tuple[int, int]:
        container, node = key
        return -1 if container is None else container, len(nodes) if node is None else nodes[node]

    return [Group(*key, tuple(found[key])) for key in sorted(found, key=place)]


def instances_of(problem: Problem, plan: Plan, application: int) -> list[int]:
    """The numbers of an application's instances that the plan says something about, or should."""
    graph, dropped = problem.instances, {*plan.reuse, *plan.skipped}
    return [
        number
        for item in operators_of(problem, application)
        for number in item.instances
        if item.name not in dropped
        or graph.names[number] in plan.assignment
        or graph.names[number] in plan.containers
    ]


def operators_of(problem: Problem, application: int) -> list[PlacedOperator]:
    """The operators of an application."""
    return [item for item in problem.instances.operators if item.application == application]


def container_name(application: Application, number: int) -> str:
    """As plan files have it: `application/c0`, `application/c1`, ..."""
    return f"{application.name}/c{number}"


def container_number(name: str, application: Application) -> int | None:
    """The number of a container by its name in plan files; None: the application has no such one."""
    owner, _, own = name.partition("/")
    match = _NUMBER.fullmatch(own)
    if owner != application.name or match is None or application.containers is None:
        return None
    number = int(match[1])
    return number if number < application.containers.count else None


def no_container(name: str, application: Application) -> str:
    """What to say of a container that is not there."""
    count = 0 if application.containers is None else application.containers.count
    return f"no container named {name!r} ({application.name} has {count})"


@dataclass(frozen=True)
class Share:
    """What one place in a file says."""

    path: str
    instances: tuple[str, ...] | None
    """Their names; None: those that a packing plan has in the container."""
    container: str | None = None
    """As plan files name it; None: not said."""
    node: str | None = None
    """The server; None: not said."""


def plan_of(problem: Problem, packed: Iterable[Share], placed: Iterable[Share]) -> Plan:
    """What packing plans (containers) and jobs (servers, and containers too) say together.

    Raises:
        BadInput: an instance is there twice, or two files contradict each other.
    """
    mistakes: list[str] = []
    containers = {
        instance: share.container
        for share, instance in _once(packed, mistakes)
        if share.container is not None
    }
    filled = [_filled(share, containers, mistakes) for share in placed]
    packing = {name.partition("/")[0] for name in containers}
    assignment = {}
    found = dict(containers)
    for share, instance in _once(filled, mistakes):
        if share.node is not None:
            assignment[instance] = share.node
        if instance.partition("/")[0] in packing and share.container != containers.get(instance):
            here, there = (name or "no container" for name in (share.container, containers.get(instance)))
            mistakes.append(f"{share.path}: {instance} is in {here}, but in {there} in the packing plan")
        if share.container is not None:
            found[instance] = share.container
    if mistakes:
        raise BadInput(mistakes)
    names = problem.instances.names
    return Plan(
        problem=problem.name,
        assignment={name: assignment[name] for name in names if name in assignment},
        containers={name: found[name] for name in names if name in found},
    )


def _once(shares: Iterable[Share], mistakes: list[str]) -> Iterator[tuple[Share, str]]:
    """All instances with their shares; one that is there twice is a mistake."""
    seen: dict[str, str] = {}
    for share in shares:
        for instance in share.instances or ():
            if instance in seen:
                mistakes.append(f"{share.path}: {instance} is there twice; first in {seen[instance]}")
            else:
                seen[instance] = share.path
                yield share, instance


def _filled(share: Share, containers: dict[str, str], mistakes: list[str]) -> Share:
    """A share with the instances that a packing plan has in its container, where it names none itself."""
    if share.instances is not None:
        return share
    inside = tuple(instance for instance, container in containers.items() if container == share.container)
    if not inside:
        mistakes.append(f"{share.path}: no packing plan says what is in container {share.container}")
    return replace(share, instances=inside)
