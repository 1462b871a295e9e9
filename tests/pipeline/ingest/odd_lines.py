"""Random lines near the edge of what a record is: odd values, keys, separators, ends and characters."""

import json

from hypothesis import strategies as st

from berth.pipeline.feeds import Feed, Field
from berth.pipeline.feeds.feed import Kind

VALUES: dict[Kind, tuple[str, ...]] = {
    "time": (
        *("1750000000000", '"2025-06-15T15:06:40Z"', '"2025-06-15 15:06:40,5"', '"20250615T150640Z"', "0"),
        *('"1750000000000"', '" 1750000000000 "', '"yesterday"', '""', "017", "-1", "-0", "1750000000000.5"),
        *(
            "1.75e12",
            "123456789012345",
            "1234567890123456",
            "9" * 20,
            "null",
            "true",
            "[1]",
            '{"a":1}',
            "NaN",
        ),
    ),
    "name": (
        *(
            '"rome"',
            '""',
            '" "',
            '"kä%s+e"',
            '"😀"',
            '"a,b: c"',
            '"{a}"',
            '"}"',
            '"a\'b"',
            '"ts"',
            '"7"',
            "7",
        ),
        *('"a\\"b"', '"\\\\"', '"\\u0041"', '"\\ud800"', '"a\\qb"', '"a\tb"', '"a\x7fb"', '"a\x00b"'),
        *(
            '"\u2028"',
            '"\u0085"',
            "7.0",
            "1e2",
            "null",
            "true",
            '["x"]',
            '{"a":1}',
            "'rome'",
            '"open',
            "bare",
        ),
    ),
    "number": (
        *("20", "20.5", "0", "0.0", "0.1", "123456789012345", "1234567890123456", "1" * 17, "1" * 400),
        *(
            "9007199254740993",
            "0.30000000000000004",
            "0." + "1" * 20,
            "0." + "1" * 21,
            "00",
            "020",
            "-0",
            "-0.0",
        ),
        *("-5", "1e3", "1E-3", "1.5e+2", "1e400", ".5", "5.", "+5", "0x10", "20d", "20f", "1_000", "٢٠"),
        *("NaN", "Infinity", "-Infinity", '"20"', '"NaN"', '""', "true", "null", "[20]", "[]", '{"v":20}'),
    ),
    "flag": ("true", "false", "True", "TRUE", "t", '"true"', "1", "0", "null", "[]", "truefalse"),
}
SEPARATORS = ((",", ":"), (", ", ": "), (" , ", " : "), (",  ", ":  "), (",\t", ":\t"), (",", ": "))
MORE = ('"more":1', '"more":"}"', '"more":{"a":[1,{}]}', '"more":[{"rtt_ms":1}]', '""', "{}", '"a":1,', "")
BEFORE = (" ", "\t", "\ufeff", "\u00a0", "[", "x", "\x00", "{}", "/**/", "\x0b")
BEHIND = (
    " ",
    "\t ",
    "}",
    "]",
    " x",
    ",",
    ',"x"',
    "{}",
    "#",
    "//",
    "\x00",
    "\x0b",
    "\u2028",
    "\u0085",
    "\ufeff",
)
CHARACTERS = (*'{}[]":,\\ \t0a-.eE/\x00\x1f\x7f\u2028\ufeff', "\\u")
NO_OBJECTS = ("null", "5", '"text"', "[]", "[null]", "{}", "[{}]", "true", "NaN", "[5]", "{", "]")
BYTES = (b"\xff", b"\xc3", b"\xe4", b"\xed\xa0\x80", b"\xf0\x9f", b"\xc0\x80")


@st.composite
def odd_lines(draw: st.DrawFn, feed: Feed) -> bytes:
    """A line without its end; about one in five is plain."""
    fields = [(json.dumps(field.name), _value(draw, field)) for field in feed.fields]
    comma, colon = draw(st.sampled_from(SEPARATORS[:2] * 3 + SEPARATORS))
    parts = [f"{key}{colon}{value}" for key, value in fields]
    if _seldom(draw, 4):
        draw(st.sampled_from((_shuffle, _double, _drop, _add, _rename)))(draw, parts)
    line = draw(st.sampled_from(NO_OBJECTS)) if _seldom(draw, 15) else "{" + comma.join(parts) + "}"
    if _seldom(draw, 15):
        line = f"[{line}]"
    if _seldom(draw, 6):
        line = draw(st.sampled_from(BEFORE)) + line
    if _seldom(draw, 6):
        line += draw(st.sampled_from(BEHIND))
    if _seldom(draw, 4):
        line = _edited(draw, line)
    data = line.encode()
    if _seldom(draw, 12):
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(st.sampled_from(BYTES)) + data[place:]
    return data


def _value(draw: st.DrawFn, field: Field) -> str:
    values = VALUES[field.kind]
    return draw(st.sampled_from(values)) if _seldom(draw, 5) else values[draw(st.integers(0, 1))]


def _seldom(draw: st.DrawFn, times: int) -> bool:
    return draw(st.integers(1, times)) == times


def _shuffle(draw: st.DrawFn, parts: list[str]) -> None:
    parts[:] = draw(st.permutations(parts))


def _double(draw: st.DrawFn, parts: list[str]) -> None:
    parts.append(draw(st.sampled_from(parts)))


def _drop(draw: st.DrawFn, parts: list[str]) -> None:
    parts.pop(draw(st.integers(0, len(parts) - 1)))


def _add(draw: st.DrawFn, parts: list[str]) -> None:
    parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(MORE)))


def _rename(draw: st.DrawFn, parts: list[str]) -> None:
    place = draw(st.integers(0, len(parts) - 1))
    change = draw(st.sampled_from((str.upper, str.title, lambda part: part.replace('"', "'"))))
    parts[place] = change(parts[place])


def _edited(draw: st.DrawFn, line: str) -> str:
    place = draw(st.integers(0, len(line)))
    removed = draw(st.integers(0, 1))
    return line[:place] + draw(st.sampled_from(("", *CHARACTERS))) + line[place + removed :]
