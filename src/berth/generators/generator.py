"""What a generator is: a network, and a problem on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from berth.generators.measured import Delays
from berth.model import Network, Problem


@dataclass(frozen=True)
class About:
    """What people should know about a generator before they choose it."""

    name: str
    paper: str
    makes: str


class Generator(Protocol):
    """A recipe for problems. A class with these attributes and methods is one."""

    @property
    def about(self) -> About:
        """What people should know about it."""
        ...

    @property
    def parameters(self) -> type:
        """A frozen dataclass: its fields are what users may set, with defaults and types."""
        ...

    @property
    def counts_nodes(self) -> str | None:
        """The parameter that says how many nodes there are; None: its network can't be replaced."""
        ...

    def network(self, parameters: Any, rng: np.random.Generator, measured: Delays | None) -> Network:
        """The nodes and what lies between them.

        Args:
            parameters: what the user set.
            rng: the only source of chance.
            measured: delays to use instead of drawn ones, of as many nodes as the parameters say.
        """
        ...

    def problem(self, parameters: Any, rng: np.random.Generator, network: Network) -> Problem:
        """What is placed on a network, and what is wanted."""
        ...
