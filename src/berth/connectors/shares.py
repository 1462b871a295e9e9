"""What files of other systems say about instances, and what it comes to together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from berth.model import BadInput, Plan, Problem


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
