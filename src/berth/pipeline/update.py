"""The measured values put into a problem's document; what was never measured stays as it is, and is named."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from berth.model import Problem
from berth.model.pair_fields import Known

Document = dict[str, Any]
Names = dict[str, list[str]]


@dataclass(frozen=True)
class Updated:
    """A problem's document with what was measured."""

    document: Document
    unmeasured: Names
    """What keeps the problem's value, by kind: `delay_ms of links`, `speed of nodes`, ..."""
    added_links: int = 0
    """Pairs of nodes that have a link now and had none."""
    unlinked: int = 0
    """Pairs that were measured and are no physical link, so their delay is the path's and not put in."""


@dataclass
class _Changes:
    document: Document
    problem: Problem
    unmeasured: Names = field(default_factory=dict)
    added_links: int = 0
    unlinked: int = 0

    def missing(self, kind: str, names: Iterable[str]) -> None:
        listed = list(names)
        if listed:
            self.unmeasured[kind] = listed


def updated_document(
    document: Document, problem: Problem, measured: Mapping[str, pd.DataFrame], one_way: bool
) -> Updated:
    """The document with measured values.

    Args:
        document: the data of the problem's file.
        problem: the same, loaded.
        measured: for each table the newest value of every measure: its keys and columns `smoothed_x`.
        one_way: links were measured for both directions together.
    """
    changes = _Changes(copy.deepcopy(document), problem)
    _update_nodes(changes, measured["nodes"])
    _Links(changes, one_way).update(measured["links"])
    _update_operators(changes, measured["operators"])
    _update_streams(changes, measured["streams"])
    return Updated(changes.document, changes.unmeasured, changes.added_links, changes.unlinked)


def _values(table: pd.DataFrame, keys: list[str], measure: str) -> dict[Any, float]:
    """A measure by its key (a tuple where there are several); only where there is a value."""
    known = table[table[f"smoothed_{measure}"].notna()]
    names = known[keys[0]] if len(keys) == 1 else zip(*(known[key] for key in keys), strict=True)
    return dict(zip(names, known[f"smoothed_{measure}"].astype(float), strict=True))


def _update_nodes(changes: _Changes, table: pd.DataFrame) -> None:
    nodes = changes.document["network"]["nodes"]
    for measure in ("availability", "speed", "run_queue"):
        values = _values(table, ["node"], measure)
        for node in nodes:
            if node["name"] in values:
                node[measure] = values[node["name"]]
        changes.missing(f"{measure} of nodes", (node["name"] for node in nodes if node["name"] not in values))


def _update_streams(changes: _Changes, table: pd.DataFrame) -> None:
    rates = _values(table, ["application", "from", "to"], "bytes_per_s")
    missing = []
    for application in changes.document["applications"]:
        for stream in application.get("streams", ()):
            key = (application["name"], stream["from"], stream["to"])
            if key in rates:
                stream["bytes_per_s"] = rates[key]
            else:
                missing.append(f"{key[0]}/{key[1]} -> {key[2]}")
    changes.missing("bytes_per_s of streams", missing)
    sent = table.groupby(["application", "from"], as_index=False).mean(numeric_only=True)
    for measure, target in (("bytes_per_s", "emits_bytes_per_s"), ("tuple_bytes", "output_bytes")):
        _refresh(changes, target, _values(sent, ["application", "from"], measure))


def _refresh(changes: _Changes, target: str, values: dict[tuple[str, str], float]) -> None:
    """A field that the problem gives follows what was measured; one that it doesn't give is not added."""
    for key, operator in _operators(changes.document):
        if target in operator and key in values:
            operator[target] = values[key]
    _agree(changes, target, values)


def _update_operators(changes: _Changes, table: pd.DataFrame) -> None:
    keys = ["application", "operator"]
    work, selectivity = (_values(table, keys, measure) for measure in ("work_ms", "selectivity"))
    for key, operator in _operators(changes.document):
        if key in work:
            operator["work_ms"] = work[key]
        if key in selectivity:
            operator["selectivity"] = selectivity[key]
    _agree(changes, "work_ms", work, only_given=False)
    changes.missing(
        "work_ms of operators", ("/".join(key) for key, _ in _operators(changes.document) if key not in work)
    )
    inner = {(app.name, end.receiver) for app in changes.problem.applications for end in app.streams}
    inner &= {(app.name, end.sender) for app in changes.problem.applications for end in app.streams}
    changes.missing(
        "selectivity of operators",
        ("/".join(key) for key, _ in _operators(changes.document) if key in inner and key not in selectivity),
    )


def _operators(document: Document) -> Iterable[tuple[tuple[str, str], Document]]:
    for application in document["applications"]:
        for operator in application["operators"]:
            yield (application["name"], operator["name"]), operator


def _agree(
    changes: _Changes, target: str, values: dict[tuple[str, str], float], only_given: bool = True
) -> None:
    """Operators that compute the same thing have one value: the mean of what was measured of them."""
    if not changes.problem.sharing_keys.possible:
        return
    classes = changes.problem.sharing_keys.classes.tolist()
    operators = list(_operators(changes.document))
    groups: dict[int, list[int]] = {}
    for number, group in enumerate(classes):
        groups.setdefault(group, []).append(number)
    for members in groups.values():
        known = [values[operators[number][0]] for number in members if operators[number][0] in values]
        for number in members if len(members) > 1 and known else ():
            if target in operators[number][1] or not only_given:
                operators[number][1][target] = float(np.mean(known))


