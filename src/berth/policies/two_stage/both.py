"""Both stages of one application; where the second is stuck, again with fewer or other containers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from berth.budget import Budget
from berth.policies.two_stage.build import Request
from berth.policies.two_stage.cluster import Cluster
from berth.policies.two_stage.ffd import FfdParameters, few_servers_first
from berth.policies.two_stage.registry import first_stage, second_stage
from berth.policies.two_stage.stages import Assigned, FirstStage, IndexArray, StageTwo, Stuck


@dataclass(frozen=True, eq=False)
class Mapped:
    """An application's instances in containers, and these on servers."""

    stage: StageTwo
    container: IndexArray
    """For every instance the position of its container in the second stage."""
    servers: IndexArray
    """The position of every container's server."""
    trace: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Failed:
    """Why there is no way through both stages, and what else was tried."""

    reason: str
    trace: dict[str, Any]


def both_stages(
    request: Request,
    cluster: Cluster,
    first: str,
    generator: np.random.Generator,
    parameters: Any,
    budget: Budget,
) -> Mapped | Failed:
    """Pack an application's instances, and place the containers.

    Servers can be too full for as many containers as a first stage that saves traffic has used. So, where
    the second stage is stuck, first stages that fill containers come next, and the second stage tries again
    with what they find: fewer containers, or as many with other contents.
    """
    stage_one, onto = request.first(cluster), second_stage(parameters.second_stage)
    reason: str | None = None
    tried: list[dict[str, Any]] = []
    packings: list[IndexArray] = []
    for way, its_parameters, told in _ways(first, parameters):
        if reason is not None and budget.over:
            break
        packed = way(stage_one, generator, its_parameters, budget)
        if isinstance(packed, Stuck):
            if reason is None:
                return Failed(f"first stage, {first}: {packed.reason}", {})
            tried.append({**told, "stuck": f"first stage: {packed.reason}"})
            continue
        used, container = np.unique(packed.bins, return_inverse=True)
        if not _worth_it(container, packings):
            continue
        packings.append(container)
        stage_two = request.second(cluster, used, container)
        placed = onto(stage_two, generator, parameters, budget)
        if isinstance(placed, Assigned):
            own = {**packed.trace, **told} if tried else dict(packed.trace)
            trace = {"first": own, "second": dict(placed.trace), "stuck_before": tried}
            return Mapped(
                stage_two, container, placed.bins, {key: value for key, value in trace.items() if value}
            )
        reason = reason or f"second stage, {parameters.second_stage}: {placed.reason}"
        tried.append({**told, "containers": len(used), "stuck": placed.reason})
    assert reason is not None
    return Failed(reason, {"stuck_before": tried} if len(tried) > 1 else {})


def _ways(first: str, parameters: Any) -> Iterator[tuple[FirstStage, Any, dict[str, Any]]]:
    """First stages with their parameters and what the trace calls them: the one that is asked for first."""
    yield first_stage(first), parameters, {"first_stage": first}
    if parameters.mode == "paper":
        return
    if first in ("exact", "mips") and parameters.alpha > 0:
        yield first_stage(first), replace(parameters, alpha=0.0), {"first_stage": first, "alpha": 0.0}
    fullest = FfdParameters(variant="heron", instances_per_container=None)
    told = {"first_stage": "ffd", "variant": "heron"}
    yield first_stage("ffd"), fullest, told
    yield few_servers_first, fullest, {**told, "order": "few servers first"}


def _worth_it(container: IndexArray, before: list[IndexArray]) -> bool:
    """Whether a packing has fewer containers than those before, or as many with other contents."""
    count = container.max(initial=-1)
    fewest = min((other.max(initial=-1) for other in before), default=count)
    known = (_by_first(container) == _by_first(other) for other in before)
    return bool(count <= fewest) and not any(known)


def _by_first(container: IndexArray) -> tuple[int, ...]:
    """A packing whatever its containers' numbers: for every instance the first one that is with it."""
    _, first, group = np.unique(container, return_index=True, return_inverse=True)
    return tuple(first[group].tolist())
