"""From a kind and a seed to a problem: the one way that library and command share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import numpy as np

from berth.generators.generator import Delays, Generator
from berth.model import BadInput, Network, Problem
from berth.model.errors import did_you_mean
from berth.model.parameters import parameters_from
from berth.model.randomness import generator_for

GENERATORS = {
    "fat": "berth.generators.uniform_graphs:Fat",
    "fat-tree": "berth.generators.clusters:FatTree",
    "forest": "berth.generators.forest:Forest",
    "jellyfish": "berth.generators.clusters:Jellyfish",
    "matrices": "berth.generators.matrices:Matrices",
    "random-graph": "berth.generators.random_graph:RandomGraph",
    "sequential": "berth.generators.uniform_graphs:Sequential",
    "stream-tree": "berth.generators.stream_tree:StreamTree",
    "tag-and-count": "berth.generators.tag_and_count:TagAndCount",
}


def find_generator(name: str) -> type[Generator]:
    """The generator of that name.

    Raises:
        BadInput: there is none.
    """
    if name not in GENERATORS:
        raise BadInput([f"KIND: no kind {did_you_mean(name, GENERATORS)}; 'berth generate --list' has them"])
    module, attribute = GENERATORS[name].split(":")
    return cast(type[Generator], getattr(import_module(module), attribute))


def generate(
    kind: str, *, seed: int = 0, network: Network | Delays | None = None, **parameters: Any
) -> Problem:
    """Make a problem of some kind.

    Args:
        kind: a generator's name (`berth generate --list` has them).
        seed: the same seed gives the same problem.
        network: a network to place on instead of a generated one, as it is but for the objects that its nodes
            hold; or delays only: of more nodes than the parameters ask for, some are drawn.
        parameters: the generator's own.

    Raises:
        BadInput: an unknown kind or parameter, a value that makes no sense, or a network of too few nodes.
    """
    return generate_with(kind, seed, network, parameters)


def generate_with(
    kind: str, seed: int, network: Network | Delays | None, parameters: Mapping[str, Any]
) -> Problem:
    """As `generate`, for parameters of any names: `--set seed=1` is one that no kind has."""
    kind_of = find_generator(kind)
    sized = parameters if network is None else _sized(kind_of, parameters, network)
    generator: Generator = parameters_from(kind_of, sized, f"kind {kind}")
    rng = generator_for(seed)
    if isinstance(network, Network):
        problem = _without_unknown_demands(generator.problem(rng, _bare(network)))
    else:
        measured = None if network is None else _some(generator, network, rng)
        problem = generator.problem(rng, generator.network(rng, measured))
    return replace(problem, name=f"{kind}-{seed}")


def _sized(
    generator: type[Generator], parameters: Mapping[str, Any], network: Network | Delays
) -> dict[str, Any]:
    """The parameters with as many nodes as the network has, unless the user asks for a part of them."""
    count = generator.counts_nodes
    if count is None:
        raise BadInput([f"--network: kind {generator.about.name} is a network itself"])
    if isinstance(network, Delays):
        return {count: len(network), **parameters}
    if count in parameters:
        raise BadInput([f"--set {count}: the nodes are those of --network; leave it out"])
    return {**parameters, count: len(network.nodes)}


def _some(generator: Generator, delays: Delays, rng: np.random.Generator) -> Delays:
    """The delays between as many nodes as the parameters say."""
    count = getattr(generator, str(generator.counts_nodes))
    if count > len(delays):
        raise BadInput(
            [f"--set {generator.counts_nodes}: {count} is more than the {len(delays)} nodes of --network"]
        )
    return delays.some(count, rng)


def _bare(network: Network) -> Network:
    """A network whose nodes hold nothing: the objects of its own problem are not in this one."""
    if not len(network.hosting):
        raise BadInput(["--network: none of its nodes hosts operators"])
    return replace(network, nodes=tuple(replace(node, holds=frozenset()) for node in network.nodes))


def _without_unknown_demands(problem: Problem) -> Problem:
    """The problem without demands for what no node has: a given network has resources of its own names."""
    there = {resource for node in problem.network.nodes for resource in node.capacity}
    applications = tuple(
        replace(
            application,
            operators=tuple(
                replace(
                    operator,
                    demand={name: operator.demand[name] for name in operator.demand if name in there},
                )
                for operator in application.operators
            ),
        )
        for application in problem.applications
    )
    return replace(problem, applications=applications)