class _Links:
    """Delays go where the document has the link: its entry, else the matrix, else a new entry."""

    def __init__(self, changes: _Changes, one_way: bool) -> None:
        self._changes = changes
        self._one_way = one_way
        self._network = changes.document["network"]
        self._index = changes.problem.network.index
        self._entries = {(entry["from"], entry["to"]): entry for entry in self._network.get("links", ())}

    def update(self, table: pd.DataFrame) -> None:
        """Put the delays in, and name the links that have none."""
        known = table[
            table["smoothed_delay_ms"].notna()
            & table["from"].isin(self._index)
            & table["to"].isin(self._index)
        ]
        senders, receivers = (known[end].map(self._index).to_numpy(np.intp) for end in ("from", "to"))
        delays = known["smoothed_delay_ms"].to_numpy(np.float64)
        table_before = self._changes.problem.network.table
        self._changes.added_links = int((~table_before.connected[senders, receivers]).sum())
        in_entries = self._update_entries(senders, receivers, delays)
        rest = ~in_entries
        self._place(senders[rest], receivers[rest], delays[rest])
        self._name_missing(senders, receivers)

    def _update_entries(self, senders: Any, receivers: Any, delays: Any) -> Any:
        """Delays of pairs that have an entry; the mask says which those were."""
        size = len(self._index)
        pairs = np.array([self._index[a] * size + self._index[b] for a, b in self._entries], dtype=np.intp)
        forward = np.isin(senders * size + receivers, pairs)
        backward = np.isin(receivers * size + senders, pairs)
        names = [node.name for node in self._changes.problem.network.nodes]
        holds = forward | (backward if self._one_way else False)
        for a, b, delay in zip(senders[holds], receivers[holds], delays[holds], strict=True):
            for pair in (
                ((names[a], names[b]), (names[b], names[a])) if self._one_way else ((names[a], names[b]),)
            ):
                if pair in self._entries:
                    self._entries[pair]["delay_ms"] = float(delay)
        return holds

    def _place(self, senders: Any, receivers: Any, delays: Any) -> None:
        """Delays of pairs without an entry."""
        network = self._changes.problem.network
        physical = network.routing == "shortest_path"
        matrix = network.matrices.get("delay_ms")
        if physical:
            linked = np.zeros(len(senders), bool) if matrix is None else ~np.isnan(matrix[senders, receivers])
            self._changes.unlinked = int((~linked).sum())
            self._changes.added_links = 0
            senders, receivers, delays = senders[linked], receivers[linked], delays[linked]
        if len(senders) == 0:
            return
        if matrix is not None or not self._entries:
            self._fill_matrix(senders, receivers, delays, matrix)
        else:
            self._append(senders, receivers, delays)

    def _fill_matrix(self, senders: Any, receivers: Any, delays: Any, before: Any) -> None:
        size = len(self._index)
        matrix = np.full((size, size), np.nan) if before is None else before.copy()
        if before is None:
            np.fill_diagonal(matrix, 0.0)
        matrix[senders, receivers] = delays
        if self._one_way:
            matrix[receivers, senders] = delays
        entries = matrix.astype(object)
        entries[np.isnan(matrix)] = None
        self._network["delay_ms"] = entries.tolist()

    def _append(self, senders: Any, receivers: Any, delays: Any) -> None:
        names = [node.name for node in self._changes.problem.network.nodes]
        links = self._network["links"]
        for a, b, delay in zip(senders, receivers, delays, strict=True):
            # an entry that held for both ways no longer does: its fields hold for this way, too
            both = self._entries.get((names[b], names[a]), {}) if self._network.get("symmetric", True) else {}
            links.append({**both, "from": names[a], "to": names[b], "delay_ms": float(delay)})

    def _name_missing(self, senders: Any, receivers: Any) -> None:
        problem = self._changes.problem
        names = [node.name for node in problem.network.nodes]
        linked = problem.network.table.connected
        if isinstance(linked, Known):
            pairs = zip(*self._unmeasured_entries(linked, senders, receivers), strict=True)
        else:
            missing = linked.copy()
            np.fill_diagonal(missing, False)
            missing[senders, receivers] = False
            if self._one_way:
                missing[receivers, senders] = False
                missing = np.triu(missing | missing.T)
            pairs = zip(*np.nonzero(missing), strict=True)
        self._changes.missing("delay_ms of links", (f"{names[a]} -> {names[b]}" for a, b in pairs))

    def _unmeasured_entries(self, linked: Known, senders: Any, receivers: Any) -> tuple[Any, Any]:
        """Of a network without matrices only what has an entry can be missing: coordinates are no links."""
        size = len(linked)
        here, there, _ = linked.field.entries
        measured = senders * size + receivers
        if self._one_way:
            here, there = np.minimum(here, there), np.maximum(here, there)
            measured = np.minimum(senders, receivers) * size + np.maximum(senders, receivers)
        return np.divmod(np.setdiff1d(here * size + there, measured), size)
