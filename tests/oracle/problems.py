"""Hypothesis strategies for random small problems and plans that cover all fields of the contract.

Every problem is valid: names are known, applications have no cycles, every operator has a node that may host
it, equal operators agree in work_ms and output_bytes, the objective can be computed. Whether a plan exists
that keeps all constraints is open.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies

from .metrics import METRIC_OF_OBJECTIVE
from .situation import Model
from .workload import Structure, Workload

Value = TypeVar("Value")
Entry = dict[str, Any]

NODE_NAMES = ("rome", "paris", "oslo", "bern", "graz", "lyon")
APPLICATION_NAMES = ("first", "second", "third")
OBJECT_NAMES = ("camera", "gauge", "map")
TYPE_NAMES = ("tag", "join", "count", "parse")
LABELS = {"zone": ("north", "south"), "tier": ("edge", "core")}
GROUPINGS = ("shuffle", "all", "global")

# Small pools make ties likely; 0.1 + 0.2 and 0.3 tie only where sums are exact.
DELAYS = (0, 1, 2, 3, 5, 0.1, 0.2, 0.3, 12.5, 40)
RATES = (100, 7, 0.1, 250.5, 0, 1000)
BANDWIDTHS = (200, 100, 50, 400, 0.3, 1e8)
AVAILABILITIES = (1, 0.9, 0.99, 0.5, 0.999, 0)
COSTS = (0, 1, 3, 0.25)
PRICES = (0, 0.02, 0.11, 1e4)
SPEEDS = (1, 2, 0.5, 1.5, 1.0)
CAPACITIES = (4, 2, 100, 1, 0.3, 0.5, 0)
GENEROUS_CAPACITIES = (1, 2, 3, 4, 100)
DEMANDS = (0.1, 0.2, 0, 0.5, 1, 2)
WORKS = (1, 2.5, 10, 100, 0, 0.1, 400)
THROUGHPUTS = (1, 0.5, 2, 10, 0)
SIZES = (0, 1, 8, 1000, 0.5)
HEADROOMS = (0, 0.1, 0.25, 0.5)
COORDINATES = (0, 1, -3.5, 10, 4)

RATE_OBJECTIVES = (
    "traffic",
    "network_usage",
    "elastic_energy",
    "communication_cost",
    "cost_per_hour",
    "bandwidth_sum",
    "bandwidth_max",
)
PLAIN_OBJECTIVES = (
    "response_time",
    "response_time_sum",
    "availability",
    "placement_cost",
    "nodes_used",
    "enrolled_speed",
    "carbon",
)
CONTAINER_OBJECTIVES = ("containers_used", "container_traffic")
MOVE_OBJECTIVES = ("moved_instances", "moved_state")
LATER_OBJECTIVES = ("failover_response_time",)  # only where there are losses to survive
OBJECTIVES = tuple(key for key in METRIC_OF_OBJECTIVE if key not in LATER_OBJECTIVES)


class Dice:
    """Draws with short names; everything shrinks towards "no", the fewest and the first."""

    def __init__(self, draw: strategies.DrawFn) -> None:
        """Wrap hypothesis' draw function."""
        self.draw = draw

    def whether(self, one_in: int = 2) -> bool:
        """Say yes once in so many times."""
        return self.draw(strategies.integers(0, one_in - 1)) == one_in - 1

    def count(self, low: int, high: int) -> int:
        """Draw a whole number."""
        return self.draw(strategies.integers(low, max(low, high)))

    def rather_many(self, low: int, high: int) -> int:
        """Draw a whole number, the higher ones more often."""
        return max(self.count(low, high), self.count(low, high))

    def pick(self, pool: Sequence[Value]) -> Value:
        """Draw one of a pool."""
        return self.draw(strategies.sampled_from(pool))

    def number(self, pool: Sequence[float]) -> float:
        """Draw a number of a pool, or now and then any number of that size with few digits."""
        if self.whether(4):
            return self.draw(strategies.integers(1, 1000)) * max(pool[:5]) / 1000
        return self.pick(pool)

    def some(self, pool: Iterable[Value], at_least: int = 0) -> list[Value]:
        """Draw a part of a pool, in its order."""
        chosen = list(pool)
        while len(chosen) > at_least and self.whether():
            chosen.pop(self.count(0, len(chosen) - 1))
        return chosen

    def shuffled(self, pool: Sequence[Value]) -> list[Value]:
        """Draw an order."""
        return self.draw(strategies.permutations(pool))

    def maybe(self, entry: Entry, key: str, pool: Sequence[float], one_in: int = 2) -> None:
        """Write an optional number."""
        if self.whether(one_in):
            entry[key] = self.number(pool)


