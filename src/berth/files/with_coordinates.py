"""Coordinates put into a problem's document, and such a document as text."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from berth.files.yaml12 import parse_yaml

DECIMALS = 4
"""Of coordinates in ms: a ten-thousandth is far below what can be measured."""
_MOST_INDENTED = 100_000


def with_coordinates(
    document: dict[str, Any],
    positions: NDArray[np.float64],
    heights: NDArray[np.float64] | None,
    unplaced: Collection[int],
) -> dict[str, Any]:
    """A problem's document with these coordinates instead of any that it has; all else is as it was.

    Args:
        document: the data of the problem's file.
        positions: a row for each node.
        heights: one for each node; None: nodes have none.
        unplaced: the numbers of nodes that get none; those that they have would be of another space.
    """
    changed = copy.deepcopy(document)
    for number, node in enumerate(changed["network"]["nodes"]):
        for name in ("coordinates", "height_ms"):
            node.pop(name, None)
        if number in unplaced:
            continue
        node["coordinates"] = positions[number].round(DECIMALS).tolist()
        if heights is not None:
            node["height_ms"] = round(float(heights[number]), DECIMALS)
    return changed


def document_text(document: dict[str, Any], path: str | os.PathLike[str]) -> str:
    """A document as the content of a file: YAML where its name ends so, or else JSON."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return str(
            yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None)
        )
    compact = json.dumps(document, allow_nan=False)
    if len(compact) <= _MOST_INDENTED:
        compact = json.dumps(document, indent=2, allow_nan=False)
    return compact + "\n"


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Writes what reads as the same by YAML 1.2: PyYAML itself quotes by 1.1, where 1e9 is no number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Whether equal parts are written out again: always, people read it."""
        return True


def _quoted_where_needed(dumper: Any, text: str) -> Any:
    number_like = text[:1] in "+-.0123456789" and not isinstance(parse_yaml(text), str) if text else False
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if number_like else None)


_Dumper.add_representer(str, _quoted_where_needed)
