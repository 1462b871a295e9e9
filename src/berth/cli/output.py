"""Where the commands print, and what their tables look like."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from berth.amounts import counted
from berth.evaluation import METRIC_BY_KEY, metric_text
from berth.evaluation.metrics import words_of

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)
_NUMBER = re.compile(r"(?<=\S)#\d+\b")
"""The number of an instance in a message."""


def print_json(document: Any) -> None:
    """JSON and nothing else on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


@contextmanager
def printing_aside() -> Iterator[None]:
    """Tables go to standard error meanwhile: a file goes to standard output."""
    out.stderr = True
    try:
        yield
    finally:
        out.stderr = False


def tell(line: str) -> None:
    """A line on standard error, as it is."""
    err.print(line, markup=False, soft_wrap=True)


def metric_name(key: str) -> str:
    """A metric's key as words: `response time`."""
    return words_of(METRIC_BY_KEY[key]) if key in METRIC_BY_KEY else key


def metric_value(key: str, value: float | None) -> str:
    """A metric in a table."""
    return "-" if value is None else metric_text(key, value)


def homes(nodes: Sequence[str]) -> str:
    """The nodes of an operator's instances: `rome`, or `rome x3, paris`."""
    counts = Counter(nodes)
    return ", ".join(node if count == 1 else f"{node} x{count}" for node, count in counts.items())


def plain_table(*columns: str, right: tuple[int, ...] = ()) -> Table:
    """A table without clutter."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, name in enumerate(columns):
        table.add_column(escape(name), justify="right" if position in right else "left", overflow="fold")
    return table


def folded(lines: Sequence[str]) -> list[str]:
    """Lines that say the same of several instances of an operator are one: the first, and how many more."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(_NUMBER.sub("", line), []).append(line)
    return [
        same[0] if len(same) == 1 else f"{same[0]} (and {counted(len(same) - 1, 'more instance')} of it)"
        for same in found.values()
    ]


def print_violations(lines: Sequence[str]) -> None:
    """Every broken constraint; what breaks for several instances of an operator alike is one line."""
    if lines:
        out.print(f"\n[bold red]breaks {counted(len(lines), 'constraint')}[/]")
        for line in folded(lines):
            out.print(f"  [red]x[/] {escape(line)}", soft_wrap=True)


def print_warnings(lines: Sequence[str]) -> None:
    """What breaks nothing and is worth knowing, in the same way."""
    if lines:
        out.print(f"\n[bold yellow]{counted(len(lines), 'warning')}[/]")
        for line in folded(lines):
            out.print(f"  [yellow]![/] {escape(line)}", soft_wrap=True)
