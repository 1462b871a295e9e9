"""Coordinates in a document, and the document as text that reads as the same."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berth.files import document_from
from berth.files.with_coordinates import document_text, with_coordinates

NODES = [{"name": "a", "speed": 2}, {"name": "b", "coordinates": [9, 9, 9], "height_ms": 4}, {"name": "c"}]
DOCUMENT: dict[str, Any] = {
    "name": "p",
    "network": {"nodes": NODES, "links": []},
    "objective": {"traffic": 1},
}
POSITIONS = np.array([[1.00001, 2.0], [3.123456, 4.0], [5.0, 6.0]])


def test_only_coordinates_change() -> None:
    """Old coordinates and heights go, as they are of another space; all else stays, and the input does."""
    before = copy.deepcopy(DOCUMENT)
    changed = with_coordinates(DOCUMENT, POSITIONS, None, {2})
    assert before == DOCUMENT
    assert changed["network"]["nodes"] == [
        {"name": "a", "speed": 2, "coordinates": [1.0, 2.0]},
        {"name": "b", "coordinates": [3.1235, 4.0]},
        {"name": "c"},
    ]
    assert changed["objective"] == {"traffic": 1}


def test_heights_go_beside() -> None:
    """Rounded as coordinates are."""
    changed = with_coordinates(DOCUMENT, POSITIONS, np.array([0.01, 1.23456, 2.0]), set())
    assert [node["height_ms"] for node in changed["network"]["nodes"]] == [0.01, 1.2346, 2.0]


ODD = [
    "1e9",
    "1.5",
    "no",
    "on",
    "null",
    "~",
    "",
    "0o17",
    "0x1F",
    "-",
    "- a",
    "a: b",
    "é",
    "true",
    ".inf",
    "1_0",
    "+3",
]


@pytest.mark.parametrize("name", ["p.yaml", "p.yml", "p.json", "p"])
def test_text_reads_as_the_same(tmp_path: Path, name: str) -> None:
    """By YAML 1.2 too, where 1e9 is a number and no is a word."""
    shared = [1.0, 2e-7, 1e30, None]
    document = {"odd": ODD, **{f"key {text}": text for text in ODD}, "one": shared, "other": shared, "n": 3}
    text = document_text(document, name)
    again = document_from(text.encode(), name)
    assert again == document
    assert [type(value) for value in again["odd"]] == [str] * len(ODD)


def test_large_documents_take_no_more_room_than_they_need() -> None:
    """Indented for people while they are small."""
    assert "\n  " in document_text({"a": [1]}, "p.json")
    assert document_text({"a": [1] * 100_000}, "p.json").count("\n") == 1
