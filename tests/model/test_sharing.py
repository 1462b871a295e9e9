"""Which operators compute the same thing."""

import numpy as np

from berth.model import Application, InstanceGraph, Network, Node, Operator, Read, Stream
from berth.model.sharing import SharingKeys, computation_classes

CAMERA = (Read("camera", 1),)


def graph(*applications: Application) -> InstanceGraph:
    """The instances of some applications on one node."""
    return InstanceGraph(applications, Network((Node("a"),)))


def application(name: str, operators: tuple[Operator, ...], *streams: str) -> Application:
    """An application with streams written as `x-y`."""
    return Application(name, operators, tuple(Stream(*stream.split("-")) for stream in streams))


def equal_names(found: InstanceGraph) -> list[set[str]]:
    """The operators that are equal to others."""
    groups: dict[int, set[str]] = {}
    for item, number in zip(found.operators, computation_classes(found), strict=True):
        groups.setdefault(number, set()).add(item.name)
    return [group for group in groups.values() if len(group) > 1]


def test_same_type_and_reads() -> None:
    """Operators of one type that read the same objects are equal, at whatever rate they read."""
    one = application("one", (Operator("x", type="tag", reads=CAMERA),))
    two = application("two", (Operator("y", type="tag", reads=(Read("camera", 9),), work_ms=5),))
    three = application("three", (Operator("z", type="tag", reads=(Read("gauge", 1),)),))
    four = application("four", (Operator("z", type="count", reads=CAMERA),))
    assert equal_names(graph(one, two, three, four)) == [{"one/x", "two/y"}]


def test_recursion() -> None:
    """Inputs are equal when they are equal operators themselves."""
    operators = (
        Operator("x", type="tag", reads=CAMERA),
        Operator("y", type="join"),
        Operator("z", type="show"),
    )
    one = application("one", operators, "x-y", "y-z")
    two = application("two", operators, "x-y", "y-z")
    assert equal_names(graph(one, two)) == [{"one/x", "two/x"}, {"one/y", "two/y"}, {"one/z", "two/z"}]


def test_inputs_are_a_multiset() -> None:
    """Two equal inputs are not one, and their order counts for nothing."""
    x, y = Operator("x", type="tag", reads=CAMERA), Operator("y", type="tag", reads=CAMERA)
    z = Operator("z", type="count", reads=CAMERA)
    join = Operator("join", type="join")
    one = application("one", (x, y, join), "x-join", "y-join")
    two = application("two", (x, join), "x-join")
    three = application("three", (x, z, join), "x-join", "z-join")
    four = application("four", (z, x, join), "z-join", "x-join")
    tags = {"one/x", "one/y", "two/x", "three/x", "four/x"}
    assert equal_names(graph(one, two, three, four)) == [
        tags,
        {"three/z", "four/z"},
        {"three/join", "four/join"},
    ]


def test_who_equals_nobody() -> None:
    """Without a type, or with neither inputs nor reads, an operator equals only itself."""
    operators = (
        Operator("source", type="camera"),
        Operator("plain", reads=CAMERA),
        Operator("tag", type="tag"),
    )
    one, two = (application(name, operators, "source-tag") for name in ("one", "two"))
    assert equal_names(graph(one, two)) == []


def test_the_same_input_itself() -> None:
    """Two operators of one type behind one and the same source compute the same."""
    operators = (Operator("source"), Operator("x", type="tag"), Operator("y", type="tag"))
    assert equal_names(graph(application("one", operators, "source-x", "source-y"))) == [{"one/x", "one/y"}]


def test_nothing_to_share() -> None:
    """Without types, or where sharing is off, nothing can count once."""
    typed = graph(application("one", (Operator("x", type="tag", reads=CAMERA),)))
    assert SharingKeys(typed, allowed=True).possible
    assert not SharingKeys(typed, allowed=False).possible
    assert not SharingKeys(graph(application("one", (Operator("x"),))), allowed=True).possible


def test_computation_keys() -> None:
    """Instance k of so many is the same as instance k of as many of an equal operator."""

    def tag(parallelism: int) -> Operator:
        return Operator("x", type="tag", reads=CAMERA, parallelism=parallelism)

    found = graph(
        application("one", (tag(2),)), application("two", (tag(2),)), application("three", (tag(1),))
    )
    keys = SharingKeys(found, allowed=True).computation_keys(np.arange(5))
    assert keys[0] == keys[2]
    assert keys[1] == keys[3]
    assert len(set(keys.tolist())) == 3
    apart = SharingKeys(found, allowed=False).computation_keys(np.arange(5))
    assert len(set(apart.tolist())) == 5


def test_result_keys() -> None:
    """A whole result is the same for all; of a split one only the same part is."""
    tag, show, count = (
        Operator("x", type="tag", reads=CAMERA),
        Operator("show"),
        Operator("count", parallelism=2),
    )
    streams = (Stream("x", "show"), Stream("x", "count"), Stream("x", "all", grouping="all"))
    found = graph(
        Application("one", (tag, show, count, Operator("all", parallelism=2)), streams),
        Application("two", (tag, count), (Stream("x", "count"),)),
    )
    keys = SharingKeys(found, allowed=True).result_keys(
        found.pair_sender, found.pair_receiver, found.pair_stream
    )
    names = [
        (found.names[s], found.names[r]) for s, r in zip(found.pair_sender, found.pair_receiver, strict=True)
    ]
    same: dict[int, set[str]] = {}
    for key, (_, receiver) in zip(keys.tolist(), names, strict=True):
        same.setdefault(key, set()).add(receiver)
    assert sorted(map(sorted, same.values())) == [
        ["one/all#0", "one/all#1", "one/show"],
        ["one/count#0", "two/count#0"],
        ["one/count#1", "two/count#1"],
    ]
