"""Servers under a random graph of switches (paper 001, section V)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.generators.generator import About
from berth.generators.measured import Delays
from berth.generators.settings import MOST_NODES, setting
from berth.generators.switches import hops_between, jellyfish_switches
from berth.generators.topology_requests import RequestParameters, requested, servers
from berth.model import BadInput, Network, Problem


@dataclass(frozen=True)
class JellyfishParameters(RequestParameters):
    """What users may set."""

    switches: int = setting(24, "switches", 1, 2_000)
    ports: int = setting(4, "ports of a switch; those that no server needs lead to other switches", 1, 2_000)
    servers: int = setting(16, "servers, spread evenly over the switches", 1, MOST_NODES)

    @property
    def degree(self) -> int:
        """The ports of a switch that lead to others: all but as many as the fullest has servers."""
        return self.ports - -(-self.servers // self.switches)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree < (1 if self.switches > 1 else 0):
            most = -(-self.servers // self.switches)
            raise ValueError(f"ports: {self.ports} are too few: a switch has up to {most} server(s)")
        if self.degree > max(self.switches - 1, 0) and self.switches > 1:
            raise ValueError(
                f"ports: {self.ports} are too many: a switch has {self.switches - 1} others to be linked to"
            )


class Jellyfish:
    """Links between free ports, drawn; hops are those of the shortest path."""

    about = About(
        name="jellyfish",
        paper="001, section V: Heron topologies on a Jellyfish",
        makes="requests with containers, on servers under randomly linked switches; hops are the costs",
    )
    parameters = JellyfishParameters
    counts_nodes = None

    def network(
        self, parameters: JellyfishParameters, rng: np.random.Generator, measured: Delays | None
    ) -> Network:
        """The servers, one switch after the other."""
        linked = jellyfish_switches(parameters.switches, max(parameters.degree, 0), rng)
        if linked is None:
            raise BadInput([f"--set ports: {parameters.ports} are too few to connect all switches"])
        switch = np.arange(parameters.servers) % parameters.switches
        hops = hops_between(linked)[np.ix_(switch, switch)] + 2
        np.fill_diagonal(hops, 0)
        return servers(hops, parameters, rng)

    def problem(self, parameters: JellyfishParameters, rng: np.random.Generator, network: Network) -> Problem:
        """The requests."""
        return requested(parameters, rng, network)