@dataclass(frozen=True)
class Shape:
    """What a problem may contain."""

    min_nodes: int = 1
    max_nodes: int = 5
    min_operators: int = 1
    max_operators: int = 4
    max_applications: int = 2
    max_instances: int = 10
    max_parallelism: int = 3
    objects: bool = True
    containers: bool = True
    types: bool = True
    rates_known: bool = False
    throughputs: bool = False  # every application has one, above 0
    generous: bool = False  # mostly linked, mostly with room


# Networks


def make_network(dice: Dice, shape: Shape, objects: list[str]) -> Entry:
    """Draw the `network` part of a problem."""
    names = dice.shuffled(NODE_NAMES)[: dice.rather_many(shape.min_nodes, shape.max_nodes)]
    dimensions = dice.count(1, 3)
    nodes = [make_node(dice, shape, name, dimensions) for name in names]
    if not any(node.get("hosts", True) for node in nodes):
        del nodes[0]["hosts"]
    for name in objects:
        for holder in dice.some(nodes, at_least=1):
            holder.setdefault("holds", []).append(name)
    network: Entry = {"nodes": nodes}
    add_settings(dice, shape, network)
    add_links(dice, shape, network, names)
    return network


def add_settings(dice: Dice, shape: Shape, network: Entry) -> None:
    """Draw the network's settings."""
    if dice.whether(3):
        network["symmetric"] = dice.whether()
    if dice.whether(3):
        network["routing"] = dice.pick(("shortest_path", "direct"))
    if dice.whether(3):
        network["duplex"] = dice.pick(("half", "full"))
    if dice.whether(3):
        network["one_port"] = dice.whether()
    if dice.whether(6 if shape.generous else 3):
        network["headroom"] = dice.pick(HEADROOMS)


def make_node(dice: Dice, shape: Shape, name: str, dimensions: int) -> Entry:
    """Draw one node."""
    node: Entry = {"name": name}
    if dice.whether(6):
        node["hosts"] = not dice.whether(3) and dice.whether()
    if shape.generous or not dice.whether(4):
        pool = GENEROUS_CAPACITIES if shape.generous else CAPACITIES
        resources = (
            ["cpu", "memory"] if shape.generous or not dice.whether(4) else dice.some(("cpu", "memory"))
        )
        node["capacity"] = {resource: dice.number(pool) for resource in resources}
    dice.maybe(node, "speed", SPEEDS)
    dice.maybe(node, "availability", AVAILABILITIES, 3)
    if dice.whether(4):
        node["run_queue"] = dice.count(0, 3)
    dice.maybe(node, "nic_bytes_per_s", BANDWIDTHS, 12 if shape.generous else 4)
    dice.maybe(node, "cost_per_hour", COSTS, 3)
    dice.maybe(node, "carbon_g_per_hour", COSTS, 3)
    if dice.whether(4):
        add_coordinates(dice, node, dimensions)
    if dice.whether():
        node["labels"] = {label: dice.pick(LABELS[label]) for label in dice.some(LABELS)}
    return node


def add_coordinates(dice: Dice, node: Entry, dimensions: int) -> None:
    """Draw coordinates, and perhaps a height."""
    node["coordinates"] = [dice.pick(COORDINATES) for _ in range(dimensions)]
    dice.maybe(node, "height_ms", DELAYS)


def add_links(dice: Dice, shape: Shape, network: Entry, names: list[str]) -> None:
    """Draw links, matrices, both or neither."""
    if dice.whether(4):
        add_matrices(dice, shape, network, len(names))
    if shape.generous or "delay_ms" not in network or dice.whether():
        pairs = [(start, end) for start in names for end in names if start != end]
        network["links"] = [
            make_link(dice, network, start, end)
            for start, end in dice.shuffled(pairs)
            if not dice.whether(8 if shape.generous else 3)
        ]


