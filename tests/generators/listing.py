"""The tables of docs/generators.md, from the generators themselves: `python -m tests.generators.listing`."""

from __future__ import annotations

import json
from typing import Any

from berth.generators import GENERATORS, find_generator
from berth.model.parameters import described


def kinds() -> str:
    """All kinds."""
    rows = [find_generator(name).about for name in GENERATORS]
    lines = [f"| [`{about.name}`](#{about.name}) | {about.paper} | {about.makes} |" for about in rows]
    return "\n".join(["| kind | paper | makes |", "|---|---|---|", *lines])


def parameters(kind: str) -> str:
    """A kind's parameters."""
    rows = described(find_generator(kind))
    lines = [f"| `{row['name']}` | {_shown(row['default'])} | {row['help']} |" for row in rows]
    return "\n".join(["| parameter | default | meaning |", "|---|---|---|", *lines])


def _shown(default: Any) -> str:
    return "none" if default is None else default if isinstance(default, str) else json.dumps(default)


if __name__ == "__main__":
    print(kinds())
    for name in GENERATORS:
        print(f"\n## {name}\n\n{parameters(name)}")
