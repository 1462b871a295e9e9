"""Best fit as Nomad scores it (card 1.14): the server that a container leaves with the least free."""

from __future__ import annotations

import numpy as np

from berth.budget import Budget
from berth.evaluation.limits import amount
from berth.policies.two_stage.filling import TIE
from berth.policies.two_stage.parameters import TwoStageParameters
from berth.policies.two_stage.stages import Assigned, FloatArray, IndexArray, StageTwo, Stuck


def best_fit(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, _budget: Budget
) -> Assigned | Stuck:
    """Containers in the order of their numbers, each onto the server with the best score."""
    room = stage.room.copy()
    servers = np.full(len(stage.names), -1, dtype=np.intp)
    # Who has no choice comes first: others must not take the only room there is.
    for container in np.argsort(stage.allowed.sum(axis=1) > 1, kind="stable").tolist():
        size = stage.size[container]
        found = np.flatnonzero(stage.allowed[container] & (size <= room).all(axis=1))
        if len(found) == 0:
            return Stuck(_why(stage, container))
        if parameters.limit == "nomad":
            found = _drawn(found, len(stage.servers), generator)
        # what a container takes nothing of doesn't tell how well it fits
        taken = size > 0
        score = fit_score((room[found] - size)[:, taken], stage.capacity[found][:, taken])
        servers[container] = chosen = found[np.argmax(score >= score.max() - TIE)]
        room[chosen] -= size
    return Assigned(servers)


def fit_score(left: FloatArray, capacity: FloatArray) -> FloatArray:
    """How full servers are, from 0 to 1, when so much is left of their resources.

    Nomad's 20 - 10^cpu - 10^memory of the free shares, for any number of resources.

    Args:
        left: [servers, resources] what is free.
        capacity: [servers, resources] what there is; a resource that a server has none of counts as full.
    """
    count = left.shape[1]
    if count == 0:
        return np.zeros(len(left))
    free = np.divide(left, capacity, out=np.zeros_like(left), where=capacity > 0)
    score = 10.0 * count - (10.0**free).sum(axis=1)
    return np.asarray(np.clip(score, 0.0, 9.0 * count) / (9.0 * count))


def _drawn(found: IndexArray, servers: int, generator: np.random.Generator) -> IndexArray:
    """The servers that Nomad looks at: of those with room a few, in a random order, then by number."""
    count = max(2, (servers - 1).bit_length())
    return np.sort(generator.permutation(found)[:count])


def _why(stage: StageTwo, container: int) -> str:
    at = f"stuck at container {stage.names[container]}"
    if not stage.allowed[container].any():
        return f"{at}: no server may host all instances in it"
    size = zip(stage.resources, stage.size[container].tolist(), strict=True)
    needed = ", ".join(f"{name} {amount(value)}" for name, value in size)
    return f"{at}: no server that may host it has room for {needed}"