def make_link(dice: Dice, network: Entry, start: str, end: str) -> Entry:
    """Draw an entry of links; its delay may be left to a matrix that has one for both ways."""
    link: Entry = {"from": start, "to": end, "delay_ms": dice.number(DELAYS)}
    dice.maybe(link, "bandwidth_bytes_per_s", BANDWIDTHS, 3)
    dice.maybe(link, "availability", AVAILABILITIES, 4)
    dice.maybe(link, "cost", COSTS, 4)
    dice.maybe(link, "price_per_gb", PRICES, 4)
    if has_matrix_delay(network, start, end) and dice.whether():
        del link["delay_ms"]
    return link


def has_matrix_delay(network: Entry, start: str, end: str) -> bool:
    """Tell whether the delay matrix has an entry for a pair, both ways."""
    names = [node["name"] for node in network["nodes"]]
    first, second = names.index(start), names.index(end)
    matrix = network.get("delay_ms")
    return matrix is not None and matrix[first][second] is not None and matrix[second][first] is not None


def add_matrices(dice: Dice, shape: Shape, network: Entry, count: int) -> None:
    """Draw full matrices, with nulls; what their diagonals say means nothing."""
    fields = {
        "delay_ms": DELAYS,
        "availability": AVAILABILITIES,
        "bandwidth_bytes_per_s": BANDWIDTHS,
        "cost": COSTS,
        "price_per_gb": PRICES,
    }
    for field in dice.some(fields):
        empty_one_in = 8 if shape.generous else 3
        network[field] = [
            [make_cell(dice, fields[field], row == column, empty_one_in) for column in range(count)]
            for row in range(count)
        ]


def make_cell(dice: Dice, pool: Sequence[float], on_diagonal: bool, empty_one_in: int) -> float | None:
    """Draw one entry of a matrix."""
    if on_diagonal:
        return dice.pick((0, None, 0.25))
    return None if dice.whether(empty_one_in) else dice.number(pool)


# Applications


@dataclass
class Draft:
    """What the applications of one problem have in common while it is made."""

    dice: Dice
    shape: Shape
    nodes: list[Entry]
    objects: list[str]
    types: dict[str, Entry]
    instances_left: int

    @property
    def hosting(self) -> list[Entry]:
        """The nodes that run operators."""
        return [node for node in self.nodes if node.get("hosts", True)]

    def parallelism(self, operators_left: int) -> int:
        """Draw a parallelism that leaves an instance for each operator to come."""
        room = self.instances_left - operators_left
        drawn = self.dice.count(1, min(self.shape.max_parallelism, room)) if self.dice.whether(3) else 1
        self.instances_left -= drawn
        return drawn


def make_types(dice: Dice) -> dict[str, Entry]:
    """Draw what operators of one type agree in."""
    types: dict[str, Entry] = {}
    for name in TYPE_NAMES:
        types[name] = {}
        dice.maybe(types[name], "work_ms", WORKS)
        dice.maybe(types[name], "output_bytes", SIZES)
    return types


def make_application(draft: Draft, name: str, operator_count: int, operators_after: int) -> Entry:
    """Draw one application with so many operators."""
    dice = draft.dice
    application: Entry = {"name": name}
    with_containers = draft.shape.containers and dice.whether(4)
    if draft.shape.throughputs or dice.whether():
        application["throughput_per_s"] = dice.number(THROUGHPUTS[: 4 if draft.shape.throughputs else 5])
    names = [f"step{number}" for number in range(operator_count)]
    edges = make_edges(dice, names)
    homes = {operator: dice.pick(draft.hosting) for operator in names}
    operators = []
    for number, operator in enumerate(names):
        is_source = all(end != operator for _, end in edges)
        left = operators_after + operator_count - number - 1
        operators.append(
            make_operator(draft, operator, homes[operator], is_source, left, typed=not with_containers)
        )
    application["operators"] = dice.shuffled(operators)
    if edges or dice.whether():
        application["streams"] = [make_stream(dice, start, end) for start, end in dice.shuffled(edges)]
    if with_containers:
        application["containers"] = make_containers(dice, draft.shape)
    add_requirements(dice, draft.shape, application)
    add_rules(dice, draft.shape, application, homes)
    return application


def make_edges(dice: Dice, names: list[str]) -> list[tuple[str, str]]:
    """Draw the ends of streams; each operator reads at most two earlier ones, so there are no cycles."""
    edges = []
    for number, name in enumerate(names):
        for _ in range(dice.pick((1, 2, 1, 0)) if number else 0):
            edge = (names[dice.count(0, number - 1)], name)
            if edge not in edges:
                edges.append(edge)
    return edges


