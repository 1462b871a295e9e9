"""A problem's document while measured values are put into it; what was never measured stays, and is named."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from berth.model import Problem
from berth.pipeline.options import IngestOptions

Document = dict[str, Any]
OperatorName = tuple[str, str]
"""The names of an application and of an operator in it."""


class Changes:
    """What becomes of a problem's document.

    Attributes:
        document: a copy of the problem's data, with what was measured so far.
        problem: the problem before.
        options: how telemetry is taken in.
        unmeasured: what keeps the problem's value, by kind: `delay_ms of links`, `speed of nodes`, ...
        added_links: pairs of nodes that have a link now and had none.
        unlinked: pairs that were measured and are no physical link: their delay is the path's, not put in.
    """

    def __init__(self, document: Document, problem: Problem, options: IngestOptions) -> None:
        self.document: Document = copy.deepcopy(document)
        self.problem = problem
        self.options = options
        self.unmeasured: dict[str, list[str]] = {}
        self.added_links = 0
        self.unlinked = 0

    def missing(self, kind: str, names: Iterable[str]) -> None:
        """Name what was not measured."""
        listed = list(names)
        if listed:
            self.unmeasured[kind] = listed

    def set_on_nodes(self, target: str, values: dict[str, float]) -> None:
        """Set a field of the nodes, by name."""
        nodes = self.document["network"]["nodes"]
        for node in nodes:
            if node["name"] in values:
                node[target] = values[node["name"]]
        self.missing(f"{target} of nodes", (node["name"] for node in nodes if node["name"] not in values))

    def operators(self) -> Iterator[tuple[OperatorName, Document]]:
        """All operators of the document."""
        for application in self.document["applications"]:
            for operator in application["operators"]:
                yield (application["name"], operator["name"]), operator

    def set_on_operators(self, target: str, values: dict[OperatorName, float]) -> None:
        """Set a field of the operators."""
        for key, operator in self.operators():
            if key in values:
                operator[target] = values[key]

    def refresh_operators(self, target: str, values: dict[OperatorName, float]) -> None:
        """A field that the problem gives follows what was measured; one that it doesn't give is not added."""
        for key, operator in self.operators():
            if target in operator and key in values:
                operator[target] = values[key]
        self.make_equal_agree(target, values, only_given=True)

    def make_equal_agree(
        self, target: str, values: dict[OperatorName, float], only_given: bool = False
    ) -> None:
        """Operators that compute the same thing have one value: the mean of what was measured of them."""
        sharing = self.problem.sharing_keys
        if not sharing.possible:
            return
        operators = list(self.operators())
        groups: dict[int, list[int]] = {}
        for number, group in enumerate(sharing.classes.tolist()):
            groups.setdefault(group, []).append(number)
        for members in groups.values():
            known = [values[operators[number][0]] for number in members if operators[number][0] in values]
            for number in members if len(members) > 1 and known else ():
                if target in operators[number][1] or not only_given:
                    operators[number][1][target] = float(np.mean(known))


def values_of(table: pd.DataFrame, keys: Sequence[str], measure: str) -> dict[Any, float]:
    """A measure by its key (a tuple where there are several); only where there is a value."""
    known = table[table[f"smoothed_{measure}"].notna()]
    names = known[keys[0]] if len(keys) == 1 else zip(*(known[key] for key in keys), strict=True)
    return dict(zip(names, known[f"smoothed_{measure}"].astype(float), strict=True))


def update_nodes(measure: str) -> Callable[[Changes, pd.DataFrame], None]:
    """What puts a measure of nodes into their field of the same name."""

    def update(changes: Changes, table: pd.DataFrame) -> None:
        changes.set_on_nodes(measure, values_of(table, ["node"], measure))

    return update
