"""Processors: the load of an instance, utilisation, and the warnings about both."""

from collections.abc import Callable, Iterable, Iterator

from .amounts import fits, known
from .situation import Situation
from .workload import Instance, Stream, Structure, highest


def load(structure: Structure, instance: Instance) -> float | None:
    """Return the load of a computed instance "in processors of speed 1"; None: unknown.

    "where its application has `throughput_per_s`, throughput / parallelism x work_ms / 1000, as before.
    Otherwise work_ms / 1000 x the tuples per second that it takes in". "`work_ms: 0` is load 0 whatever the
    rates". Reading: a taker's throughput lifts the load of its provider, and lowers it never.
    """
    operator = structure.workload.operators[instance.operator]
    if operator.work_ms == 0:
        return 0.0
    tuples = tuples_per_s(structure, instance) if operator.throughput is None else None
    lifted = paced_load(structure, instance)
    return highest(lifted, None if tuples is None else operator.work_ms / 1000.0 * tuples)


def paced_load(structure: Structure, instance: Instance) -> float | None:
    """Return the load that a throughput, its own or a taker's, gives an instance; None: there is none."""
    operator = structure.workload.operators[instance.operator]
    throughput = structure.throughput[instance.operator]
    return None if throughput is None else throughput / operator.parallelism * operator.work_ms / 1000.0


def tuples_per_s(structure: Structure, instance: Instance) -> float | None:
    """Return the tuples per second that load an instance.

    What it takes in is "the sum over its incoming streams of bytes_per_s / tuple_bytes". "An operator without
    incoming streams is loaded by what it emits: the highest bytes_per_s / tuple_bytes of its outgoing
    streams, divided by its parallelism"; "an operator with neither input nor output, is an unknown load".
    """
    workload = structure.workload
    incoming = workload.inputs[instance.operator]
    if incoming:
        shares = known(taken_in(structure, stream, instance) for stream in incoming)
        return None if shares is None else sum(shares)
    emitted = known(map(workload.stated_tuples, workload.outputs[instance.operator]))
    return max(emitted) / workload.operators[instance.operator].parallelism if emitted else None


def taken_in(structure: Structure, stream: Stream, instance: Instance) -> float | None:
    """Return the tuples per second of one stream that reach an instance of its receiver.

    "divided among the receiver's instances (`shuffle`), given whole to each of them (`all`), or whole to the
    first (`global`)"; "A `global` stream of unknown rate leaves only the first instance unknown". With
    `forward`, instance k takes what instance k of the sender has: the sender's share of the whole.
    """
    if stream.grouping == "global" and instance.index > 0:
        return 0.0
    tuples = structure.workload.stated_tuples(stream)
    if tuples is None or stream.grouping in ("all", "global"):
        return tuples
    return tuples / structure.workload.operators[instance.operator].parallelism


def loads(
    situation: Situation,
    instances: Iterable[Instance],
    load_of: Callable[[Structure, Instance], float | None] = load,
) -> list[float] | None:
    """Return what instances of one node load it with; None: one of the loads is unknown.

    "Equal computations on one node count once, at the highest rate."
    """
    groups = situation.computations(instances)
    each = [known(load_of(situation.structure, instance) for instance in group) for group in groups]
    return known(None if group is None else max(group) for group in each)


def utilisation(situation: Situation, instance: Instance) -> float | None:
    """Contract: "its load / the node's speed (an instance uses one core at a time)"."""
    own = load(situation.structure, instance)
    return None if own is None else own / situation.speed(situation.node(instance))


def node_utilisation(situation: Situation, number: int) -> float | None:
    """Contract: "the sum of its computed instances' loads / (speed x cores)"."""
    needed = loads(situation, situation.hosted[number])
    return None if needed is None else sum(needed) / there(situation, number)


def there(situation: Situation, number: int) -> float:
    """Return the processors of speed 1 that a node is worth: "speed x cores"."""
    return situation.speed(number) * situation.cores(number)


def utilisation_max_ratio(situation: Situation) -> float | None:
    """Contract: "the highest utilisation of any node or instance; left out where a load is unknown"."""
    nodes = [node_utilisation(situation, number) for number in situation.hosted]
    shares = known([*nodes, *(utilisation(situation, instance) for instance in situation.placed)])
    return None if shares is None else max(shares)


def warnings(situation: Situation) -> Iterator[str]:
    """Name the processors that are short, "Where there is no `max_utilisation`".

    A line "for every node above 1 whose loads are all known (needed: the sum of loads; there: speed x
    cores), and on nodes with more than one core [...] for every instance above 1".
    """
    if situation.network.max_utilisation is not None:
        return
    for number, hosted in situation.hosted.items():
        needed, available = loads(situation, hosted), there(situation, number)
        if needed is not None and not fits(sum(needed), available):
            yield f"node {situation.node_name(number)}: {sum(needed)} processors needed, {available} there"
        for instance in hosted if situation.cores(number) > 1 else []:
            own = load(situation.structure, instance)
            if own is not None and not fits(own, situation.speed(number)):
                yield f"{instance.name}: {own} processors needed, {situation.speed(number)} there"