def make_stream(dice: Dice, start: str, end: str) -> Entry:
    """Draw one stream."""
    stream: Entry = {"from": start, "to": end}
    dice.maybe(stream, "bytes_per_s", RATES)
    if dice.whether():
        stream["grouping"] = dice.pick(GROUPINGS)
    return stream


def make_operator(
    draft: Draft, name: str, home: Entry, is_source: bool, operators_left: int, *, typed: bool
) -> Entry:
    """Draw one operator that its home may host."""
    dice = draft.dice
    operator: Entry = {"name": name}
    dice.maybe(operator, "work_ms", WORKS, 2)
    dice.maybe(operator, "output_bytes", SIZES, 3)
    parallelism = draft.parallelism(operators_left)
    if parallelism > 1 or dice.whether(6):
        operator["parallelism"] = parallelism
    if is_source and (draft.shape.rates_known or dice.whether()):
        operator["emits_bytes_per_s"] = dice.number(RATES)
    dice.maybe(operator, "selectivity", (0, 0.5, 1, 2, 0.1), 3)
    dice.maybe(operator, "state_bytes", SIZES, 3)
    add_placing(draft, operator, home)
    if draft.objects and dice.whether(3):
        operator["reads"] = [
            {"object": entry, "per_s": dice.number(THROUGHPUTS)} for entry in dice.some(draft.objects)
        ]
    if typed and draft.shape.types and dice.whether(3):
        set_type(operator, dice.pick(TYPE_NAMES), draft.types)
    return operator


def set_type(operator: Entry, name: str, types: dict[str, Entry]) -> None:
    """Give an operator a type, and what all operators of the type agree in."""
    operator.pop("work_ms", None)
    operator.pop("output_bytes", None)
    operator.update(types[name], type=name)


def add_placing(draft: Draft, operator: Entry, home: Entry) -> None:
    """Draw demand, candidates and placement costs."""
    dice = draft.dice
    if dice.whether(2 if draft.shape.generous else 3):
        demand_pool = DEMANDS[:5] if draft.shape.generous else DEMANDS
        operator["demand"] = {name: dice.number(demand_pool) for name in dice.some(("cpu", "memory"))}
        if not draft.shape.generous and dice.whether(12):
            operator["demand"]["gpu"] = dice.pick((0, 1))
    if dice.whether(4):
        operator["pinned"] = home["name"]
    elif dice.whether(3):
        operator["candidates"] = [
            node["name"] for node in dice.shuffled(draft.nodes) if node is home or dice.whether()
        ]
    if dice.whether(4):
        operator["placement_cost"] = {node["name"]: dice.number(COSTS) for node in dice.some(draft.nodes)}


def make_containers(dice: Dice, shape: Shape) -> Entry:
    """Draw an application's containers."""
    pool = (1, 2, 0.5) if shape.generous else CAPACITIES
    resources = ["cpu", "memory"] if shape.generous else dice.some(("cpu", "memory"))
    return {"count": dice.count(1, 4), "capacity": {name: dice.number(pool) for name in resources}}


def add_requirements(dice: Dice, shape: Shape, application: Entry) -> None:
    """Draw an application's requirements."""
    one_in = 6 if shape.generous else 3
    dice.maybe(application, "max_response_time_ms", (20, 5, 50, 120, 0, 1000), one_in)
    dice.maybe(application, "min_availability", (0.5, 0.9, 0, 0.81, 1), one_in)


def add_rules(dice: Dice, shape: Shape, application: Entry, homes: dict[str, Entry]) -> None:
    """Draw an application's rules; `where` names only operators whose home has the labels."""
    rules: list[Entry] = []
    names = dice.shuffled(list(homes))
    one_in = 8 if shape.generous else 4
    if dice.whether(one_in):
        rules.append({"together": names[: dice.count(1, 3)]})
    if dice.whether(one_in):
        rule: Entry = {"apart": names[-dice.count(1, 3) :]}
        if dice.whether():
            rule["by"] = dice.pick(tuple(LABELS))
        rules.append(rule)
    if dice.whether(one_in):
        spread: Entry = {"spread": names[-dice.count(1, 3) :], "most": dice.count(1, 3)}
        if dice.whether():
            spread["by"] = dice.pick(tuple(LABELS))
        rules.append(spread)
    if dice.whether(one_in):
        rules.extend(make_where(dice, homes))
    if rules or dice.whether(8):
        application["rules"] = rules


