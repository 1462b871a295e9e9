"""Documents, files and lines that are nearly right: where parsers and checks break, if anywhere."""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import strategies as st

ODD: list[Any] = [
    *(None, True, False, 0, -0.0, 1, -1, 2, 0.5, -1e-300, 1e300, 1e-320, 2**63, 10**30),
    *(float("nan"), float("inf"), -float("inf")),
    *(
        "",
        " ",
        "a",
        "~",
        "null",
        "1e3",
        "0x10",
        "-",
        "*",
        "a/b#1",
        "ä\u200b",
        "\u0000",
        "\ud83d\ude00",
        "x" * 500,
    ),
    *([], {}, [[]], [{}], {"": 0}, [None], {"a": {"b": {}}}),
]
"""Values that belong nowhere, or hardly anywhere."""
ODD_BYTES = [
    *(b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b"  ", b"{", b"}", b"[", b"]", b'"', b","),
    *(
        b": ",
        b"- ",
        b"&a ",
        b"*a ",
        b"<<: ",
        b"!!python/object:os.system ",
        b"? ",
        b"|\n",
        b"---\n",
        b"#",
        b"%",
    ),
    *(b"1e999", b"NaN", b"-", b"\\ud800", b"0" * 5000, b"[" * 2000, b"*" * 99),
]


def places(document: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values in a document but the whole."""
    steps = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    found = []
    for step, value in steps:
        found += [(*way, step), *places(value, (*way, step))]
    return found


@st.composite
def documents(draw: st.DrawFn, seeds: list[Any]) -> Any:
    """One of some documents with a few changes."""
    document = copy.deepcopy(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        ways = places(document)
        if not ways:
            break
        *way, last = draw(st.sampled_from(ways))
        holder = document
        for step in way:
            holder = holder[step]
        change = draw(st.sampled_from(["odd", "gone", "copied", "swapped", "renamed", "scaled"]))
        others = [each for each in ways if each != (*way, last)]
        if change == "gone":
            del holder[last]
        elif change in ("copied", "swapped") and others:
            value: Any = document
            for step in draw(st.sampled_from(others)):
                value = value[step]
            if change == "copied" and isinstance(holder, list):
                holder.insert(last, copy.deepcopy(value))
            else:
                holder[last] = copy.deepcopy(value)
        elif change == "renamed" and isinstance(holder, dict):
            name = draw(st.sampled_from([str(each[-1]) for each in ways]) | st.text(max_size=4))
            holder[name] = holder.pop(last)
        elif (
            change == "scaled" and isinstance(holder[last], int | float) and holder[last] not in (True, False)
        ):
            holder[last] = holder[last] * draw(st.sampled_from([-1, 0, 1e-12, 1e12, 1e150]))
        else:
            holder[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return document


@st.composite
def broken(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with some taken out, put in, or said again."""
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 20)))
        more = draw(st.sampled_from(ODD_BYTES) | st.binary(max_size=8) | st.just(content[start:end] * 2))
        content = content[:start] + more + content[end:]
    return content


@st.composite
def written(draw: st.DrawFn, seeds: list[Any]) -> tuple[str, bytes]:
    """The content of a file for a changed document, with its suffix; sometimes no longer well-formed."""
    document = draw(documents(seeds))
    suffix = draw(st.sampled_from([".json", ".yaml", ""]))
    if suffix == ".yaml":
        text = yaml.safe_dump(document, allow_unicode=True, default_flow_style=draw(st.booleans()))
    else:
        text = json.dumps(document, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2])))
    content = text.encode("utf-8", "surrogatepass")
    return suffix, draw(broken(content)) if draw(st.integers(0, 3)) == 0 else content


NAMES = [
    "app",
    "source",
    "tag",
    "count",
    "sink",
    "spark",
    "batch_id",
    "instance",
    "a b",
    "a/b",
    "",
    "x" * 300,
]
OPTIONS = [
    "name",
    "inputs",
    "parallelism",
    "key",
    "demand",
    "pinned",
    "work_ms",
    "state_bytes",
    "schema",
    "where",
]


@st.composite
def applications(draw: st.DrawFn) -> bytes:
    """A Python file with an application of a few operators, most of them wrong."""
    values = st.sampled_from([*ODD, *NAMES, ["source"], {"cpu": 1}, {"cpu": -1}, 2, ["rome"]])
    fields = draw(st.dictionaries(st.sampled_from(["output_mode", "rules", "nonsense"]), values, max_size=2))
    name = draw(st.sampled_from(["app", "app", "app", *ODD]))
    lines = [
        "from berth.runtime import Application",
        'nan, inf = float("nan"), float("inf")',
        f"app = Application({name!r}, **{fields!r})",
    ]
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["source", "operator", "map_in_arrow", "map_in_pandas", "sink"]))
        options = draw(st.dictionaries(st.sampled_from(OPTIONS), values, max_size=3))
        function = draw(st.sampled_from(["source", "tag", "count", "sink"]))
        taken = draw(
            st.lists(
                st.sampled_from(["spark", "source", "tag", "count", "batch_id"]), max_size=3, unique=True
            )
        )
        star = draw(st.sampled_from(["", "", "", "*rest", "/", "*, key"])) if number else ""
        lines += [
            f"@app.{kind}(**{options!r})",
            f"def {function}({', '.join([*taken, *([star] if star and (star != '/' or taken) else [])])}):",
            "    return None",
        ]
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    return draw(broken(content)) if draw(st.integers(0, 9)) == 0 else content
