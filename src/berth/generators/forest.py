"""Trees of operators over data objects, for many applications at once (paper 004, section 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.generators.generator import (
    MOST_NODES,
    MOST_OPERATORS,
    About,
    Delays,
    Generator,
    setting,
    symmetric,
    uniform,
)
from berth.model import Application, DataObject, Network, Node, Operator, Problem, Read, Stream

MEGA = 1e6
MS_PER_MOP = 1000.0
"""A processor of speed 1 does a million operations a second."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of operators: every one has two inputs, which are operators or objects.

    They are numbered level by level, so the first k are the top of the tree, for every k.
    """

    children: list[list[int]]
    objects: list[frozenset[int]]
    functions: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Subtree:
    function: int
    inputs: tuple[_Subtree | int, _Subtree | int]
    """A number is an object."""


class Nursery:
    """Draws trees; with the chance `alike` a subtree is one of those of its size that were drawn before."""

    def __init__(self, rng: np.random.Generator, objects: int, functions: int, alike: float) -> None:
        self._rng = rng
        self._objects = objects
        self._functions = functions
        self._alike = alike
        self._drawn: dict[int, list[_Subtree]] = {}

    def grown(self, operators: int) -> Tree:
        """A tree of so many operators.

        Those below an operator fall to its two inputs by any split, all equally likely: as if trees grew
        from the root, the next operator at any open input.
        """
        children: list[list[int]] = []
        objects: list[frozenset[int]] = []
        functions: list[int] = []
        found = [(self._subtree(operators), -1)]
        for number, (subtree, parent) in enumerate(found):
            if parent >= 0:
                children[parent].append(number)
            below = [item for item in subtree.inputs if isinstance(item, _Subtree)]
            found += [(item, number) for item in below]
            objects.append(frozenset(item for item in subtree.inputs if not isinstance(item, _Subtree)))
            functions.append(subtree.function)
            children.append([])
        return Tree(children, objects, np.array(functions, dtype=np.int64))

    def _subtree(self, operators: int) -> _Subtree:
        drawn = self._drawn.setdefault(operators, [])
        if drawn and self._rng.random() < self._alike:
            return drawn[int(self._rng.integers(len(drawn)))]
        first = int(self._rng.integers(operators))
        inputs = self._input(first), self._input(operators - 1 - first)
        drawn.append(_Subtree(int(self._rng.integers(self._functions)), inputs))
        return drawn[-1]

    def _input(self, operators: int) -> _Subtree | int:
        return self._subtree(operators) if operators else int(self._rng.integers(self._objects))


@dataclass(frozen=True)
class Forest(Generator):
    """Binary trees over shared objects; operators that compute the same have the same type."""

    about = About(
        name="forest",
        paper="004, section 6: concurrent applications that share operators",
        makes="binary trees of operators over data objects, on processors with cards and links",
    )
    counts_nodes = "processors"

    processors: int = setting(30, "processors", 1, MOST_NODES)
    least_speed: float = setting(50.0, "slowest processor, Mop/s", 1e-6)
    most_speed: float = setting(180.0, "fastest processor, Mop/s", 1e-6)
    least_card: float = setting(50.0, "smallest network card, MB/s", 1e-6)
    most_card: float = setting(180.0, "largest network card, MB/s", 1e-6)
    least_link: float = setting(60.0, "narrowest link, MB/s", 1e-6)
    most_link: float = setting(100.0, "widest link, MB/s", 1e-6)
    delay_ms: float = setting(1.0, "delay of every link, ms (the paper has none)")
    one_port: bool = setting(True, "the paper's constraint (2): shares of links sum to 1 at a node")
    applications: int = setting(5, "applications", 1, 1000)
    most_operators: int = setting(50, "operators of the largest tree", 1, MOST_OPERATORS)
    least_operators: int | None = setting(None, "of the smallest; none: half as many", 1, MOST_OPERATORS)
    functions: int = setting(1, "what operators may do: of 1, equal inputs make equal operators", 1)
    alike: float = setting(0.6, "chance that a subtree is one of its size that was drawn before", 0.0, 1.0)
    differing: int | None = setting(
        None, "all trees are the first but for so many operators; none: all drawn"
    )
    objects: int = setting(10, "data objects", 1, 10_000)
    replicas: int = setting(3, "processors that hold an object (all if there are fewer)", 1)
    least_object: float = setting(3.0, "smallest object, MB")
    most_object: float = setting(13.0, "largest object, MB")
    least_throughput: float = setting(1.0, "results a second that an application must keep up (rho)", 1e-6)
    most_throughput: float = setting(2.0, "the same, most", 1e-6)
    most_reads: float = setting(1.0, "downloads a second, f: above 0 and up to this", 1e-6)
    least_work: float = setting(0.5, "least work for one result (w), Mop", 1e-9)
    most_work: float = setting(1.5, "most work, Mop", 1e-9)
    least_output: float = setting(0.5, "smallest result (delta), MB")
    most_output: float = setting(1.5, "largest result, MB")
    ccr: float | None = setting(None, "result size in MB over work in Mop; none: both are drawn")
    ccr_work: float = setting(0.05, "mean work where ccr is given, Mop; it varies by half of it", 1e-9)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.differing is not None and self.differing > self.most_operators:
            raise ValueError(f"differing: {self.differing} is above most_operators ({self.most_operators})")

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Processors that are all linked to each other."""
        count = self.processors
        speeds = uniform(rng, self.least_speed, self.most_speed, count)
        cards = uniform(rng, self.least_card, self.most_card, count) * MEGA
        links = symmetric(uniform(rng, self.least_link, self.most_link, (count, count))) * MEGA
        np.fill_diagonal(links, np.nan)
        between = measured or Delays(
            self.delay_ms * (1.0 - np.eye(count)), [f"p{number}" for number in range(count)]
        )
        nodes = tuple(
            Node(name, speed=speed, nic_bytes_per_s=card)
            for name, speed, card in zip(between.names, speeds.tolist(), cards.tolist(), strict=True)
        )
        matrices = {**between.matrices, "bandwidth_bytes_per_s": links}
        return Network(nodes, matrices=matrices, duplex="half", one_port=self.one_port)

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """Applications, the objects that they read and who holds them; wanted is the least power enrolled."""
        sizes = uniform(rng, self.least_object, self.most_object, self.objects) * MEGA
        objects = tuple(DataObject(f"object{k}", size) for k, size in enumerate(sizes.tolist()))
        catalogue = _Catalogue(self, rng)
        trees = _trees(self, rng)
        applications = tuple(
            _application(number, tree, self, rng, catalogue) for number, tree in enumerate(trees)
        )
        return Problem(
            name="forest",
            network=_with_objects(network, objects, self.replicas, rng),
            applications=applications,
            objects=objects,
            objective={"enrolled_speed": 1.0},
        )