def make_where(dice: Dice, homes: dict[str, Entry]) -> list[Entry]:
    """Draw a `where` rule, if an operator's home has labels."""
    labels = dice.pick(list(homes.values())).get("labels", {})
    wanted = {label: labels[label] for label in dice.some(labels, at_least=min(1, len(labels)))}
    suited = [name for name, home in homes.items() if wanted.items() <= home.get("labels", {}).items()]
    return [{"where": wanted, "operators": dice.some(suited, at_least=1)}] if wanted else []


# Objectives


def usable_objectives(problem: Entry) -> tuple[str, ...]:
    """Return the objective keys that can be computed for every plan that keeps all constraints."""
    workload = Workload(problem)
    found = list(PLAIN_OBJECTIVES)
    has_rates = all(workload.stated_total(stream) is not None for stream in workload.streams)
    has_containers = any("containers" in application for application in problem["applications"])
    throughputs = [application.get("throughput_per_s") for application in problem["applications"]]
    if has_rates:
        found.extend(RATE_OBJECTIVES)
    if has_containers:
        found.extend(CONTAINER_OBJECTIVES if has_rates else CONTAINER_OBJECTIVES[:1])
    if None not in throughputs:
        found.extend(("processing_power", "utilisation_max"))
    if not any("nic_bytes_per_s" in node for node in problem["network"]["nodes"]) or (
        has_rates and all(throughputs)
    ):
        found.append("loaded_response_time")
    return tuple(key for key in OBJECTIVES if key in found)


def add_objective(dice: Dice, problem: Entry) -> None:
    """Draw an objective, its scale and its bounds."""
    if not dice.whether():
        return
    keys = dice.shuffled(usable_objectives(problem))[: dice.count(1, 3)]
    problem["objective"] = {key: dice.pick((1, 0.5, 0.25)) for key in keys}
    if dice.whether(4):
        problem["objective_scale"] = dice.pick(("raw", "normalised"))
    if dice.whether(4):
        problem["objective_bounds"] = {
            key: [0.75, 0.25] if key == "availability" else [0.25, 0.75] for key in dice.some(keys)
        }


# Problems


def make_problem(dice: Dice, shape: Shape) -> Entry:
    """Draw a problem of a shape."""
    objects = dice.some(OBJECT_NAMES) if shape.objects and dice.whether() else []
    network = make_network(dice, shape, objects)
    draft = Draft(dice, shape, network["nodes"], objects, make_types(dice), shape.max_instances)
    problem: Entry = {"format": "berth/v1", "name": "random", "network": network}
    if objects:
        problem["objects"] = [{"name": name, "bytes": dice.number(SIZES)} for name in objects]
    problem["applications"] = make_applications(draft)
    if dice.whether(4):
        problem["sharing"] = dice.whether()
    add_objective(dice, problem)
    return problem


def make_applications(draft: Draft) -> list[Entry]:
    """Draw the applications, with an instance at least for each operator."""
    counts: list[int] = []
    for _ in range(draft.dice.count(1, draft.shape.max_applications)):
        room = draft.shape.max_instances - sum(counts)
        if room > 0:
            most = min(draft.shape.max_operators, room)
            counts.append(draft.dice.rather_many(min(draft.shape.min_operators, most), most))
    return [
        make_application(draft, APPLICATION_NAMES[number], count, sum(counts[number + 1 :]))
        for number, count in enumerate(counts)
    ]


@strategies.composite
def problems(
    draw: strategies.DrawFn,
    *,
    max_operators: int = 4,
    max_nodes: int = 5,
    max_applications: int = 2,
    max_instances: int = 10,
    max_parallelism: int = 3,
    rates_known: bool = False,
    generous: bool | None = None,
) -> Entry:
    """Make random valid problems with all fields of the contract; generous ones mostly have room."""
    dice = Dice(draw)
    shape = Shape(
        max_nodes=max_nodes,
        max_operators=max_operators,
        max_applications=max_applications,
        max_instances=max_instances,
        max_parallelism=max_parallelism,
        rates_known=rates_known,
        generous=dice.whether() if generous is None else generous,
    )
    return make_problem(dice, shape)


