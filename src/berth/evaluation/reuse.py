"""What reuse does to rates (paper 004): providers keep up with the fastest of their takers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import Plan, Problem

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifted:
    """Throughput and reads of operators and the rates of streams after reuse has raised them."""

    throughput: FloatArray
    """Of every operator; NaN where the application has none."""
    reads: list[dict[str, float]]
    """For every operator, per_s of each object that it reads."""
    stream_rate: FloatArray
    """Bytes per second of every stream; NaN: unknown."""


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
    return Lifted(throughput, reads, _stream_rates(problem, throughput))


def _stream_rates(problem: Problem, throughput: FloatArray) -> FloatArray:
    """Streams that are so much for each result follow the throughput of those who receive them."""
    graph = problem.instances
    sender, receiver = graph.stream_ends.T
    raised = graph.output_bytes[sender] * throughput[receiver]
    return np.where(graph.stream_follows_throughput, raised, graph.stream_rate)


def reuse_mistakes(problem: Problem, plan: Plan) -> Iterator[str]:
    """Reuse and skips that make no sense: nothing can be said about a plan that has them."""
    graph, classes = problem.instances, problem.sharing_keys.classes
    computed = {item.name for item in graph.operators} - plan.reuse.keys() - set(plan.skipped)
    for taker, provider in plan.reuse.items():
        equal = classes[graph.operator_index[taker]] == classes[graph.operator_index[provider]]
        if not problem.sharing:
            yield f"reuse {taker}: sharing is off in this problem"
        elif not equal or taker == provider:
            yield f"reuse {taker}: {provider} does not compute the same"
        elif provider not in computed:
            yield f"reuse {taker}: {provider} is not computed itself"
    for name in plan.skipped:
        consumers = [graph.operators[number].name for number in graph.consumers[graph.operator_index[name]]]
        needing = [consumer for consumer in consumers if consumer in computed]
        takers = [taker for taker, provider in plan.reuse.items() if provider == name]
        if not consumers:
            yield f"skipped {name}: it is a result of its application"
        elif needing or takers:
            yield f"skipped {name}: {', '.join([*needing, *takers])} still needs it"
    yield from (f"operator {name}: both reused and skipped" for name in plan.skipped if name in plan.reuse)
