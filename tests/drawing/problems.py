"""Small problems and plans to draw."""

from __future__ import annotations

import itertools
import random

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Read, Stream
from berth.model.problem import DataObject


def chain(names: str = "source work sink", name: str = "app", rate: float | None = 1000.0) -> Application:
    """Operators one after the other."""
    words = names.split()
    operators = [Operator(word, demand={"cpu": 1.0}, work_ms=1.0) for word in words]
    operators[0] = Operator(words[0], demand={"cpu": 1.0}, work_ms=1.0, emits_bytes_per_s=rate)
    streams = tuple(Stream(left, right) for left, right in itertools.pairwise(words))
    return Application(name, tuple(operators), streams)


def three_nodes(**settings: object) -> Network:
    """rome, paris and oslo; rome and oslo are far apart."""
    nodes = tuple(Node(name, capacity={"cpu": 4.0}) for name in ("rome", "paris", "oslo"))
    links = (
        Link("rome", "paris", delay_ms=10.0, bandwidth_bytes_per_s=2000.0),
        Link("paris", "oslo", delay_ms=15.0),
        Link("rome", "oslo", delay_ms=40.0),
    )
    return Network(nodes, links, **settings)  # type: ignore[arg-type]


def small() -> tuple[Problem, Plan]:
    """A chain over all three nodes."""
    problem = Problem("small", three_nodes(), (chain(),))
    return problem, Plan({"app/source": "rome", "app/work": "paris", "app/sink": "oslo"}, policy="by-hand")


def diamond() -> tuple[Problem, Plan]:
    """Two ways from the source to the sink, the upper one slower; the middle operators have two instances."""
    application = Application(
        "diamond",
        (
            Operator("source", work_ms=1.0, emits_bytes_per_s=100.0),
            Operator("slow", work_ms=9.0, parallelism=2),
            Operator("fast", work_ms=2.0, parallelism=2),
            Operator("sink", work_ms=1.0),
        ),
        (Stream("source", "slow"), Stream("source", "fast"), Stream("slow", "sink"), Stream("fast", "sink")),
    )
    problem = Problem("diamond", three_nodes(), (application,))
    places = {"source": "rome", "slow#0": "rome", "slow#1": "paris", "fast#0": "rome", "fast#1": "rome"}
    places["sink"] = "rome"
    return problem, Plan({f"diamond/{instance}": node for instance, node in places.items()})


def without_link() -> tuple[Problem, Plan]:
    """A plan that needs a link that the network lacks."""
    network = Network(
        (Node("rome"), Node("paris"), Node("oslo")), (Link("rome", "paris", delay_ms=5.0),), symmetric=True
    )
    problem = Problem("without-link", network, (chain(),))
    return problem, Plan({"app/source": "rome", "app/work": "paris", "app/sink": "oslo"})


def routed_without_path() -> tuple[Problem, Plan]:
    """The same where links are routed."""
    problem, plan = without_link()
    network = Network(problem.network.nodes, problem.network.links, routing="shortest_path")
    return Problem("routed-without-path", network, problem.applications), plan


def incomplete() -> tuple[Problem, Plan]:
    """Only the source has a node."""
    problem, _ = small()
    return problem, Plan({"app/source": "rome"})


def nothing_placed() -> tuple[Problem, Plan]:
    """A plan without any assignment."""
    return small()[0], Plan(status="unknown")


def unknown_rates() -> tuple[Problem, Plan]:
    """No stream has a rate."""
    _, plan = small()
    return Problem("unknown-rates", three_nodes(), (chain(rate=None),)), plan


def several_applications() -> tuple[Problem, Plan]:
    """Two chains and an application of one operator; half duplex, with throughputs and network cards."""
    nodes = tuple(Node(name, nic_bytes_per_s=1e6, coordinates=(x, 1.0, 2.0)) for x, name in enumerate("abc"))
    lonely = Application("lonely", (Operator("only", work_ms=20.0),), throughput_per_s=10.0)
    applications = (chain(name="one"), chain("in out", name="two"), lonely)
    problem = Problem("several", Network(nodes, duplex="half"), applications)
    instances = problem.instances.names
    return problem, Plan({name: "abc"[number % 3] for number, name in enumerate(instances)})


def reused() -> tuple[Problem, Plan]:
    """The second application takes a result of the first one; an object is downloaded."""
    nodes = (Node("rome", holds=frozenset({"camera"})), Node("paris"))
    network = Network(nodes, (Link("rome", "paris", delay_ms=5.0, bandwidth_bytes_per_s=1e6),))
    applications = tuple(
        Application(
            name,
            (
                Operator("read", type="read", reads=(Read("camera", 1.0),), output_bytes=10.0, work_ms=1.0),
                Operator("tag", type="tag", output_bytes=5.0, work_ms=2.0),
                Operator("show", work_ms=1.0),
            ),
            (Stream("read", "tag"), Stream("tag", "show")),
            throughput_per_s=2.0,
        )
        for name in ("first", "second")
    )
    problem = Problem("reused", network, applications, objects=(DataObject("camera", 1000.0),))
    assignment = {"first/read": "rome", "first/tag": "paris", "first/show": "paris", "second/show": "rome"}
    return problem, Plan(assignment, reuse={"second/tag": "first/tag"}, skipped=("second/read",))


def one_node() -> tuple[Problem, Plan]:
    """Everything on the only node there is, which is too small."""
    problem = Problem("one-node", Network((Node("alone", capacity={"cpu": 2.0}),)), (chain(),))
    return problem, Plan(dict.fromkeys(problem.instances.names, "alone"))


def awkward_names() -> tuple[Problem, Plan]:
    """Names with Rich markup, mathematics, wide and unprintable characters."""
    network = Network(
        (Node("[red]rome[/red]"), Node("$x_1$"), Node("東京\x1b[31m")),
        (Link("[red]rome[/red]", "$x_1$", delay_ms=1.0), Link("$x_1$", "東京\x1b[31m", delay_ms=1.0)),
    )
    application = chain("[bold]in 数据 [/]", name="[link=x]app")
    problem = Problem("[blink]$problem", network, (application,))
    nodes = [node.name for node in network.nodes]
    return problem, Plan(dict(zip(problem.instances.names, nodes, strict=True)), policy="[b]mine")


def large(operators: int = 60) -> tuple[Problem, Plan]:
    """A random application with many operators, on 50 nodes."""
    draw = random.Random(1)
    names = [f"op-{number}" for number in range(operators)]
    streams = {
        (names[draw.randrange(max(0, number - 5), number)], names[number])
        for number in range(1, operators)
        for _ in range(2)
    }
    members = tuple(
        Operator(name, work_ms=1.0, parallelism=1 + number % 3) for number, name in enumerate(names)
    )
    application = Application("large", members, tuple(Stream(*ends) for ends in sorted(streams)))
    nodes = tuple(
        Node(f"node-{number}", coordinates=(draw.uniform(0, 50), draw.uniform(0, 30))) for number in range(50)
    )
    problem = Problem("large", Network(nodes), (application,))
    return problem, Plan({name: f"node-{draw.randrange(50)}" for name in problem.instances.names})


EVERYTHING = (
    *(small, diamond, without_link, routed_without_path, incomplete, nothing_placed, unknown_rates),
    *(several_applications, reused, one_node, awkward_names, large),
)
