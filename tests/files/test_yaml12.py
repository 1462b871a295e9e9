"""YAML by the rules of 1.2, and nothing that could hurt."""

import math
from typing import Any

import pytest

from berth.files.yaml12 import parse_yaml
from berth.model import BadInput

SCALARS: list[tuple[str, Any]] = [
    ("no", "no"),
    ("yes", "yes"),
    ("on", "on"),
    ("off", "off"),
    ("y", "y"),
    ("true", True),
    ("False", False),
    ("tRue", "tRue"),
    ("~", None),
    ("null", None),
    ("", None),
    ("1e9", 1e9),
    ("1.25e8", 1.25e8),
    ("1E+3", 1000.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("-0.25", -0.25),
    ("12", 12),
    ("+12", 12),
    ("017", 17),
    ("0o17", 15),
    ("0x1F", 31),
    ("1_000", "1_000"),
    ("0b11", "0b11"),
    ("1:30", "1:30"),
    ("2024-02-30", "2024-02-30"),
    (".inf", math.inf),
    ("-.INF", -math.inf),
    ("inf", "inf"),
    ("nan", "nan"),
    ("1e", "1e"),
    ("0x", "0x"),
    ("=", "="),
    ("'1e9'", "1e9"),
    ('"no"', "no"),
    ("|\n  12\n", "12\n"),
    ("!!str 12", "12"),
    ("!!int 12", 12),
    ("!!float 1e3", 1000.0),
    ("9" * 390, int("9" * 390)),
    ("9" * 5000, math.inf),
    ("1e999", math.inf),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars(text: str, value: Any) -> None:
    """Plain scalars follow the core schema of 1.2; what is quoted is text."""
    found = parse_yaml(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    """.nan is a number that equals nothing."""
    assert math.isnan(parse_yaml("[.nan]")[0])


def test_names_as_keys() -> None:
    """Words that 1.1 takes for booleans are names as keys, too."""
    assert parse_yaml("{no: 1, on: 2, yes: 3, off: 4}") == {"no": 1, "on": 2, "yes": 3, "off": 4}


def test_aliases() -> None:
    """What has an anchor can be used again, scalars and collections."""
    assert parse_yaml("a: &x {b: &y 1}\nc: *x\nd: *y") == {"a": {"b": 1}, "c": {"b": 1}, "d": 1}


def test_merge_keys_are_plain_keys() -> None:
    """1.2 has no merging: << is a key like any other."""
    assert parse_yaml("a: &x {b: 1}\nc:\n  <<: *x") == {"a": {"b": 1}, "c": {"<<": {"b": 1}}}


REFUSED: list[tuple[str, str]] = [
    ("a: 1\nb: 2\na: 3", "line 3, column 1: key 'a' is there twice"),
    ("{a: 1, 'a': 2}", "line 1, column 8: key 'a' is there twice"),
    ("? [1]\n: 2", "line 1, column 3: a key must be a name"),
    ("a: !!python/object/apply:os.system [ls]", "line 1, column 4: tag "),
    ("a: !!python/name:os.system ''", "line 1, column 4: tag "),
    ("a: !mine 1", "line 1, column 4: tag '!mine' is not allowed"),
    ("a: !!binary aGk=", "line 1, column 4: tag "),
    ("a: !!set {b}", "line 1, column 4: tag "),
    ("a: !!timestamp 2024-01-01", "line 1, column 4: tag "),
    ("a: !!int 1_000", "line 1, column 4: '1_000' does not fit its tag"),
    ("a: !!int 1.5", "line 1, column 4: '1.5' does not fit its tag"),
    ("a: !!float yes", "line 1, column 4: 'yes' does not fit its tag"),
    ("a: *b", "line 1, column 4: unknown alias 'b'"),
    ("a: &a [*a]", "line 1, column 8: unknown alias 'a'"),
    ("a: 1\n---\nb: 2", "one YAML document expected, found 2"),
    ("", "one YAML document expected, found none"),
    ("# nothing\n", "one YAML document expected, found none"),
    ("a: [1, 2", "line 2, column 1: not valid YAML: "),
    ("a: b: c", "line 1, column 5: not valid YAML: "),
    ("a:\n\t- 1", "line 2, column 1: not valid YAML: "),
    ("a: \x00", "not valid YAML: "),
    ('a: "\\ud800"', "line 1, column 7: not valid YAML: "),
    ("- " * 10_000 + "x", "line 1, column 201: nested more than 100 deep"),
    ("[" * 10_000, "line 1, column 101: nested more than 100 deep"),
    ("{a: " * 10_000, "line 1, column 401: nested more than 100 deep"),
    ("\n".join(" " * depth + "a:" for depth in range(1000)), "line 101, column 101: nested more than 100"),
]


@pytest.mark.parametrize(("text", "beginning"), REFUSED)
def test_refused(text: str, beginning: str) -> None:
    """What is no YAML, ambiguous or dangerous is one line, with the place where it is known."""
    with pytest.raises(BadInput) as caught:
        parse_yaml(text)
    (line,) = caught.value.mistakes
    assert line.startswith(beginning)


def test_alias_bomb() -> None:
    """A small file that stands for 10^12 values is refused before it is unfolded."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
    with pytest.raises(BadInput, match="more than 67,108,864 characters"):
        parse_yaml("\n".join(lines))


LONG = "x" * 1000


@pytest.mark.parametrize(
    "text",
    [
        f"a: &a {LONG}\nb: [{', '.join(['*a'] * 100)}]",
        f"a: &a [{LONG}]\nb: [{', '.join(['*a'] * 100)}]",
        f"a: &a {{k: {LONG}}}\nb: &b [{', '.join(['*a'] * 9)}]\nc: [{', '.join(['*b'] * 10)}]",
        f"a: &a {{k: {LONG}}}\n" + "\n".join(f"b{k}: {{<<: *a}}" for k in range(100)),
        f"? &a {LONG}\n: 1\nb: [{', '.join(['*a'] * 100)}]",
    ],
)
def test_aliases_count_by_what_they_stand_for(text: str) -> None:
    """An alias to a long text is as long as the text, in lists, mappings and what they stand for."""
    assert parse_yaml(text, 200_000)
    with pytest.raises(
        BadInput, match="with all aliases written out, the file has more than 50,000 characters"
    ):
        parse_yaml(text, 50_000)


def test_merge_keys_are_ordinary_keys() -> None:
    """YAML 1.2 has none."""
    assert parse_yaml("a: &a {k: 1}\nb: {<<: *a}")["b"] == {"<<": {"k": 1}}


@pytest.mark.parametrize("text", ["9" * 100_000, "0x" + "f" * 100_000, "0o" + "7" * 100_000, "1e999999"])
def test_numbers_of_thousands_of_digits(text: str) -> None:
    """They are beyond all bounds, and are never worked out."""
    assert parse_yaml(f"a: {text}") == {"a": math.inf}


def test_numbers_as_keys_can_not_be_chosen_to_collide() -> None:
    """Multiples of 2^61 - 1 all have the same hash: a dict of many of them would take minutes."""
    assert parse_yaml("1: a\n-7: b") == {1: "a", -7: "b"}
    with pytest.raises(BadInput, match="line 2, column 1: a key must be a name"):
        parse_yaml(f"1: a\n{2**61 - 1}: b")


@pytest.mark.parametrize(
    "text", [f"{{{LONG}: 1, {LONG}: 2}}", f"a: !{LONG} 1", f"a: *{LONG}", f"a: !!int {LONG}"]
)
def test_messages_do_not_repeat_the_input(text: str) -> None:
    """Its beginning is enough."""
    with pytest.raises(BadInput, match=r"xxx\.\.\.") as caught:
        parse_yaml(text)
    assert len(str(caught.value)) < 150
