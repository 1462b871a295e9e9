"""Which lines are plain: what the regular expression takes can be read in one way only."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.pipeline.feed import FOLDERS, HEARTBEATS, OPERATORS, PROBES, STREAMS, Folder
from berth.pipeline.plain_lines import plain_form

from .feeds import Entry, heartbeat, operator, probe, stream
from .odd_lines import odd_lines

COMPACT = (",", ":")
KINDS: dict[str, Any] = {"time": (int, str), "name": str, "number": (int, float), "flag": bool}
GOOD = json.dumps(probe())


def is_plain(line: str, folder: Folder = PROBES) -> bool:
    """As Spark's regular expressions see it; Python's have another word for the end."""
    return re.search(plain_form(folder).replace(r"\z", r"\Z"), line) is not None


@pytest.mark.parametrize(
    ("folder", "record"),
    [(PROBES, probe()), (HEARTBEATS, heartbeat()), (OPERATORS, operator()), (STREAMS, stream())],
    ids=lambda item: item.name if isinstance(item, Folder) else "",
)
def test_what_usual_writers_write_is_plain(folder: Folder, record: Entry) -> None:
    """Otherwise all goes through the parser, and nothing but the time tells."""
    for separators in (COMPACT, None):
        for time in (record["ts"], 0, "2025-06-15T15:06:40.5Z"):
            assert is_plain(json.dumps(record | {"ts": time}, separators=separators), folder)


@pytest.mark.parametrize(
    "name", ["", " ", "kä%s+e", "名前", "😀", "a,b: c", "{a}", "a'b", "ts", "x" * 100_000]
)
def test_names_of_plain_lines(name: str) -> None:
    """Whatever needs no escape."""
    assert is_plain(json.dumps(probe(to=name), ensure_ascii=False))


NOT_PLAIN = {
    "number in text": GOOD.replace("20.0", '"20.0"'),
    "flag for a number": GOOD.replace("20.0", "true"),
    "null": GOOD.replace("20.0", "null"),
    "list": GOOD.replace("20.0", "[20.0]"),
    "object": GOOD.replace("20.0", '{"a":20.0}'),
    "NaN": GOOD.replace("20.0", "NaN"),
    "Infinity": GOOD.replace("20.0", "Infinity"),
    "negative": GOOD.replace("20.0", "-20.0"),
    "signed": GOOD.replace("20.0", "+20.0"),
    "exponent": GOOD.replace("20.0", "2e1"),
    "out of doubles": GOOD.replace("20.0", "1e400"),
    "huge whole number": GOOD.replace("20.0", "1" * 400),
    "many digits": GOOD.replace("20.0", "0." + "1" * 400),
    "leading zero": GOOD.replace("20.0", "020.0"),
    "nothing before the point": GOOD.replace("20.0", ".5"),
    "nothing behind the point": GOOD.replace("20.0", "5."),
    "other digits": GOOD.replace("20.0", "٢٠"),
    "Java's double": GOOD.replace("20.0", "20d"),
    "name is a number": GOOD.replace('"rome"', "7"),
    "escape": GOOD.replace("rome", "r\\u006fme"),
    "escaped quotation mark": GOOD.replace("rome", 'ro\\"me'),
    "backslash": GOOD.replace("rome", "ro\\\\me"),
    "tab in a name": GOOD.replace("rome", "ro\tme"),
    "control character": GOOD.replace("rome", "ro\x00me"),
    "negative time": GOOD.replace('"ts": ', '"ts": -'),
    "time with a fraction": GOOD.replace(', "from"', '.5, "from"'),
    "key twice": GOOD[:-1] + ', "rtt_ms": 5.0}',
    "first key twice": GOOD.replace('{"ts"', '{"ts": 1, "ts"'),
    "more fields": GOOD[:-1] + ', "more": 1}',
    "fewer fields": '{"ts": 1750000000000, "from": "rome", "to": "paris"}',
    "other order": json.dumps(dict(reversed(probe().items()))),
    "other case": GOOD.replace("rtt_ms", "RTT_MS"),
    "text behind": GOOD + "x",
    "brace behind": GOOD + "}",
    "another object": GOOD + GOOD,
    "line separator": GOOD + "\u2028",
    "next line": GOOD + "\u0085",
    "carriage return": GOOD + "\r",
    "line feed": GOOD + "\n",
    "blank behind": GOOD + " ",
    "blank before": " " + GOOD,
    "byte order mark": "\ufeff" + GOOD,
    "cut off": GOOD[:-1],
    "nothing": "",
    "list of objects": f"[{GOOD}]",
    "scalar": "5",
    "text": '"text"',
    "empty object": "{}",
    "single quotation marks": GOOD.replace('"', "'"),
    "keys without quotation marks": GOOD.replace('"from"', "from"),
    "comma at the end": GOOD[:-1] + ",}",
    "comment": GOOD.replace(', "to"', ', /**/"to"'),
    "half of it": GOOD[: len(GOOD) // 2],
}


@pytest.mark.parametrize("line", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_what_is_not_plain(line: str) -> None:
    """All that could be read otherwise than by its characters, or not at all."""
    assert is_plain(GOOD)
    assert not is_plain(line)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_a_plain_line_is_one_object_with_the_fields_and_their_types(data: st.DataObject) -> None:
    """As Python's parser reads it: each key once, in order, nothing else, and of the field's own type."""
    folder = data.draw(st.sampled_from(FOLDERS))
    line = data.draw(odd_lines(folder)).decode(errors="replace")
    if not is_plain(line, folder):
        return
    pairs = json.loads(line, object_pairs_hook=list)
    assert [key for key, _ in pairs] == [field.name for field in folder.fields]
    for field, (_, value) in zip(folder.fields, pairs, strict=True):
        assert isinstance(value, KINDS[field.kind])
        assert (
            field.kind in ("flag", "name")
            or isinstance(value, str)
            or (type(value) is not bool and value >= 0)
        )
