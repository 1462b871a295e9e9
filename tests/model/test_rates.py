"""How many bytes a second streams carry, by the contract's order of precedence."""

import pytest

from berth.model import Application, Operator, Stream
from berth.model.application import stream_rates, topological_order


def rates(
    operators: list[Operator], streams: list[Stream], throughput: float | None = None
) -> list[float | None]:
    """The rates of an application's streams."""
    return stream_rates(Application("app", tuple(operators), tuple(streams), throughput))[0]


def test_what_is_given_comes_first() -> None:
    """A stream's own bytes_per_s, then output_bytes x throughput, then what a source emits."""
    source = Operator("a", output_bytes=10, emits_bytes_per_s=1000)
    streams = [Stream("a", "b", bytes_per_s=7), Stream("a", "c")]
    others = [Operator("b"), Operator("c")]
    assert rates([source, *others], streams, 3) == [7, 30]
    assert rates([source, *others], streams) == [7, 1000]


def test_selectivity() -> None:
    """Else selectivity x the sum of the inputs; every outgoing stream carries the whole output."""
    operators = [
        Operator("a", emits_bytes_per_s=100),
        Operator("b", emits_bytes_per_s=60),
        Operator("join", selectivity=0.5),
        Operator("x"),
        Operator("y", selectivity=2),
        Operator("z"),
    ]
    streams = [
        Stream("join", "x"),
        Stream("join", "y"),
        Stream("a", "join"),
        Stream("b", "join"),
        Stream("y", "z"),
    ]
    assert rates(operators, streams) == [80, 80, 100, 60, 160]


def test_a_stream_to_all_counts_once() -> None:
    """What every receiver gets in full is still one input."""
    operators = [Operator("a", emits_bytes_per_s=100), Operator("b", parallelism=3), Operator("c")]
    assert rates(operators, [Stream("a", "b", grouping="all"), Stream("b", "c")]) == [100, 100]


def test_unknown_rates() -> None:
    """A source that says nothing has an unknown rate, and so has all that follows from it."""
    operators = [Operator(name) for name in "abcd"]
    streams = [Stream("a", "b"), Stream("b", "c"), Stream("c", "d", bytes_per_s=5)]
    assert rates(operators, streams) == [None, None, 5]


def test_one_unknown_input_makes_the_output_unknown() -> None:
    """A sum with an unknown part is unknown."""
    operators = [Operator("a", emits_bytes_per_s=1), Operator("b"), Operator("c"), Operator("d")]
    assert rates(operators, [Stream("a", "c"), Stream("b", "c"), Stream("c", "d")]) == [1, None, None]


@pytest.mark.parametrize("throughput", [0, 2.5])
def test_what_follows_the_throughput(throughput: float) -> None:
    """Only streams of so much for each result follow a throughput that reuse raises."""
    operators = (Operator("a", output_bytes=4), Operator("b"), Operator("c"))
    streams = (Stream("a", "b"), Stream("a", "c", bytes_per_s=1), Stream("b", "c"))
    application = Application("app", operators, streams, throughput)
    assert stream_rates(application) == ([4 * throughput, 1, 4 * throughput], [True, False, False])


def test_topological_order() -> None:
    """Senders come before receivers; a cycle is missing."""
    operators = tuple(Operator(name) for name in "cab")
    assert topological_order(Application("app", operators, (Stream("a", "b"), Stream("b", "c")))) == [
        "a",
        "b",
        "c",
    ]
    assert topological_order(Application("app", operators, (Stream("c", "b"), Stream("b", "c")))) == ["a"]
