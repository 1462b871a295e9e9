"""Mistakes at their fields."""

from berth.model import BadInput
from berth.web.documents import Mistake, located, mistakes_from

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
            "x.yaml: line 3, column 5: not valid YAML: oh",
        ]
    )
    assert mistakes_from(error, "x.yaml") == [
        Mistake("applications[0].streams[2].to", "no operator named 'cuont'; did you mean 'count'?"),
        Mistake("policy", "no policy named 'x'"),
        Mistake("parameters.gap", "'much' is no number"),
        Mistake("time_limit", "0 is not above 0"),
        Mistake("", "the file: expected a mapping, found a list"),
        Mistake("", "line 3, column 5: not valid YAML: oh", 3, 5),
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


def test_json_is_yaml() -> None:
    """Places in JSON are found, too; in JSON with tabs nothing is, and nothing breaks."""
    (found,) = located([Mistake("a[1].b", "?")], '{"a": [1,\n {"b": 2}]}')
    assert at('{"a": [1,\n {"b": 2}]}', found) == "2}]}"
    (found,) = located([Mistake("a[1].b", "?")], '{"a": [1,\n\t{"b": 2}]}')
    assert found.message == "?"
