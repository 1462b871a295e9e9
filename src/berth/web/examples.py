"""The examples: those of the repository in a checkout, and the same in the package once installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from berth.web.errors import missing
from berth.web.problems import read_problem

_PLACES = (Path(__file__).parent / "example_problems", Path(__file__).parents[3] / "examples")


def example_files() -> dict[str, Path]:
    """The problem files of all examples, by name."""
    place = next((each for each in _PLACES if each.is_dir()), None)
    return {} if place is None else {file.stem: file for file in sorted(place.glob("*.yaml"))}


def example_list() -> list[dict[str, Any]]:
    """What there is to choose from."""
    found = []
    for name, file in example_files().items():
        data = file.read_bytes()
        summary = read_problem(data, file.name).summary()
        found.append(
            {
                "name": name,
                "title": summary["name"],
                "about": _about(data.decode()),
                "nodes": summary["nodes"],
                "operators": summary["operators"],
            }
        )
    return found


def example(name: str) -> bytes:
    """An example's text.

    Raises:
        Refused: there is none of that name.
    """
    files = example_files()
    if name not in files:
        raise missing(f"example {name!r}")
    return files[name].read_bytes()


def _about(text: str) -> str:
    """The first paragraph of the comment that a file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    return " ".join(lines)