def _trees(parameters: Forest, rng: np.random.Generator) -> list[Tree]:
    most = parameters.most_operators
    least = parameters.least_operators or -(-most // 2)
    nursery = Nursery(rng, parameters.objects, parameters.functions, parameters.alike)
    if parameters.differing is not None:
        return [nursery.grown(int(rng.integers(least, most + 1)))] * parameters.applications
    return [nursery.grown(int(rng.integers(least, most + 1))) for _ in range(parameters.applications)]


def _with_objects(
    network: Network, objects: tuple[DataObject, ...], replicas: int, rng: np.random.Generator
) -> Network:
    holds: list[set[str]] = [set() for _ in network.nodes]
    for item in objects:
        for node in rng.permutation(len(network.nodes))[:replicas].tolist():
            holds[node].add(item.name)
    nodes = zip(network.nodes, holds, strict=True)
    return replace(network, nodes=tuple(replace(node, holds=frozenset(held)) for node, held in nodes))


class _Catalogue:
    """The operators that are told apart, by what they do with which inputs: each has its work and output."""

    def __init__(self, parameters: Forest, rng: np.random.Generator) -> None:
        self._parameters = parameters
        self._rng = rng
        self._known: dict[object, int] = {}
        self.work_and_output: list[tuple[float, float]] = []

    def number(self, function: object, inputs: list[int], objects: frozenset[int]) -> int:
        """The number of the operator that does this."""
        number = self._known.setdefault((function, tuple(sorted(inputs)), objects), len(self._known))
        if number == len(self.work_and_output):
            self.work_and_output.append(self._drawn())
        return number

    def _drawn(self) -> tuple[float, float]:
        """Work in ms on a processor of speed 1, and the result's bytes."""
        given = self._parameters
        if given.ccr is None:
            work = uniform(self._rng, given.least_work, given.most_work)
            output = uniform(self._rng, given.least_output, given.most_output)
        else:
            work = uniform(self._rng, 0.5 * given.ccr_work, 1.5 * given.ccr_work)
            output = given.ccr * work
        return float(work) * MS_PER_MOP, float(output) * MEGA


def _application(
    number: int, tree: Tree, parameters: Forest, rng: np.random.Generator, catalogue: _Catalogue
) -> Application:
    """A tree as an application; what it shares with others, its operators' types tell."""
    # Above 0 and up to the most: the half-open interval that numpy draws from, turned round.
    frequency = parameters.most_reads - parameters.most_reads * rng.random(parameters.objects)
    own = 0 if parameters.differing is None or number == 0 else parameters.differing
    kinds = [0] * len(tree.functions)
    for node in reversed(range(len(tree.functions))):  # a child is always after its parent
        function = (number, node) if node < own else int(tree.functions[node])
        kinds[node] = catalogue.number(
            function, [kinds[child] for child in tree.children[node]], tree.objects[node]
        )
    operators = []
    for node, kind in enumerate(kinds):
        work_ms, output_bytes = catalogue.work_and_output[kind]
        reads = tuple(Read(f"object{k}", float(frequency[k])) for k in sorted(tree.objects[node]))
        operators.append(
            Operator(f"n{node}", work_ms=work_ms, output_bytes=output_bytes, type=f"op{kind}", reads=reads)
        )
    streams = tuple(
        Stream(f"n{child}", f"n{node}") for node, children in enumerate(tree.children) for child in children
    )
    throughput = float(uniform(rng, parameters.least_throughput, parameters.most_throughput))
    return Application(f"app{number}", tuple(operators), streams, throughput_per_s=throughput)
