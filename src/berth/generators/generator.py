"""What a generator is, and what several of them share: parameters with bounds, draws, delays, streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from berth.model import Network, Problem, Stream

FloatArray = NDArray[np.float64]
LEAST, MOST = "least_", "most_"
MOST_NODES = 2_000
"""Of generated networks with matrices: files of more are refused when they are read (64 MiB)."""
MOST_OPERATORS = 10_000
DECIMALS = 4
"""Of drawn numbers: files are shorter, and nothing that is measured is known better."""


@dataclass(frozen=True)
class About:
    """What people should know about a generator before they choose it."""

    name: str
    paper: str
    makes: str


def setting(default: Any, text: str, low: float = 0.0, high: float = 1e12) -> Any:
    """A field with a default, an explanation and the bounds of its value."""
    return field(default=default, metadata={"help": text, "low": low, "high": high})


@dataclass(frozen=True)
class Generator(ABC):
    """A recipe for problems. Its fields, made by `setting`, are what users may set.

    A pair of fields `least_x` and `most_x` is a range.
    """

    about: ClassVar[About]
    counts_nodes: ClassVar[str | None] = None
    """The field that says how many nodes there are; None: its network can't be replaced."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value, low, high = getattr(self, item.name), item.metadata["low"], item.metadata["high"]
            if value is None or isinstance(value, str | bool) or low <= value <= high:
                continue
            side = f"below {low:g}" if value < low else f"above {high:g}" if value > high else "no number"
            raise ValueError(f"{item.name}: {value} is {side}")
        for item in fields(self):
            other = MOST + item.name.removeprefix(LEAST)
            least, most = getattr(self, item.name), getattr(self, other, None)
            if item.name.startswith(LEAST) and least is not None and most is not None and least > most:
                raise ValueError(f"{item.name}: {least} is above {other} ({most})")

    @abstractmethod
    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """The nodes and what lies between them.

        Args:
            rng: the only source of chance.
            measured: delays to use instead of drawn ones, of as many nodes as the fields say.
        """

    @abstractmethod
    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """What is placed on a network, and what is wanted."""


def uniform(
    rng: np.random.Generator, low: float, high: float, size: int | tuple[int, ...] = ()
) -> FloatArray:
    """Numbers between two bounds, both included."""
    return np.clip(np.round(rng.uniform(low, high, size), DECIMALS), low, high)


def symmetric(matrix: FloatArray) -> FloatArray:
    """The upper half of a matrix, mirrored to the lower one."""
    upper = np.triu(matrix, 1)
    return upper + upper.T


@dataclass(frozen=True, eq=False)
class Delays:
    """What lies between every two of some nodes, one way, in ms; NaN: no link."""

    delay_ms: FloatArray
    given_names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.delay_ms)

    @cached_property
    def names(self) -> list[str]:
        """The nodes' names; numbers where none are given."""
        return list(self.given_names or (f"n{number}" for number in range(len(self))))

    @property
    def matrices(self) -> dict[str, FloatArray]:
        """The delays as a network has them."""
        return {"delay_ms": self.delay_ms}

    def some(self, count: int, rng: np.random.Generator) -> Delays:
        """So many of the nodes, drawn at random; all in their order if they are not more."""
        if count >= len(self):
            return self
        chosen = np.sort(rng.permutation(len(self))[:count])
        names = None if self.given_names is None else [self.given_names[k] for k in chosen.tolist()]
        return Delays(self.delay_ms[np.ix_(chosen, chosen)], names)


def normal_delays(count: int, mean: float, deviation: float, rng: np.random.Generator) -> Delays:
    """Delays max(N(mean, deviation), 1), the same both ways (paper 000, table 2)."""
    drawn = np.maximum(rng.normal(mean, deviation, (count, count)), 1.0)
    return Delays(symmetric(drawn.round(DECIMALS)))


@dataclass(frozen=True)
class Space:
    """Where nodes are that have no measured delays: clusters in three dimensions (card X3.1)."""

    clusters: int = 5
    across_ms: float = 120.0
    cluster_ms: float = 12.0
    noise: float = 0.15
    height_ms: float = 4.0

    def places(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Nodes around the centres of clusters, in ms."""
        centres = rng.uniform(0, self.across_ms, (self.clusters, 3))
        around = centres[rng.integers(self.clusters, size=count)]
        return np.asarray(around + rng.normal(0, self.cluster_ms, (count, 3)))

    def heights(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Every node's own way into the network."""
        return rng.exponential(self.height_ms, count)

    def delays(self, count: int, rng: np.random.Generator) -> Delays:
        """Distances with log-normal noise, and both heights: a space meets them only roughly."""
        places = self.places(count, rng)
        squares = sum((axis[:, None] - axis) ** 2 for axis in places.T)
        noise = symmetric(rng.normal(0, self.noise, (count, count)))
        heights = self.heights(count, rng)
        delays = np.sqrt(squares) * np.exp(noise) + heights[:, None] + heights
        np.fill_diagonal(delays, 0.0)
        return Delays(np.round(delays, DECIMALS))


def streams_along(ends: Iterable[tuple[str, str]], tuple_bytes: float | None = None) -> tuple[Stream, ...]:
    """Streams whose rates follow from what is sent."""
    return tuple(Stream(sender, receiver, tuple_bytes=tuple_bytes) for sender, receiver in ends)


def in_a_row(names: Iterable[str], tuple_bytes: float | None = None) -> tuple[Stream, ...]:
    """Every operator sends to the next one."""
    return streams_along(pairwise(names), tuple_bytes)


def any_host(network: Network, rng: np.random.Generator) -> str:
    """The name of a node that may run operators."""
    return network.nodes[int(rng.choice(network.hosting))].name


def some_hosts(network: Network, share: float, rng: np.random.Generator) -> tuple[str, ...] | None:
    """A random share of the nodes that may run operators, one at least; None: all of them."""
    if share >= 1.0:
        return None
    hosting = network.hosting
    count = max(1, int(np.ceil(share * len(hosting) - 1e-9)))
    return tuple(network.nodes[k].name for k in np.sort(rng.permutation(hosting)[:count]).tolist())
