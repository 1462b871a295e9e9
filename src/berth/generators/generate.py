"""From a kind and a seed to a problem: the one way that library and command share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from berth.generators.generator import Generator
from berth.generators.registry import find_generator
from berth.model import BadInput, Network, Problem
from berth.model.parameters import parameters_from
from berth.model.randomness import generator_for


def generate(
    kind: str, *, seed: int = 0, network: Network | np.ndarray | None = None, **parameters: Any
) -> Problem:
    """Make a problem of some kind.

    Args:
        kind: a generator's name (`berth generate --list` has them).
        seed: the same seed gives the same problem.
        network: a network to place on instead of a generated one, as it is; or its delays only, in ms, as a
            full matrix with NaN where there is no link. Of a matrix with more nodes than the parameters
            ask for, some are drawn.
        parameters: the generator's own.

    Raises:
        BadInput: an unknown kind or parameter, a value that makes no sense, or a network of too few nodes.
    """
    generator = find_generator(kind)
    sized = dict(parameters)
    if network is not None:
        sized = _sized(generator, parameters, network)
    values = parameters_from(generator.parameters, sized, f"kind {kind}")
    rng = generator_for(seed)
    if isinstance(network, Network):
        nodes = tuple(replace(node, holds=frozenset()) for node in network.nodes)
        ground = replace(network, nodes=nodes)
    else:
        ground = generator.network(values, rng, _measured(generator, values, rng, network))
    problem = generator.problem(values, rng, ground)
    return replace(problem, name=f"{kind}-{seed}")


def _sized(generator: Generator, parameters: dict[str, Any], network: Network | np.ndarray) -> dict[str, Any]:
    """The parameters with as many nodes as the network has, unless the user asks for a part of them."""
    count = generator.counts_nodes
    if count is None:
        raise BadInput([f"--network: kind {generator.about.name} is a network itself"])
    if isinstance(network, Network):
        if count in parameters:
            raise BadInput([f"--set {count}: the nodes are those of --network; leave it out"])
        return {**parameters, count: len(network.nodes)}
    return {count: len(network), **parameters}


def _measured(
    generator: Generator, values: Any, rng: np.random.Generator, delay_ms: np.ndarray | None
) -> np.ndarray | None:
    """As many rows and columns of a matrix as nodes are asked for, drawn if it has more."""
    if delay_ms is None:
        return None
    count = getattr(values, str(generator.counts_nodes))
    there = len(delay_ms)
    if count > there:
        raise BadInput([f"--set {generator.counts_nodes}: {count} is more than the {there} of --network"])
    chosen = np.sort(rng.permutation(there)[:count]) if count < there else np.arange(there)
    return delay_ms[np.ix_(chosen, chosen)]