@strategies.composite
def solvable_problems(
    draw: strategies.DrawFn, objective: str | None = None, *, max_nodes: int = 4, max_instances: int = 6
) -> Entry:
    """Make random problems small enough to enumerate, for one objective key (else for any).

    Reuse can't help: operators are equal to others only where `sharing` is false. For `moved_...`, draw a
    previous plan from `previous_plans`. Some of these problems have no plan that keeps all constraints.
    """
    dice = Dice(draw)
    key = dice.pick(OBJECTIVES) if objective is None else objective
    problem = make_problem(dice, solvable_shape(dice, key, max_nodes, max_instances))
    problem["objective"] = {key: 1.0}
    if key == "failover_response_time":
        problem["survive"] = "node"
    problem.pop("objective_scale", None)
    problem.pop("objective_bounds", None)
    if key in CONTAINER_OBJECTIVES and not any("containers" in entry for entry in problem["applications"]):
        problem["applications"][0]["containers"] = make_containers(dice, Shape(generous=True))
        for operator in problem["applications"][0]["operators"]:
            operator.pop("type", None)
    if has_equal_operators(problem):
        problem["sharing"] = False
    return problem


def solvable_shape(dice: Dice, key: str, max_nodes: int, max_instances: int) -> Shape:
    """Keep the choices few: of holders for downloads and of containers there are many for each assignment."""
    shape = Shape(
        min_nodes=min(2, max_nodes),
        max_nodes=max_nodes,
        min_operators=3,
        max_operators=5,
        max_instances=max_instances,
        objects=False,
        containers=False,
        rates_known=True,
        throughputs=key in ("processing_power", "loaded_response_time", "utilisation_max") or dice.whether(),
        generous=dice.whether(4) is False,
    )
    few = replace(shape, max_nodes=min(3, max_nodes), max_instances=min(4, max_instances))
    if key in CONTAINER_OBJECTIVES:
        return replace(few, containers=True)
    with_objects = dice.whether(4) and key != "failover_response_time"
    return replace(few, objects=True) if with_objects else shape


def has_equal_operators(problem: Entry) -> bool:
    """Tell whether two different operators are equal."""
    workload = Workload(problem)
    classes = [entry for entry in map(workload.equality_class, workload.operators) if entry is not None]
    return len(classes) != len(set(classes))


@strategies.composite
def sharing_problems(
    draw: strategies.DrawFn,
    *,
    max_operators: int = 4,
    max_nodes: int = 3,
    max_applications: int = 3,
    max_instances: int = 12,
) -> Entry:
    """Make random problems whose applications compute many of the same things from the same objects.

    Each application is a part of one template with everything that feeds it, so equal operators abound.
    """
    dice = Dice(draw)
    shape = Shape(
        max_nodes=max_nodes,
        max_operators=max_operators,
        max_instances=max_instances,
        throughputs=not dice.whether(6),
        rates_known=not dice.whether(6),
        generous=not dice.whether(4),
        containers=False,
    )
    objects = dice.some(OBJECT_NAMES, at_least=1)
    network = make_network(dice, shape, objects)
    draft = Draft(dice, shape, network["nodes"], objects, make_types(dice), shape.max_instances)
    template = make_template(draft, dice.rather_many(1, max_operators))
    problem: Entry = {
        "format": "berth/v1",
        "name": "shared",
        "network": network,
        "objects": [{"name": name, "bytes": dice.number(SIZES)} for name in objects],
        "applications": [],
    }
    for number in range(dice.count(min(2, max_applications), max_applications)):
        if draft.instances_left > 0:
            problem["applications"].append(take_part(draft, template, APPLICATION_NAMES[number]))
    if dice.whether(6):
        problem["sharing"] = dice.whether()
    add_objective(dice, problem)
    return problem


@dataclass(frozen=True)
class Template:
    """Operators' names, what they have in common in all applications, and who feeds whom."""

    names: list[str]
    common: dict[str, Entry]
    objects: dict[str, list[str]]
    edges: list[tuple[str, str]]


def make_template(draft: Draft, count: int) -> Template:
    """Draw a template; few types, so that some of its own operators are equal too."""
    dice = draft.dice
    names = [f"step{number}" for number in range(count)]
    edges = make_edges(dice, names)
    common: dict[str, Entry] = {}
    objects = {}
    for name in names:
        common[name] = {}
        if not dice.whether(8):
            set_type(common[name], dice.pick(TYPE_NAMES[:3]), draft.types)
        is_source = all(end != name for _, end in edges)
        objects[name] = dice.some(draft.objects, at_least=1 if is_source and not dice.whether(8) else 0)
    return Template(names, common, objects, edges)


