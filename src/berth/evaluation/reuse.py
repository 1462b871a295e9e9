"""What reuse does to rates (paper 004): providers keep up with the fastest of their takers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifted:
    """Throughput and reads of operators and the rates of streams after reuse has raised them."""

    throughput: FloatArray
    """Of every operator; NaN where the application has none."""
    reads: list[dict[str, float]]
    """For every operator, per_s of each object that it reads."""
    stream_factor: FloatArray
    """What a stream's own rate is multiplied by."""


def lifted_rates(problem: Problem, reuse: Mapping[str, str]) -> Lifted:
    """A provider, and all that feeds it, keeps up with the fastest of those that take its result."""
    graph = problem.instances
    own = np.array(
        [
            np.nan if application.throughput_per_s is None else application.throughput_per_s
            for application in problem.applications
        ]
    )[[item.application for item in graph.operators]]
    reads = [{read.object: read.per_s for read in item.operator.reads} for item in graph.operators]
    throughput = own.copy()
    provider = {graph.operator_index[taker]: graph.operator_index[giver] for taker, giver in reuse.items()}
    waiting = list(provider.items())
    seen = set(waiting)
    while waiting:
        taker, giver = waiting.pop()
        throughput[giver] = np.fmax(throughput[giver], own[taker])
        for read in graph.operators[taker].operator.reads:
            if read.object in reads[giver]:
                reads[giver][read.object] = max(reads[giver][read.object], read.per_s)
        for above_taker in graph.inputs[taker]:
            for above_giver in graph.inputs[giver]:
                match = above_taker, provider.get(above_giver, above_giver)
                equal = problem.sharing_keys.classes[above_taker] == problem.sharing_keys.classes[above_giver]
                if equal and match not in seen:
                    seen.add(match)
                    waiting.append(match)
    receiver = graph.stream_ends[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        raised = throughput[receiver] / own[receiver]
    scales = graph.stream_follows_throughput & np.isfinite(raised)
    return Lifted(throughput, reads, np.where(scales, raised, 1.0))
