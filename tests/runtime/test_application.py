"""Applications in plain PySpark: what they are made of, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from berth.model import BadInput
from berth.runtime.application import Application, describe, described


def words() -> Application:
    """source -> upper, lower -> both -> store."""
    app = Application("words", max_response_time_ms=120)

    @app.source(pinned="rome")
    def lines(spark: Any) -> Any: ...

    @app.operator(parallelism=2, demand={"cpu": 1})
    def upper(lines: Any) -> Any: ...

    @app.map_in_arrow("value string", work_ms=2.0)
    def lower(lines: Any) -> Any: ...

    @app.operator
    def both(upper: Any, lower: Any) -> Any: ...

    @app.sink
    def store(both: Any, batch_id: int) -> None: ...

    return app


def mistakes_of(app: Application) -> list[str]:
    """What `in_order` complains about."""
    with pytest.raises(BadInput) as caught:
        app.in_order()
    return list(caught.value.mistakes)


def test_inputs_are_the_names_of_parameters() -> None:
    """But for `spark` and `batch_id`, which are no operators."""
    app = words()
    assert {name: each.inputs for name, each in app.operators.items()} == {
        "lines": (),
        "upper": ("lines",),
        "lower": ("lines",),
        "both": ("upper", "lower"),
        "store": ("both",),
    }
    assert app.consumers("lines") == ["upper", "lower"]


def test_order_follows_the_streams() -> None:
    """Every operator comes behind its inputs, whatever the order of the file."""
    app = Application("late")

    @app.sink
    def store(kept: Any) -> None: ...

    @app.operator
    def kept(lines: Any) -> Any: ...

    @app.source
    def lines(spark: Any) -> Any: ...

    assert [each.name for each in app.in_order()] == ["lines", "kept", "store"]


def test_names_and_inputs_can_be_given() -> None:
    """Names that no function can have, and parameters with other names."""
    app = Application("given")

    @app.source(name="temperature.outside")
    def first(spark: Any) -> Any: ...

    @app.sink(name="store", inputs=["temperature.outside"])
    def second(frame: Any) -> None: ...

    assert app.streams == [("temperature.outside", "store")]


def test_describe_has_what_a_problem_file_says() -> None:
    """Operators with their fields, streams, and the requirements of the whole."""
    assert described(words()) == {
        "name": "words",
        "max_response_time_ms": 120,
        "operators": [
            {"name": "lines", "pinned": "rome"},
            {"name": "upper", "parallelism": 2, "demand": {"cpu": 1}},
            {"name": "lower", "work_ms": 2.0},
            {"name": "both"},
            {"name": "store"},
        ],
        "streams": [
            {"from": "lines", "to": "upper"},
            {"from": "lines", "to": "lower"},
            {"from": "upper", "to": "both"},
            {"from": "lower", "to": "both"},
            {"from": "both", "to": "store"},
        ],
    }


def test_describe_takes_what_is_known_of_cores_and_tuples(tmp_path: Path) -> None:
    """What the network says of its nodes counts more; streams and nodes that nobody knows stay."""
    nodes = [{"name": "rome"}, {"name": "paris", "cores": 2}, {"name": "oslo"}]
    machines = {"format": "berth/v1", "name": "machines", "network": {"nodes": nodes, "links": []}}
    only = {"name": "a", "operators": [{"name": "x"}]}
    (tmp_path / "machines.json").write_text(json.dumps({**machines, "applications": [only]}))
    document = describe(
        [words()],
        tmp_path / "machines.json",
        cores={"rome": 8.0, "paris": 16.0, "elsewhere": 4.0},
        tuple_bytes={("words", "lines", "upper"): 120.5, ("other", "lines", "lower"): 1.0},
    )
    assert [node.get("cores") for node in document["network"]["nodes"]] == [8.0, 2, None]
    sizes = [stream.get("tuple_bytes") for stream in document["applications"][0]["streams"]]
    assert sizes == [120.5, None, None, None, None]


def test_fields_are_checked_as_in_a_problem_file() -> None:
    """With the path of the field."""
    app = words()

    @app.sink(demand={"cpu": -1})
    def other(both: Any) -> None: ...

    with pytest.raises(BadInput, match=r"applications\[0\].operators\[5\].demand.cpu"):
        describe([app])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"parallelism": 0}, "operator 'bad': parallelism: expected a whole number from 1 on, not 0"),
        ({"parallelism": True}, "operator 'bad': parallelism: expected a whole number from 1 on, not True"),
        ({"wrok_ms": 1}, "operator 'bad': unknown option 'wrok_ms'"),
        ({"inputs": "lines"}, "operator 'bad': inputs: expected a list of names, not 'lines'"),
        ({"inputs": []}, "operator 'bad': takes nothing"),
        ({"name": "a/b"}, "operator: 'a/b' is not a valid name"),
        ({"name": "upper"}, "operator 'upper': there are two of that name"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """In one line that names the operator and the option."""
    app = words()
    with pytest.raises(BadInput) as caught:

        @app.operator(**options)
        def bad(lines: Any) -> Any: ...

    assert caught.value.mistakes[0].startswith(line)


def test_an_application_has_to_be_whole() -> None:
    """Unknown inputs, rows that nobody takes, no sink, a sink as input."""
    app = Application("holes")

    @app.source
    def lines(spark: Any) -> Any: ...

    @app.operator
    def kept(lnies: Any) -> Any: ...

    assert mistakes_of(app) == [
        "application 'holes': has no sink; add a function with @app.sink",
        "operator 'lines': nobody takes its rows; add a sink that does",
        "operator 'kept': no input 'lnies'; there are lines, kept",
        "operator 'kept': nobody takes its rows; add a sink that does",
    ]


def test_cycles_are_refused() -> None:
    """With the operators in them."""
    app = words()

    @app.operator
    def first(second: Any, lines: Any) -> Any: ...

    @app.operator
    def second(first: Any) -> Any: ...

    assert mistakes_of(app) == ["application 'words': a cycle among first, second"]