def take_part(draft: Draft, template: Template, name: str) -> Entry:
    """Draw an application: a part of the template, closed upwards, as long as there are instances left."""
    dice = draft.dice
    wanted = {dice.pick(template.names)} | set(dice.some(template.names))
    for start, end in sorted(template.edges, key=lambda edge: template.names.index(edge[1]), reverse=True):
        if end in wanted:
            wanted.add(start)
    kept = [entry for entry in template.names if entry in wanted][: draft.instances_left]
    edges = [edge for edge in template.edges if edge[0] in kept and edge[1] in kept]
    application: Entry = {"name": name}
    if draft.shape.throughputs or dice.whether():
        application["throughput_per_s"] = dice.number(THROUGHPUTS[:4])
    homes = {entry: dice.pick(draft.hosting) for entry in kept}
    application["operators"] = dice.shuffled(
        [
            shared_operator(draft, template, entry, homes[entry], len(kept) - 1 - kept.index(entry))
            for entry in kept
        ]
    )
    application["streams"] = [make_stream(dice, start, end) for start, end in dice.shuffled(edges)]
    add_requirements(dice, draft.shape, application)
    add_rules(dice, draft.shape, application, homes)
    return application


def shared_operator(draft: Draft, template: Template, name: str, home: Entry, operators_left: int) -> Entry:
    """Draw one application's version of a template's operator."""
    dice = draft.dice
    operator: Entry = {"name": name, **template.common[name]}
    if dice.whether(4):
        operator["parallelism"] = draft.parallelism(operators_left)
    else:
        draft.instances_left -= 1
    if draft.shape.rates_known and all(end != name for _, end in template.edges):
        operator["emits_bytes_per_s"] = dice.number(RATES)
    reads = [{"object": entry, "per_s": dice.number(THROUGHPUTS)} for entry in template.objects[name]]
    if reads:
        operator["reads"] = reads
    if dice.whether(3):
        add_placing(draft, operator, home)
    return operator


# Plans


@strategies.composite
def plans(draw: strategies.DrawFn, problem: Entry, *, wrong: bool = True) -> Entry:
    """Make random plans for a problem.

    With wrong, some plans are incomplete, use nodes that are not allowed, name the wrong downloads,
    containers, or reuse; without, only constraints of capacity, rates, requirements and rules may break.
    """
    dice = Dice(draw)
    model = Model(problem)
    structure = make_structure(dice, model, wrong)
    plan: Entry = {"format": "berth-plan/v1", "problem": problem["name"]}
    plan["assignment"] = make_assignment(dice, model, structure, wrong)
    if structure.reuse or dice.whether(4):
        plan["reuse"] = structure.reuse
    if structure.skipped or dice.whether(4):
        plan["skipped"] = sorted(structure.skipped)
    plan["downloads"] = make_downloads(dice, model, plan, wrong)
    has_containers = any("containers" in application for application in problem["applications"])
    if has_containers and not (wrong and dice.whether(8)):
        plan["containers"] = fill_containers(dice, model, plan["assignment"], wrong)
    return plan


@strategies.composite
def previous_plans(draw: strategies.DrawFn, problem: Entry) -> Entry:
    """Make random plans to move away from: some or all instances, each on a node that it may have."""
    dice = Dice(draw)
    model = Model(problem)
    assignment = make_assignment(dice, model, model.structure({}, ()), wrong=False)
    if dice.whether(3):
        assignment = dict(dice.some(assignment.items()))
    return {"format": "berth-plan/v1", "problem": problem["name"], "assignment": assignment}


def make_structure(dice: Dice, model: Model, wrong: bool) -> Structure:
    """Draw what is reused and skipped."""
    reuse = make_reuse(dice, model)
    skipped = make_skipped(dice, model, reuse)
    keys = list(model.workload.operators)
    if wrong and len(keys) > 1 and dice.whether(12):
        taker, provider = dice.shuffled(keys)[:2]
        reuse[taker] = provider
    if wrong and dice.whether(12):
        skipped = skipped | {dice.pick(keys)}
    return model.structure(reuse, skipped - reuse.keys())


