"""Servers under a Fat-Tree of switches (paper 001, section V)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.generators.generator import About
from berth.generators.measured import Delays
from berth.generators.settings import setting
from berth.generators.switches import fat_tree_switches, hops_between
from berth.generators.topology_requests import RequestParameters, requested, servers
from berth.model import Network, Problem


@dataclass(frozen=True)
class FatTreeParameters(RequestParameters):
    """What users may set."""

    ports: int = setting(4, "ports of a switch (k), an even number: k^3/4 servers, 5k^2/4 switches", 2, 20)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ports % 2:
            raise ValueError(f"ports: {self.ports} is odd")


class FatTree:
    """2 hops below one edge switch, 4 in a pod, 6 beyond."""

    about = About(
        name="fat-tree",
        paper="001, section V: Heron topologies on a Fat-Tree",
        makes="requests with containers, on servers under k-port switches; hops are the costs",
    )
    parameters = FatTreeParameters
    counts_nodes = None

    def network(
        self, parameters: FatTreeParameters, rng: np.random.Generator, measured: Delays | None
    ) -> Network:
        """The servers; as many under each edge switch as it has ports for them."""
        half = parameters.ports // 2
        edge = np.repeat(np.arange(parameters.ports * half), half)
        hops = hops_between(fat_tree_switches(parameters.ports))[np.ix_(edge, edge)] + 2
        np.fill_diagonal(hops, 0)
        return servers(hops, parameters, rng)

    def problem(self, parameters: FatTreeParameters, rng: np.random.Generator, network: Network) -> Problem:
        """The requests."""
        return requested(parameters, rng, network)
