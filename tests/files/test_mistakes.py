"""Mistakes at their fields."""

import pytest

from berth.files.mistakes import Mistake, located, mistakes_from
from berth.model import BadInput

TEXT = """format: berth/v1
network:
  nodes:
    - {name: rome, capacity: {a.b: -1}}
applications:
  - name: app
    streams:
      - {from: x, to: y}
"""


def at(text: str, mistake: Mistake) -> str:
    """The rest of the line where a mistake is."""
    assert mistake.line is not None
    assert mistake.column is not None
    return text.splitlines()[mistake.line - 1][mistake.column - 1 :]


def test_lines_are_taken_apart() -> None:
    """Field and message; options of commands become fields of requests."""
    error = BadInput(
        [
            "applications[0].streams[2].to: no operator named 'cuont'; did you mean 'count'?",
            "--policy: no policy named 'x'",
            "--set gap: 'much' is no number",
            "--time-limit: 0 is not above 0",
            "the file: expected a mapping, found a list",
            "line 3, column 5: not valid YAML: oh",
        ]
    )
    assert mistakes_from(error) == [
        Mistake("applications[0].streams[2].to", "no operator named 'cuont'; did you mean 'count'?"),
        Mistake("policy", "no policy named 'x'"),
        Mistake("parameters.gap", "'much' is no number"),
        Mistake("time_limit", "0 is not above 0"),
        Mistake("", "the file: expected a mapping, found a list"),
        Mistake("", "not valid YAML: oh", 3, 5),
    ]


def test_fields_are_found_in_the_text() -> None:
    """A field that is there, one with a dot in its name, and the nearest place of one that is missing."""
    found = located(
        [
            Mistake("applications[0].streams[0].to", "?"),
            Mistake("network.nodes[0].capacity.a.b", "?"),
            Mistake("applications[0].operators", "is needed"),
            Mistake("name", "is needed"),
        ],
        TEXT,
    )
    assert [at(TEXT, each) for each in found[:3]] == ["y}", "-1}}", "name: app"]
    assert (found[3].line, found[3].column) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1,\n {"b": 2}]}',
        '{"a": [1,\n\t{"b": 2}]}',
        '{"a":[1,\n{"b":2}]}',
        '\t{"\\ud83d\\ude00": "\\/",\n"a": [1, {"b": 2}]}',
    ],
)
def test_places_in_json(text: str) -> None:
    """They are found, too: with tabs, without spaces, and beside characters that JSON writes in halves."""
    (found,) = located([Mistake("a[1].b", "?")], text)
    assert at(text, found) == "2}]}"


@pytest.mark.parametrize("text", ["a: [1", "{", "", "a: b: c", "- \x00"])
def test_texts_that_are_neither(text: str) -> None:
    """Nothing is found there, and nothing breaks."""
    assert located([Mistake("a", "?")], text)[0].message == "?"


def test_as_commands_show_them() -> None:
    """The file, the line, the field; the column only where there is no field."""
    assert Mistake("a.b", "is needed", 3, 5).in_file("p.yaml") == "p.yaml:3: a.b: is needed"
    assert Mistake("a.b", "is needed").in_file("p.yaml") == "p.yaml: a.b: is needed"
    assert Mistake("", "not valid YAML", 3, 5).in_file("p.yaml") == "p.yaml:3:5: not valid YAML"
    assert Mistake("", "the file: is empty").in_file("p.yaml") == "p.yaml: the file: is empty"