def make_reuse(dice: Dice, model: Model) -> dict[str, str]:
    """Draw takers of equal operators' results; a provider is computed itself."""
    reuse: dict[str, str] = {}
    if not model.workload.sharing or not dice.whether():
        return reuse
    for taker in dice.shuffled(list(model.workload.operators)):
        own = model.workload.equality_class(taker)
        equal = [
            other
            for other in model.workload.operators
            if other not in (taker, *reuse)
            and own is not None
            and model.workload.equality_class(other) == own
        ]
        if equal and taker not in reuse.values() and dice.whether():
            reuse[taker] = dice.pick(equal)
    return reuse


def make_skipped(dice: Dice, model: Model, reuse: dict[str, str]) -> frozenset[str]:
    """Draw operators to skip among those that nobody needs any more."""
    skipped: set[str] = set()
    changed = not dice.whether(6)
    while changed:
        changed = False
        for key in model.workload.operators:
            consumers = [stream.receiver for stream in model.workload.outputs[key]]
            unneeded = consumers and all(entry in skipped or entry in reuse for entry in consumers)
            if unneeded and key not in skipped and key not in reuse and key not in reuse.values():
                skipped.add(key)
                changed = True
    return frozenset(skipped)


def make_assignment(dice: Dice, model: Model, structure: Structure, wrong: bool) -> dict[str, str]:
    """Draw a node for each computed instance; often few different ones, so that links and rates can hold."""
    nodes = [node["name"] for node in model.network.nodes]
    hosting = [node["name"] for node in model.network.nodes if node.get("hosts", True)]
    favourite = dice.pick(hosting) if dice.whether() else None
    careless = wrong and dice.whether(6)
    assignment = {}
    for instance in structure.instances:
        candidates = model.workload.operators[instance.operator].candidates
        allowed = [name for name in hosting if candidates is None or name in candidates]
        anywhere = careless and dice.whether(3)
        is_favourite = favourite in allowed and not anywhere and not dice.whether(4)
        node = (
            favourite if is_favourite and favourite is not None else dice.pick(nodes if anywhere else allowed)
        )
        assignment[instance.name] = node
    if wrong and assignment and dice.whether(10):
        del assignment[dice.pick(list(assignment))]
    return assignment


def make_downloads(dice: Dice, model: Model, plan: Entry, wrong: bool) -> list[dict[str, str]]:
    """Draw a holder for each download that a plan needs, and perhaps a mistake."""
    nodes = model.network.nodes
    downloads = []
    for name, number in sorted(model.situation(plan).wanted_downloads):
        holders = [node["name"] for node in nodes if name in node.get("holds", [])]
        downloads.append({"object": name, "from": dice.pick(holders), "to": nodes[number]["name"]})
    if wrong and model.object_bytes and dice.whether(6):
        spoil_downloads(dice, model, downloads)
    return downloads


def spoil_downloads(dice: Dice, model: Model, downloads: list[dict[str, str]]) -> None:
    """Drop a download, double one, or add any other one."""
    names = [node["name"] for node in model.network.nodes]
    mistake = dice.pick(("drop", "double", "other"))
    if mistake == "drop" and downloads:
        downloads.pop(dice.count(0, len(downloads) - 1))
    elif mistake == "double" and downloads:
        downloads.append(dict(dice.pick(downloads)))
    elif len(names) > 1:
        start, end = dice.shuffled(names)[:2]
        downloads.append({"object": dice.pick(sorted(model.object_bytes)), "from": start, "to": end})


def fill_containers(dice: Dice, model: Model, assignment: dict[str, str], wrong: bool) -> dict[str, str]:
    """Draw a container for each instance that needs one, on its node where that is possible."""
    containers: dict[str, str] = {}
    node_of: dict[str, str] = {}
    for instance, node in assignment.items():
        application = instance.split("/")[0]
        description = model.workload.applications[application].get("containers")
        if description is None:
            continue
        every = [f"{application}/c{number}" for number in range(description["count"])]
        suited = [name for name in every if node_of.get(name, node) == node]
        containers[instance] = dice.pick(suited if suited and not (wrong and dice.whether(12)) else every)
        node_of[containers[instance]] = node
    if wrong and containers and dice.whether(12):
        del containers[dice.pick(list(containers))]
    return containers
